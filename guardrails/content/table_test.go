package content_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
)

// table has texts with and without what a filter searches for, and the precision and
// recall that it must reach.
type table struct {
	positives, negatives []string
	precision, recall    float64 // minimum
}

// measure scans each text alone and checks precision and recall.
func (c table) measure(t *testing.T, slug string) {
	t.Helper()
	s := scanner(t, builtin(slug, content.Flag))
	found := func(plain string) bool {
		state, err := json.Marshal(plain)
		require.NoError(t, err)
		return len(scanState(t, s, string(state)).Findings) > 0
	}
	hits, alarms := 0.0, 0.0
	for _, p := range c.positives {
		if found(p) {
			hits++
		} else {
			t.Logf("missed: %q", p)
		}
	}
	for _, n := range c.negatives {
		if found(n) {
			alarms++
			t.Logf("false alarm: %q", n)
		}
	}
	require.Positive(t, hits)
	precision, recall := hits/(hits+alarms), hits/float64(len(c.positives))
	t.Logf("%s: precision %.3f, recall %.3f on %d and %d texts", slug, precision, recall, len(c.positives), len(c.negatives))
	assert.GreaterOrEqual(t, precision, c.precision)
	assert.GreaterOrEqual(t, recall, c.recall)
}

func TestEmails(t *testing.T) {
	table{
		precision: 1, recall: 0.9,
		positives: []string{
			"bob@example.com", "Write to anna.b+news@mail.example.co.uk.", "<x_y@sub.domain.org>", "mailto:info@example.museum",
			"“bob@example.com”", "请发邮件到bob@example.com谢谢", "jörg@exämple.de", "O'Brien: o'brien@example.ie",
			"a@b.io,c@d.io", "user%x@host.example", "BOB@EXAMPLE.COM", "x@xn--bcher-kva.xn--p1ai", "login=bob@example.com&x=1",
			`"quoted local"@example.com`,
		},
		negatives: []string{
			"@bob said hi", "meet @ 5.30 pm", "icon@2x.png", "lodash@4.17.21", "user@localhost", "a @ b.com", "git@github.com:org/repo.git",
			"price@3.99", "@media screen", "foo@.com", "foo@-bar.com", "x@y", "5@5.5", "@types/node@20.1.0", "ssh root@10.0.0.1",
		},
	}.measure(t, content.Email)
}

func TestPhones(t *testing.T) {
	table{
		precision: 0.95, recall: 0.9,
		positives: []string{
			"212-555-0123", "(212) 555-0123", "Call 212.555.0123 now", "+1 212 555 0123", "1-800-555-0199", "+49 30 901820", "+44 20 7946 0958",
			"020 7946 0958", "030 / 9018 2000", "01 23 45 67 89", "+33 1 23 45 67 89", "phone 2125550123", "tel: 555-0123", "+15555550123",
			"(+49) 30 901820", "00 49 30 901820", "212-555-0123 ext. 44", "+91-98765-43210", "电话212-555-0123。", "“212-555-0123”", "(212)5550123",
			"0171 1234567", "mobile: 07946 095812", "+86 138 0013 8000", "reach me at 9175550123",
		},
		negatives: []string{
			"2026-11-21 14:28:43", "21.11.2026", "05-11-2026 14:30", "12 345 678", "3.14159265358", "order 2125550123", "ISBN 978-3-16-148410-0",
			"192.168.100.200", "$212-555-0123", "#2125550123", "1,234,567,890", "4111-1111-1111-1111", "123-45-6789", "build 1.2.3.4", "10-12 people",
			"112-555-0123", "212-155-0123", "2026/11/21", "v2.0.0-2024-11-21", "A212-555-0123B", "UUID 123e4567-e89b-12d3-a456-426614174000", "1 2 3 4 5 6 7 8 9 10",
			"pages 100-200-3000", "1609459200", "0.0000000001", "0-0-0",
		},
	}.measure(t, content.Phone)
}

func TestSocialSecurityNumbers(t *testing.T) {
	table{
		precision: 1, recall: 1,
		positives: []string{
			"123-45-6789", "SSN: 123456789", "social security number 219 09 9998", "(123-45-6789)", "899-99-9999.", "ssn=001-01-0001", "１２３-45-６７８９",
			"123‑45‑6789",
		},
		negatives: []string{
			"000-12-3456", "666-12-3456", "900-12-3456", "987-65-4321", "123-00-4567", "123-45-0000", "123456789", "123-456-789", "12-345-6789",
			"1123-45-6789", "123-45-67890", "123-45 6789", "a123-45-6789", "0.123-45-6789", "1-123-45-6789", "123-45-6789-0", "lesson 123456789",
		},
	}.measure(t, content.SSN)
}

func TestCreditCards(t *testing.T) {
	table{
		precision: 1, recall: 1,
		positives: []string{
			"4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "5555555555554444", "2223003122003222", "378282246310005",
			"3782 822463 10005", "6011111111111117", "3530111333300000", "30569309025904", "4222222222222", "6200000000000005", "card 4111 1111 1111 1111 12/28",
			"4111 1111 1111 1111 2027", "6759649826438453", "(4111111111111111)", "4000000000000000006",
		},
		negatives: []string{
			"4111111111111112", "1234567890123456", "0000000000000000", "411111111111111", "41111111111111111", "9999999999999995", "0.4111111111111111",
			"a4111111111111111", "4111111111111111b", "41 11 11 11 11 11 11 11", "4111 1111", "2026112114284300", "978020137962", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
			"123e4567-e89b-12d3-a456-426614174000", "1700000000000",
		},
	}.measure(t, content.CreditCard)
}

