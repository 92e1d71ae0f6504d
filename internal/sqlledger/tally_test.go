package sqlledger

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime/debug"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// talliesOf parses the lists of events: the number of events by account, and the sums.
func talliesOf(t require.TestingT, events []eventRow) (counts map[string]int64, all []eventRow) {
	counts = map[string]int64{}
	for _, row := range listsOf(events).Rows {
		account, _ := row[0].(string)
		text, _ := row[2].(string)
		n, sums, err := tallied(text, account)
		require.NoError(t, err, text)
		require.Equal(t, row[1], n)
		counts[account] = n
		all = append(all, sums...)
	}
	return counts, all
}

// drawnRow draws an event's row. Texts often repeat.
func drawnRow() *rapid.Generator[eventRow] {
	texts := rapid.OneOf(
		rapid.SampledFrom([]string{"", "a", `"`, `\`, `\"`, "\n", "\x01", "\x7f", "a,b", "]}", "Ä", "\u2028", "\ufffd", "\U0001f6a6", "<&>", `\u0041`}),
		rapid.String().Filter(router.Storable),
	)
	figures := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, math.MaxInt64, -math.MaxInt64, math.MinInt64}), rapid.Int64())
	return rapid.Custom(func(t *rapid.T) eventRow {
		row := eventRow{Account: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "account")}
		alike := rapid.Bool().Draw(t, "alike")
		for _, text := range row.texts() {
			if !alike {
				*text = texts.Draw(t, "text")
			}
		}
		for _, figure := range row.figures() {
			*figure = figures.Draw(t, "figure")
		}
		return row
	})
}

// A list contains the sums of its events.
func TestListsSayTheSumsOfTheirEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(drawnRow(), 0, 20).Draw(t, "events")
		want, n := sums{}, map[string]int64{}
		for _, row := range events {
			want.add(row)
			n[row.Account]++
		}
		counts, listed := talliesOf(t, events)
		assert.Equal(t, n, counts)
		got := sums{}
		for _, row := range listed {
			got.add(row)
		}
		assert.Len(t, listed, len(want), "each sum once")
		assert.Equal(t, want, got)
	})
}

// Texts and figures come back in their own columns.
func TestTallyKeepsColumnsApart(t *testing.T) {
	t.Parallel()
	row := eventRow{
		Day: "day", Account: "account", Workspace: "workspace", Member: "member", KeyHash: "key", Model: "model", Permaslug: "permaslug",
		Endpoint: "endpoint", Provider: "provider", Reason: "reason",
		Requests: 1, Prompt: 2, Completion: 3, Reasoning: 4, Cached: 5, Credit: 6, Total: 7,
	}
	other := row
	other.Member = "day"
	statement := listsOf([]eventRow{row, other, row})
	assert.Equal(t, [][]any{{"account", int64(3), `{"events":3,"texts":["day","workspace","member","key","model","permaslug","endpoint","provider","reason"],` +
		`"sums":[[0,1,2,3,4,5,6,7,8,2,4,6,8,10,12,14],[0,1,0,3,4,5,6,7,8,1,2,3,4,5,6,7]]}`}}, statement.Rows)
	_, listed := talliesOf(t, []eventRow{row, other})
	assert.Equal(t, []eventRow{row, other}, listed)
}

