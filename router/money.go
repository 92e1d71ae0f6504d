package router

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// USD is an amount of money in nano-dollars (1e-9 USD), up to about 9.2 billion
// dollars. Sums are integer sums; no amount is ever a float.
type USD int64

// Dollar is one USD.
const Dollar USD = 1_000_000_000

const (
	maxUSD       = USD(math.MaxInt64)
	usdDigits    = 9  // decimals of a USD
	usdMaxDigits = 19 // digits of the largest USD
	maxUSDText   = 64 // longest text that ParseUSD reads
	maxExponent  = 1000
	tokensPerUSD = 1_000_000 // prices are per million tokens
)

// ErrAmount is wrapped by the error for a text that is not an amount of money.
var ErrAmount = errors.New("router: not an amount of money")

// amount is an exact amount of money, in nano-dollars times a million, as 128 bits.
// Two products of 63-bit numbers plus a 63-bit number times a million always fit.
type amount struct{ hi, lo uint64 }

// count returns n, or 0 where n is negative.
func count[N ~int64](n N) uint64 { return uint64(max(n, 0)) }

func (a amount) plus(n, price uint64) amount {
	hi, lo := bits.Mul64(n, price)
	lo, carry := bits.Add64(a.lo, lo, 0)
	hi, _ = bits.Add64(a.hi, hi, carry)
	return amount{hi: hi, lo: lo}
}

func (a amount) round(up bool) USD {
	if a.hi >= tokensPerUSD {
		return maxUSD
	}
	q, rest := bits.Div64(a.hi, a.lo, tokensPerUSD)
	switch half := uint64(tokensPerUSD / 2); {
	case up && rest > 0, !up && rest > half, !up && rest == half && q%2 == 1:
		if q++; q == 0 {
			return maxUSD
		}
	}
	return USD(min(q, uint64(maxUSD)))
}

// float returns the amount for weights, where an approximation is enough.
func (a amount) float() float64 {
	if a.hi == 0 {
		return float64(a.lo)
	}
	return float64(a.hi)*(1<<64) + float64(a.lo)
}

// ParseUSD reads an amount as JSON writes numbers: "12", "0.000000001", "-3.5",
// "1e-6". It is exact. An amount that is not a whole number of nano-dollars or
// exceeds USD is an error, and so are any other text and a text of more than 64
// bytes. Every error wraps [ErrAmount].
func ParseUSD(text string) (USD, error) {
	d, ok := scanDecimal(text)
	if !ok {
		return 0, fmt.Errorf("%w: %.70q", ErrAmount, text)
	}
	if d.digits == "" {
		return 0, nil
	}
	zeros := d.exponent + usdDigits // to append to the digits to make nano-dollars
	if zeros < 0 {
		return 0, fmt.Errorf("%w: %q has more than nine decimals", ErrAmount, text)
	}
	if len(d.digits)+zeros > usdMaxDigits {
		return 0, fmt.Errorf("%w: %q is too large", ErrAmount, text)
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	n, err := strconv.ParseInt(sign+d.digits+strings.Repeat("0", zeros), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is too large", ErrAmount, text)
	}
	return USD(n), nil
}

// scanned is a number as it was written: digits, without leading or trailing zeros
// and "" for zero, times ten to the exponent.
type scanned struct {
	negative bool
	digits   string
	exponent int
}

func scanDecimal(text string) (scanned, bool) {
	if len(text) > maxUSDText {
		return scanned{}, false
	}
	var d scanned
	rest, negative := strings.CutPrefix(text, "-")
	d.negative = negative
	whole := leadingDigits(rest)
	rest = rest[len(whole):]
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return scanned{}, false
	}
	d.digits = whole
	if after, found := strings.CutPrefix(rest, "."); found {
		decimals := leadingDigits(after)
		if decimals == "" {
			return scanned{}, false
		}
		rest = after[len(decimals):]
		d.digits += decimals
		d.exponent = -len(decimals)
	}
	if rest != "" {
		e, ok := scanExponent(rest)
		if !ok {
			return scanned{}, false
		}
		d.exponent += e
	}
	trimmed := strings.TrimRight(d.digits, "0")
	d.exponent += len(d.digits) - len(trimmed)
	d.digits = strings.TrimLeft(trimmed, "0")
	return d, true
}

// scanExponent reads "e-6". An exponent beyond a thousand is read as a thousand,
// because no text that ParseUSD reads has enough digits to offset it.
func scanExponent(text string) (int, bool) {
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	digits := strings.TrimLeft(text[1:], "+-")
	if len(text)-1-len(digits) > 1 || digits == "" || leadingDigits(digits) != digits {
		return 0, false
	}
	e, err := strconv.Atoi(digits)
	if err != nil || e > maxExponent {
		e = maxExponent
	}
	if text[1] == '-' {
		e = -e
	}
	return e, true
}

func leadingDigits(s string) string {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return s[:i]
		}
	}
	return s
}

// String returns the exact amount in dollars, without an exponent and without
// needless zeros: "1000.5", "0.000000001", "-3". [ParseUSD] reads it back.
func (u USD) String() string { return string(u.append(nil)) }

// Dollars returns the exact amount for people to read, with a dollar sign and at
// least two decimals, such as "$1000.50".
func (u USD) Dollars() string {
	text := u.String()
	_, decimals, found := strings.Cut(text, ".")
	if !found {
		text += "."
	}
	return "$" + text + strings.Repeat("0", max(0, 2-len(decimals)))
}

func (u USD) append(dst []byte) []byte {
	n := uint64(u) //nolint:gosec // two's complement; negated below
	if u < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendUint(dst, n/uint64(Dollar), 10)
	rest := n % uint64(Dollar)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := uint64(Dollar) / 10; rest > 0; unit /= 10 {
		dst = append(dst, byte('0'+rest/unit)) //nolint:gosec // one digit
		rest %= unit
	}
	return dst
}

// MarshalJSON writes the amount as a JSON number, exactly.
func (u USD) MarshalJSON() ([]byte, error) { return u.append(nil), nil }

// UnmarshalJSON reads a JSON number, or the same as a JSON string, as
// [ParseUSD] does. Null leaves the amount as it is.
func (u *USD) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		return nil
	}
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	v, err := ParseUSD(text)
	if err != nil {
		return err
	}
	*u = v
	return nil
}
