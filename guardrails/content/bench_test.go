package content_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/systemone"
)

// everything returns filters for all builtins and two patterns.
func everything(action content.Action) []content.Filter {
	var list []content.Filter
	for _, slug := range []string{
		content.Email, content.Phone, content.SSN, content.CreditCard, content.IPAddress,
		content.PersonName, content.Address, content.PromptInjection,
	} {
		list = append(list, builtin(slug, action))
	}
	return append(list,
		content.Filter{Pattern: `Project\s+Ikarus`, Action: action},
		content.Filter{Pattern: `ACME-\d{6}`, Action: action, Label: "[TICKET]"})
}

// clean returns n bytes of ordinary prose with some numbers and capitals.
func clean(tb testing.TB, n int) json.RawMessage {
	tb.Helper()
	const prose = `The customer says that the parcel of 21 November arrived late and that two of the 12 cups were broken. ` +
		`She would like her money back, or a new set; our office in Berlin has offered 15.50 euros and free shipping. ` +
		`The system of returns is described on page 4 of the manual, and the instructions tell you which forms to print. ` +
		"It was the third delay since Monday: please show some patience, he wrote, all of us try to give our best.\n"
	text := strings.Repeat(prose, n/len(prose)+1)[:n]
	state, err := json.Marshal(map[string]any{"ticket": text, "priority": 3})
	require.NoError(tb, err)
	return state
}

func BenchmarkScan(b *testing.B) {
	s := scanner(b, everything(content.Flag)...)
	for _, c := range []struct {
		name string
		n    int
	}{{"1KB", 1 << 10}, {"100KB", 100 << 10}} {
		b.Run(c.name, func(b *testing.B) {
			req := &systemone.Request{State: clean(b, c.n)}
			b.ReportAllocs()
			b.SetBytes(int64(len(req.State)))
			for b.Loop() {
				v, err := s.Scan(b.Context(), "", req)
				if err != nil || len(v.Findings) > 0 {
					b.Fatal(err, v.Findings)
				}
			}
		})
	}
}

func BenchmarkScanHostile(b *testing.B) {
	s := scanner(b, everything(content.Redact)...)
	for name, piece := range hostile() {
		b.Run(name, func(b *testing.B) {
			state, err := json.Marshal(strings.Repeat(piece, 100<<10/len(piece)))
			require.NoError(b, err)
			req := &systemone.Request{State: state}
			for b.Loop() {
				if _, err := s.Scan(b.Context(), "", req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNewScanner(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		e, err := content.New(content.Config{})
		require.NoError(b, err)
		if _, err := e.Scanner(everything(content.Flag)); err != nil {
			b.Fatal(err)
		}
	}
}

// hostile returns pieces of text that make a scan slow when they are repeated.
func hostile() map[string]string {
	return map[string]string{
		"ats":       "a@",
		"dots":      "a.",
		"digits":    "1 ",
		"one":       "1",
		"groups":    "411 ",
		"colons":    "a:",
		"phrases":   "ignore previous ",
		"all words": "ignore system prompt you are now developer mode without safety <|",
		"letters":   "i ",
		"base64":    "aWdub3Jl",
		"names":     "John Smith ",
		"addresses": "1 Main ",
		"streets":   "12 Main Street, ",
		"escapes":   "\n\"",
		"wide":      "ａ",
		"scrambled": "ignroe ",
		"pairs":     "69 ",
		"cards":     "order 4111111111111111 4111 1111 1111 1111 ",
		"marks":     "e\u0301\u0327\u0328",
		"entities":  "&amp;#64; %2540 ",
		"alike":     "іgnоre previous ",
		"filled":    "ﷺ",
		"zalgo":     "4\u0301\u0302\u0303\u0304",
	}
}
