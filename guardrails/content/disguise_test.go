package content_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
)

// mapped replaces each character of s for which f returns another.
func mapped(s string, f func(r rune) rune) string { return strings.Map(f, s) }

// digitsAs replaces ASCII digits by those of the row that begins with zero.
func digitsAs(s string, zero rune) string {
	return mapped(s, func(r rune) rune {
		if '0' <= r && r <= '9' {
			return zero + r - '0'
		}
		return r
	})
}

// withBetween puts hidden between any two characters of s.
func withBetween(s, hidden string) string { return strings.Join(strings.Split(s, ""), hidden) }

// found reports whether a scanner finds something in a state.
func found(tb testing.TB, s *content.Scanner, state string) bool {
	tb.Helper()
	return len(scanState(tb, s, state).Findings) > 0
}

func quote(tb testing.TB, s string) string {
	tb.Helper()
	b, err := json.Marshal(s)
	require.NoError(tb, err)
	return string(b)
}

func TestDisguisedNumbers(t *testing.T) {
	const card, run = "4111 1111 1111 1111", "4111111111111111"
	circled := func(one, zero rune) func(rune) rune {
		return func(r rune) rune {
			switch {
			case r == '0':
				return zero
			case '1' <= r && r <= '9':
				return one + r - '1'
			}
			return r
		}
	}
	raised := func(r rune) rune {
		switch r {
		case '1':
			return '¹'
		case '4':
			return '⁴'
		}
		return r
	}
	texts := []string{
		mapped(card, raised), mapped(run, raised), mapped(card, circled('①', '⓪')), mapped(run, circled('❶', '⓿')), mapped(run, circled('➀', '🄋')),
		mapped(card, circled('⑴', '0')), mapped(run, circled('⒈', '🄀')), mapped(run, circled('⓵', '⓪')), digitsAs(run, '₀'),
		"4111.1111.1111.1111", "4111/1111/1111/1111", "4111_1111_1111_1111", "4111\n1111\n1111\n1111", "4111  1111  1111  1111", "4111\t1111\t1111\t1111",
		"4111\r\n1111\r\n1111\r\n1111", "4111–1111–1111–1111", "4111·1111·1111·1111", "4111\u00a01111\u00a01111\u00a01111", "4111\u30001111\u30001111\u30001111",
		"4111-1111 1111.1111", "4111   1111   1111   1111", "4111 - 1111 - 1111 - 1111", "4111 11111111 1111", withBetween(run, "\u0332"), withBetween(run, "\u20e3"), withBetween(run, "\ufe0f\u20e3"), withBetween(run, "\u0301\u0302\u0303"),
		"\u200b" + card, "\u00ad\u00ad\u00ad" + card + "\u00ad", "\ufeffMy card is " + card, "\u200fMy card is " + card, "\u202e" + card + "\u202c",
		"3782-822463-10005", "3782.822463.10005", "4%31%31%31 1111 1111 1111", "4111&nbsp;1111&nbsp;1111&nbsp;1111", "4111&#32;1111&#x20;1111 1111", `\x34111 1111 1111 1111`, `4111\u00201111\u00201111\u00201111`,
		"Visa ending: " + run, "(" + run + ")", "card:" + run, "card=" + run + "&x=1", "pay with " + run + ", please", "№ " + run, "cc#" + run, "card-" + run,
	}
	for _, zero := range []rune{'٠', '۰', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '෦', '๐', '໐', '༠', '၀', '០', '᠐', '᥆', '᭐', '᮰', '᱀', '꘠', '꣐', '꧐', '꩐', '０', '𐒠', '𑁦', '𝟎', '𝟘', '𝟢', '𝟬', '𝟶', '🯰'} {
		texts = append(texts, digitsAs(card, zero), digitsAs(run, zero))
	}
	for _, hidden := range []string{
		"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u061c", "\u180e", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069",
		"\u115f", "\u3164", "\uffa0", "\ufe00", "\ufe0f", "\U000e0100", "\U000e0041", "\U000e0001", "\u206a", "\ufff9", "\U0001d173", "\x00", "\x08", "\u009f", "\u17b4",
	} {
		texts = append(texts, withBetween(run, hidden), withBetween(card, hidden))
	}
	s := scanner(t, builtin(content.CreditCard, content.Redact))
	for _, text := range texts {
		for _, around := range []string{"%s", "say %s now"} {
			full := fmt.Sprintf(around, text)
			assert.True(t, found(t, s, quote(t, full)), "%q", full)
		}
	}

	for slug, list := range map[string][]string{
		content.SSN: {
			"123-45-6789", "123.45.6789", "123/45/6789", "123_45_6789", "123  45  6789", "123–45–6789", digitsAs("123-45-6789", '٠'), digitsAs("123-45-6789", '𝟘'),
			withBetween("123-45-6789", "\u0336"), withBetween("123-45-6789", "\u200d"), "①②③-④⑤-⑥⑦⑧⑨",
		},
		content.Phone: {
			digitsAs("212-555-0123", '०'), withBetween("212-555-0123", "\u0332"), withBetween("+49 30 901820", "\u2060"), "²¹²-⁵⁵⁵-⁰¹²³", "03ー1234ー5678", "＋４９ ３０ ９０１８２０",
			"212.555.0123", "212·555·0123",
		},
		content.IPAddress: {
			digitsAs("10.1.2.3", '٠'), "10。1。2。3", "１０．１．２．３", withBetween("10.1.2.3", "\u00ad"), "⑩.①.②.③", "2001：db8：：1", "10%2E1%2E2%2E3", "10&#46;1&#46;2&#46;3",
		},
		content.Email: {
			"bob＠example.com", "bob@example。com", "bob@example．com", "ｂｏｂ＠ｅｘａｍｐｌｅ．ｃｏｍ", "bob﹫example.com", withBetween("bob@example.com", "\u200b"), withBetween("bob@example.com", "\u0336"),
			"bob%40example.com", "bob&#64;example.com", "bob&commat;example&period;com", `bob\u0040example.com`, "𝐛𝐨𝐛@𝐞𝐱𝐚𝐦𝐩𝐥𝐞.𝐜𝐨𝐦", "ⓑⓞⓑ@ⓔⓧⓐⓜⓟⓛⓔ.ⓒⓞⓜ", "bób@éxample.com", "bоb@exаmple.com",
			"bob@ехаmple.com", "bob@example\u00ad.com", "\u202ebob@example.com", "mailto:bob%2540example.com", "bob@пример.рф",
		},
		content.PersonName: {"D\u00adr. Ma\u200bry Miller", "Ｄｒ. Mary Miller", "Jürgen Müller", "Ju\u0308rgen Mu\u0308ller", "José García"},
	} {
		s := scanner(t, builtin(slug, content.Redact))
		for _, text := range list {
			assert.True(t, found(t, s, quote(t, text)), "%s: %q", slug, text)
			assert.True(t, found(t, s, quote(t, "see "+text+" now")), "%s: see %q", slug, text)
		}
	}
}

