package router_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

func TestParseUSD(t *testing.T) {
	for text, want := range map[string]router.USD{
		"0":                                     0,
		"-0":                                    0,
		"0.000":                                 0,
		"0e999999999999999999999":               0,
		"1":                                     router.Dollar,
		"1.5":                                   1_500_000_000,
		"0.000000001":                           1,
		"-0.000000001":                          -1,
		"0.0000000010000":                       1, // trailing zeros do not count as decimals
		"1e-9":                                  1,
		"1E+2":                                  100 * router.Dollar,
		"0.15e1":                                1_500_000_000,
		"120e-1":                                12 * router.Dollar,
		"9223372036.854775807":                  math.MaxInt64,
		"-9223372036.854775808":                 math.MinInt64,
		"0.00000000000000000001e+20":            router.Dollar,
		"0." + strings.Repeat("0", 50) + "1e55": 10_000 * router.Dollar,
	} {
		got, err := router.ParseUSD(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParseUSDRefuses(t *testing.T) {
	for _, text := range []string{
		"", "-", ".", "1.", ".5", "01", "+1", " 1", "1 ", "1,5", "1_000", "0x1", "1e", "1e+", "1e1.5", "1e+-1", "--1",
		"NaN", "Infinity", "-Inf", "1 USD", "null", "١", "1\x00",
		"0.0000000001", "1e-10", "1.0000000001", "1e-999999999999999999999",
		"9223372036.854775808", "-9223372036.854775809", "1e10", "1e999999999", "99999999999999999999",
		strings.Repeat("0", 65), "1" + strings.Repeat("0", 100),
	} {
		got, err := router.ParseUSD(text)
		require.ErrorIs(t, err, router.ErrAmount, text)
		assert.Zero(t, got)
		assert.Less(t, len(err.Error()), 200, "an error must not repeat a long text")
	}
}

func TestUSDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := router.USD(rapid.Int64().Draw(t, "nano"))
		back, err := router.ParseUSD(u.String())
		if err != nil || back != u {
			t.Fatalf("%d is %s is %d (%v)", u, u, back, err)
		}
		exact, ok := new(big.Rat).SetString(u.String())
		if !ok || exact.Cmp(big.NewRat(int64(u), int64(router.Dollar))) != 0 {
			t.Fatalf("%d is not %s", u, u)
		}
	})
}

func TestUSDJSON(t *testing.T) {
	data, err := json.Marshal(map[string]router.USD{"a": 1_250_000_000, "b": -1, "c": 0, "d": math.MinInt64})
	require.NoError(t, err)
	assert.Equal(t, `{"a":1.25,"b":-0.000000001,"c":0,"d":-9223372036.854775808}`, string(data))

	var got struct {
		Number router.USD `json:"number"`
		Text   router.USD `json:"text"`
		Null   router.USD `json:"null"`
	}
	got.Null = 7
	require.NoError(t, json.Unmarshal([]byte(`{"number":0.1,"text":"0.30","null":null}`), &got))
	assert.Equal(t, router.USD(100_000_000), got.Number)
	assert.Equal(t, router.USD(300_000_000), got.Text)
	assert.Equal(t, router.USD(7), got.Null)
	for _, bad := range []string{`{"number":true}`, `{"number":"1 USD"}`, `{"number":0.0000000001}`, `{"number":[1]}`} {
		require.ErrorIs(t, json.Unmarshal([]byte(bad), &got), router.ErrAmount, bad)
	}
}

func TestCost(t *testing.T) {
	half := router.Pricing{Prompt: router.Dollars("0.0005")} // half a nano-dollar per token
	for tokens, want := range map[int64]router.USD{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 2, 7: 4, -9: 0} {
		assert.Equal(t, want, half.Cost(tokens, 0), "halves go to even: %d", tokens)
		assert.Equal(t, want, router.Pricing{Completion: router.Dollars("0.0005")}.Cost(5, tokens), "%d", tokens)
	}
	assert.Equal(t, router.USD(3), half.Bound(5, 0))
	assert.Equal(t, router.USD(2), half.Bound(4, 0))

	p := router.Pricing{Prompt: router.Dollars("3"), Completion: router.Dollars("15"), Request: router.Dollars("0.01")}
	assert.Equal(t, router.USD(28_000_000), p.Cost(1_000, 1_000))
}

// The sum is rounded once: three thirds of a nano-dollar are one.
func TestCostRoundsOnce(t *testing.T) {
	p := router.Pricing{Prompt: router.Dollars("0.0004"), Completion: router.Dollars("0.0004")}
	assert.Equal(t, router.USD(1), p.Cost(1, 1))
	assert.Equal(t, router.USD(0), p.Cost(1, 0))
}