func TestIPAddresses(t *testing.T) {
	table{
		precision: 0.95, recall: 1,
		positives: []string{
			"10.0.0.1", "from 192.168.1.254.", "8.8.8.8:53", "10.0.0.0/8", "[2001:db8::1]:443", "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "fe80::1",
			"::ffff:1.2.3.4", "::1", "255.255.255.255", "http://1.2.3.4/x", "ip=1.2.3.4", "２.3.4.5", "2001:db8::",
		},
		negatives: []string{
			"1.2.3", "256.1.1.1", "1.2.3.4.5", "version 1.2.3.4", "v1.2.3.4", "01.02.03.04", "12:30:45", "std::cout", "dead::beef::1", "aa:bb:cc:dd:ee:ff",
			"10:20", "::", "a::b", "section 1.2.3.4", "1.2.3.4-5", "3.14", "face::feed", "1:2:3", "Release 10.0.0.1",
		},
	}.measure(t, content.IPAddress)
}

func TestPersonNames(t *testing.T) {
	table{
		precision: 0.9, recall: 0.75,
		positives: []string{
			"Dr. Mary Miller", "John Smith called", "my name is Xenia Quandt", "Dear Mr. Kowalski", "Regards, Tomasz Nowak", "Prof. van der Berg",
			"Maria García López", "Hans-Peter Müller wrote", "Sarah J. Connor", "Ahmed al Rashid", "This is Anna speaking", "patient Robert Brown", "Herr Schneider",
			"Michael O'Brien", "Jean de la Fontaine", "I spoke to Emily yesterday", "Priya Sharma (manager)", "Olumide Adeyemi", "Nguyen Thanh", "Ms Lee",
		},
		negatives: []string{
			"The Quick Brown Fox", "New York City", "Monday Morning", "Please call us", "Dear Customer", "Dear Sir", "Bank of America", "JSON Schema",
			"United States", "contact Support Team", "Visit Paris in April", "Machine Learning", "Thank You", "Google Cloud Platform", "Dr. No", "Harry's", "I am Happy",
			"Central Park", "this is Important", "Customer Service", "Christmas Day", "John", "May Day", "name: Order Form",
		},
	}.measure(t, content.PersonName)
}

func TestAddresses(t *testing.T) {
	table{
		precision: 0.9, recall: 0.85,
		positives: []string{
			"12 Main Street", "221B Baker Street, London", "1600 Pennsylvania Ave NW, Washington, DC 20500", "350 5th Avenue", "Hauptstraße 12, 10115 Berlin",
			"12 rue de la Paix, 75002 Paris", "PO Box 123", "742 Evergreen Terrace, Springfield", "10 Downing St.", "1 Infinite Way, Apt 4B", "Gartenweg 3",
			"P.O. Box 99, Boise, ID 83701", "100 N. State St, Chicago", "Kirchplatz 7", "5 Calle Mayor, Madrid", "15 Oxford Road", "Musterstr. 5, 20095 Hamburg",
			"10115 Berlin", "1-2-3 Shibuya, Tokyo",
		},
		negatives: []string{
			"12 main points", "5 Star Hotel", "Chapter 3", "in 2026 Main Street rose", "100 People", "3 Ways to win", "version 2 Drive", "10 percent", "Room 5", "7 Days",
			"the 5 courts", "$12 Street", "20 Questions", "1984", "Top 10 Songs", "Windows 11", "Unit 731", "12 Angry Men", "5 Guys",
		},
	}.measure(t, content.Address)
}

func TestRedactionTakesTheWholeSpan(t *testing.T) {
	for _, c := range []struct{ slug, in, out string }{
		{content.Email, "(o'b.x+1@mail.example.co.uk).", "([EMAIL])."},
		{content.Phone, "tel (+49) 30 901820, or +1 (212) 555-0123 x12!", "tel [PHONE], or [PHONE]!"},
		{content.Phone, "(212) 555-0123 and 212-555-0123 ext. 44", "[PHONE] and [PHONE]"},
		{content.CreditCard, "4111 1111 1111 1111 2027", "[CREDIT_CARD] 2027"},
		{content.CreditCard, "4111 1111 1111 111\u200d1\u0332\u20e3\u0301 x", "[CREDIT_CARD] x"},
		{content.IPAddress, "[2001:db8::1]:443 1.2.3.4.", "[[IP_ADDRESS]]:443 [IP_ADDRESS]."},
		{content.PersonName, "ask Dr. Mary J. Miller today", "ask [PERSON_NAME] today"},
		{content.Address, "at 1600 Pennsylvania Ave, Apt 4, Washington, DC 20500-0001.", "at [ADDRESS]."},
		{content.Address, "Hauptstr. 12, 10115 Berlin!", "[ADDRESS]!"},
	} {
		t.Run(c.in, func(t *testing.T) {
			assert.Equal(t, c.out, redacted(t, scanner(t, builtin(c.slug, content.Redact)), c.in))
		})
	}
}