func TestNumbersOfJSON(t *testing.T) {
	s := scanner(t, builtin(content.CreditCard, content.Redact), builtin(content.SSN, content.Redact), builtin(content.Phone, content.Redact),
		content.Filter{Pattern: `^77\d$`, Action: content.Redact, Label: `a "q"`})
	for in, want := range map[string]string{
		`{"card":4111111111111111}`:                                    `{"card":"[CREDIT_CARD]"}`,
		`{"v" : 4111111111111111 ,"w":[1.5,true]}`:                     `{"v" : "[CREDIT_CARD]" ,"w":[1.5,true]}`,
		`[4111111111111111,4111111111111112]`:                          `["[CREDIT_CARD]",4111111111111112]`,
		`[4.111111111111111e15, 4111111111111111.0]`:                   `["[CREDIT_CARD]", "[CREDIT_CARD]"]`,
		`[0.4111111111111111e16, 0.0004111111111111111E+19, 0.0, 0e9]`: `["[CREDIT_CARD]", "[CREDIT_CARD]", 0.0, 0e9]`,
		`[-4111111111111111,41111111111111110E-1]`:                     `["[CREDIT_CARD]","[CREDIT_CARD]"]`,
		`{"order_id":4111111111111111}`:                                `{"order_id":4111111111111111}`,
		`{"ssn":123456789,"n":123456780}`:                              `{"ssn":"[SSN]","n":123456780}`,
		`{"phone":2125550123,"n":2125550124}`:                          `{"phone":"[PHONE]","n":2125550124}`,
		`{"customer_phone":2125550123,"phone_id":1}`:                   `{"customer_phone":"[PHONE]","phone_id":1}`,
		`{"contact":{"mobile":[2125550123]}}`:                          `{"contact":{"mobile":["[PHONE]"]}}`,
		`[0.4111111111111111,4111.111111111111]`:                       `[0.4111111111111111,4111.111111111111]`,
		`{"a":779,"b":7790,"c":"779"}`:                                 `{"a":"a \"q\"","b":7790,"c":"a \"q\""}`,
		`[1e99999999999999999999,1e400,-0,0e0]`:                        `[1e99999999999999999999,1e400,-0,0e0]`,
	} {
		assert.Equal(t, want, string(scanState(t, s, in).Request.State), in)
	}
}

// TestANumberIsFoundEverywhere holds that a card number identified by context in one
// place is found in all others.
func TestANumberIsFoundEverywhere(t *testing.T) {
	s := scanner(t, builtin(content.CreditCard, content.Redact), builtin(content.SSN, content.Redact), builtin(content.Phone, content.Redact))
	for in, want := range map[string]string{
		`{"id":4111111111111111,"4111111111111111":1,"card":"4111 1111 1111 1111"}`: `{"id":"[CREDIT_CARD]","[CREDIT_CARD]":1,"card":"[CREDIT_CARD]"}`,
		`["123456789","SSN 123-45-6789",123456789]`:                                 `["[SSN]","SSN [SSN]","[SSN]"]`,
		`[2125550123,"212-555-0123"]`:                                               `["[PHONE]","[PHONE]"]`,
	} {
		v := scanState(t, s, in)
		assert.Equal(t, want, string(v.Request.State), in)
	}
}