func TestCostSaturates(t *testing.T) {
	const most = router.USD(math.MaxInt64)
	p := router.Pricing{Prompt: most.Price(), Completion: most.Price(), Request: most.Price()}
	assert.Equal(t, most, p.Cost(math.MaxInt64, math.MaxInt64))
	assert.Equal(t, most, p.Bound(1, 0))
	assert.Equal(t, most, router.Pricing{Prompt: router.USD(1 << 62).Price()}.Cost(4_000_000, 0), "2^64 nano-dollars")
	assert.Equal(t, most, router.Pricing{Request: most.Price()}.Cost(0, 0))
	assert.Equal(t, router.USD(0), router.Pricing{Prompt: router.USD(math.MinInt64).Price(), Request: router.Dollars("-1")}.Cost(math.MaxInt64, 0), "negative prices are zero")
}

// exactCost returns the cost as an exact fraction.
func exactCost(p router.Pricing, prompt, completion int64) *big.Rat {
	sum := new(big.Int).Mul(big.NewInt(int64(p.Prompt.USD())), big.NewInt(prompt))
	sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(p.Completion.USD())), big.NewInt(completion)))
	sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(p.Request.USD())), big.NewInt(1_000_000)))
	return new(big.Rat).SetFrac(sum, big.NewInt(1_000_000))
}

func TestCostIsExact(t *testing.T) {
	limit := new(big.Rat).SetInt64(math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Int64Range(0, 3_000_000), rapid.Int64Range(0, math.MaxInt64))
		p := router.Pricing{
			Prompt:     router.USD(amount.Draw(t, "prompt price")).Price(),
			Completion: router.USD(amount.Draw(t, "completion price")).Price(),
			Request:    router.USD(amount.Draw(t, "fee")).Price(),
		}
		in, out := amount.Draw(t, "in"), amount.Draw(t, "out")
		exact := exactCost(p, in, out)
		cost, bound := p.Cost(in, out), p.Bound(in, out)
		if exact.Cmp(limit) >= 0 {
			if cost != math.MaxInt64 || bound != math.MaxInt64 {
				t.Fatalf("%s: cost %d, bound %d", exact, cost, bound)
			}
			return
		}
		// |cost − exact| ≤ 1/2, and the cost is even where it is exactly 1/2.
		off := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(cost)), exact)
		switch off.Abs(off).Cmp(big.NewRat(1, 2)) {
		case 1:
			t.Fatalf("cost %d of %s", cost, exact)
		case 0:
			if cost%2 != 0 {
				t.Fatalf("cost %d of %s is not even", cost, exact)
			}
		}
		// bound − 1 < exact ≤ bound
		above := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(bound)), exact)
		if above.Sign() < 0 || above.Cmp(big.NewRat(1, 1)) >= 0 || bound < cost {
			t.Fatalf("bound %d of %s, cost %d", bound, exact, cost)
		}
	})
}

// The cost of two parts differs from the cost of the whole by rounding only.
func TestCostIsNearlyAdditive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.Int64Range(0, 1<<40)
		p := router.Pricing{Prompt: router.USD(rapid.Int64Range(0, 1<<20).Draw(t, "price")).Price()}
		a, b := tokens.Draw(t, "a"), tokens.Draw(t, "b")
		apart, together := p.Cost(a, 0)+p.Cost(b, 0), p.Cost(a+b, 0)
		if d := apart - together; d < -1 || d > 1 {
			t.Fatalf("%d apart, %d together", apart, together)
		}
		if p.Bound(a, 0)+p.Bound(b, 0) < p.Bound(a+b, 0) {
			t.Fatal("two holds are less than one")
		}
	})
}

func FuzzParseUSD(f *testing.F) {
	for _, text := range []string{"0", "-1.5", "1e-9", "0.0000000010", "9223372036.854775807", "1e+3", "NaN", "1e-999999", "0.0004000E00000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := router.ParseUSD(text)
		if err != nil {
			require.ErrorIs(t, err, router.ErrAmount)
			return
		}
		require.True(t, json.Valid([]byte(text)), "%q is no JSON number", text)
		if mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(strings.TrimLeft(exponent, "+-0")) > 4 {
			require.Zero(t, u, "%s", mantissa)
			return // too long for the oracle
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok, text)
		require.Zero(t, exact.Cmp(big.NewRat(int64(u), int64(router.Dollar))), "%s read as %s", text, u)
	})
}

func TestDollarsAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]router.USD{
		"$0.00": 0, "$5.00": 5 * router.Dollar, "$1000.50": 1_000_500_000_000, "$0.042": 42_000_000, "$0.000000001": 1, "$-0.25": -250_000_000,
	} {
		assert.Equal(t, want, u.Dollars())
	}
}