func TestTalliedRefuses(t *testing.T) {
	t.Parallel()
	const sum = `[0,0,0,0,0,0,0,0,0,1,2,3,4,5,6,7]`
	valid := func(sums string) string { return `{"events":1,"texts":["a"],"sums":[` + sums + `]}` }
	_, _, err := tallied(valid(sum+","+sum), "acme")
	require.NoError(t, err)
	for text, want := range map[string]string{
		"":                                           `byte 0: expected {"events":`,
		"null":                                       `byte 0: expected {"events":`,
		`{"events":`:                                 "byte 10: expected a 64-bit integer",
		`{"events":01,"texts":[]`:                    "byte 10: expected a 64-bit integer",
		`{"events":9223372036854775808`:              "byte 10: expected a 64-bit integer",
		`{"events":1,"texts":["a`:                    "byte 22: unterminated text",
		`{"events":1,"texts":["a\`:                   "byte 22: unterminated text",
		`{"events":1,"texts":["\x"]`:                 "byte 22: invalid character 'x' in string escape code",
		"{\"events\":1,\"texts\":[\"\n":              "byte 22: control character in a text",
		`{"events":1,"texts":["a",]`:                 `byte 25: expected "`,
		`{"events":1,"texts":["a""b"]`:               "byte 24: expected ,",
		`{"events":1,"texts":["a"]}`:                 `byte 25: expected ,"sums":[`,
		valid(sum + ","):                             "byte 68: expected [",
		valid("[]"):                                  "byte 35: expected a 64-bit integer",
		valid("[0,0,0,0,0,0,0,0,1,1,2,3,4,5,6,7]"):   "byte 52: no text 1 among 1",
		valid("[0,0,0,0,-1,0,0,0,0,1,2,3,4,5,6,7]"):  "byte 45: no text -1 among 1",
		valid("[0,0,0,0,0,0,0,0,0,1,2,3,4,5,6]"):     "byte 64: expected ,",
		valid("[0,0,0,0,0,0,0,0,0,1,2,3,4,5,6,7,8]"): "byte 66: expected ]",
		valid("[0,0,0,0,0,0,0,0,0,1,2,3,4,5,6,1.5]"): "byte 66: expected ]",
		valid(sum) + " ":                             "byte 69: text after the end of the list",
	} {
		events, sums, err := tallied(text, "acme")
		require.ErrorIs(t, err, errTally, text)
		require.ErrorContains(t, err, want, text)
		assert.Zero(t, events, text)
		assert.Empty(t, sums, text)
	}
}

// A text that the parser accepts is JSON with the same meaning.
func FuzzTallied(f *testing.F) {
	f.Add(`{"events":2,"texts":["day","a\"b","Ä"],"sums":[[0,1,2,0,1,2,0,1,2,1,2,3,-4,5,6,7],[0,0,0,0,0,0,0,0,0,9223372036854775807,0,0,0,0,0,-9223372036854775808]]}`)
	f.Add(`{"events":0,"texts":[],"sums":[]}`)
	f.Add(`{"events":1,"texts":["\u0041\\"],"sums":[[0,0,0,0,0,0,0,0,9,1,2,3,4,5,6,7]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		events, sums, err := tallied(text, "acme")
		if err != nil {
			require.ErrorIs(t, err, errTally)
			return
		}
		var other struct {
			Events int64
			Texts  []string
			Sums   [][]int64
		}
		require.NoError(t, json.Unmarshal([]byte(text), &other))
		assert.Equal(t, other.Events, events)
		require.Len(t, sums, len(other.Sums))
		for i, row := range sums {
			assert.Equal(t, "acme", row.Account)
			require.Len(t, other.Sums[i], tallyTexts+tallyFigures)
			for j, got := range row.texts() {
				if utf8.ValidString(*got) {
					assert.Equal(t, other.Texts[other.Sums[i][j]], *got)
				}
			}
			for j, got := range row.figures() {
				assert.Equal(t, other.Sums[i][tallyTexts+j], *got)
			}
		}
	})
}

// benchRows returns what a transaction of a hundred calls records for a number of keys.
func benchRows(keys int) []eventRow {
	var events []router.Event
	for i := range 100 {
		id := uuid.UUID{byte(i)}
		events = append(events, router.Event{
			ID: "gen-dec-" + id.String() + "/0", Admitted: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
			Principal: router.Principal{
				Account: "0192e4a0-0000-7000-8000-000000000001", Workspace: "0192e4a0-0000-7000-8000-000000000002",
				Member: fmt.Sprintf("member-%d", i%keys%50), KeyHash: fmt.Sprintf("%064d", i%keys),
			},
			Model: "acme/judge", Permaslug: "acme/judge-20260901", Endpoint: uuid.UUID{byte(i % 20)}, Provider: "Ant Cloud", Reason: router.LegFirst,
			Requests: 1, Prompt: 500, Completion: 20, Cost: router.Amount{Credit: 1000, Total: 1000},
		})
	}
	return eventRows(events)
}

// BenchmarkTally writes and parses a list of a hundred events, with the garbage
// collector's target of examples/server.
func BenchmarkTally(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	for _, keys := range []int{1, 1000} {
		rows := benchRows(keys)
		text, _ := listsOf(rows).Rows[0][2].(string)
		b.Run(fmt.Sprintf("write/keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				listsOf(rows)
			}
			b.ReportMetric(float64(len(text))/float64(len(rows)), "B/event")
		})
		b.Run(fmt.Sprintf("read/keys=%d", keys), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := tallied(text, "acme"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
