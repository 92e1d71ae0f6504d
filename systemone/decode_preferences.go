package systemone

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

const (
	maxNumber   = 64 // characters of a number
	maxExponent = 30 // of a price: more would cost memory, not say more

	mustBePrice  = "must be a decimal number that is not negative, such as \"0.25\""
	mustBeCutoff = "must be a number that is not negative"
)

// DecodePreferences reads provider preferences: an object, or null for none.
// Every member of it is known or a problem, but for those of the values of
// options; null members count as absent, and so do an empty order and an
// empty ignore. Prices are decimal text or JSON numbers. The error is an
// [*InvalidError] with paths relative to the preferences.
//
// The result shares memory with data, which must not change afterwards.
func DecodePreferences(data []byte) (*Preferences, error) {
	v := validator{trusted: true}
	if !checkSyntax(data, 0, &v.problems) {
		return nil, v.problems.err()
	}
	value := trim(data)
	if isNull(value) {
		return nil, nil
	}
	d := preferencesDecoder{problems: &v.problems}
	preferences := d.decode(value)
	v.preferences("", preferences)
	if err := v.problems.err(); err != nil {
		return nil, err
	}
	return preferences, nil
}

// UnmarshalJSON reads what [DecodePreferences] reads; null changes nothing.
func (p *Preferences) UnmarshalJSON(data []byte) error {
	got, err := DecodePreferences(slices.Clone(data))
	if got != nil {
		*p = *got
	}
	return err
}

// preferencesDecoder turns checked JSON into preferences. As with decoder, the
// rules are the validator's.
type preferencesDecoder struct {
	*problems

	path string // of the preferences
}

func (d *preferencesDecoder) decode(value []byte) *Preferences {
	p := &Preferences{}
	if value[0] != '{' {
		d.add(d.path, "must be an object")
		return p
	}
	for m := walk(value); m.next(); {
		d.member(p, string(m.name), m.value)
	}
	return p
}

func (d *preferencesDecoder) member(p *Preferences, name string, value []byte) {
	path := below(d.path, name)
	if isNull(value) && known(name) {
		return
	}
	switch name {
	case "allow_fallbacks":
		p.AllowFallbacks = new(d.boolean(path, value))
	case "data_collection":
		p.DataCollection = DataCollection(d.word(path, value, "allow", "deny"))
	case "enforce_distillable_text":
		p.EnforceDistillableText = d.boolean(path, value)
	case "ignore":
		p.Ignore = orNil(d.strings(path, value))
	case "only":
		p.Only = d.strings(path, value)
	case "order":
		p.Order = orNil(d.strings(path, value))
	case "max_price":
		d.maxPrice(&p.MaxPrice, path, value)
	case "options":
		d.options(p, path, value)
	case "preferred_max_latency":
		d.cutoffs(&p.PreferredMaxLatency, path, value)
	case "preferred_min_throughput":
		d.cutoffs(&p.PreferredMinThroughput, path, value)
	case "quantizations":
		p.Quantizations = d.strings(path, value)
	case "require_parameters":
		p.RequireParameters = d.boolean(path, value)
	case "sort":
		d.sort(&p.Sort, path, value)
	case "zdr":
		p.ZDR = d.boolean(path, value)
	default:
		d.add(path, unknownMember)
	}
}

// orNil makes an empty list absent.
func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

func (d *preferencesDecoder) boolean(path string, value []byte) bool {
	if c := value[0]; c != 't' && c != 'f' {
		d.add(path, "must be true or false")
	}
	return value[0] == 't'
}

// word reads one of the words allowed.
func (d *preferencesDecoder) word(path string, value []byte, allowed ...string) string {
	if value[0] == '"' {
		if word := string(unquote(value)); slices.Contains(allowed, word) {
			return word
		}
	}
	d.add(path, mustBeOneOf(allowed...))
	return ""
}

func (d *preferencesDecoder) maxPrice(p *MaxPrice, path string, value []byte) {
	if value[0] != '{' {
		d.add(path, "must be an object")
		return
	}
	for m := walk(value); m.next(); {
		path := below(path, string(m.name))
		field := p.field(string(m.name))
		if field == nil {
			d.add(path, unknownMember)
		} else if !isNull(m.value) {
			*field = d.price(path, m.value)
		}
	}
}

// field returns the cap of that name, nil if there is none.
func (p *MaxPrice) field(name string) **decimal.Decimal {
	switch name {
	case "prompt":
		return &p.Prompt
	case "completion":
		return &p.Completion
	case "request":
		return &p.Request
	case "image":
		return &p.Image
	case "audio":
		return &p.Audio
	}
	return nil
}

// price reads a decimal: a number or its text.
func (d *preferencesDecoder) price(path string, value []byte) *decimal.Decimal {
	text := value
	if value[0] == '"' {
		text = unquote(value)
	}
	price, ok := parseDecimal(string(text))
	if !ok {
		d.add(path, mustBePrice)
		return nil
	}
	return &price
}

// parseDecimal reads a number as JSON writes it, exactly.
func parseDecimal(text string) (decimal.Decimal, bool) {
	if text == "" || len(text) > maxNumber || numberEnd(text, 0) != len(text) {
		return decimal.Decimal{}, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		exponent, err := strconv.Atoi(text[at+1:])
		if err != nil || exponent < -maxExponent || exponent > maxExponent {
			return decimal.Decimal{}, false
		}
	}
	number, err := decimal.NewFromString(text)
	return number, err == nil
}

func (d *preferencesDecoder) options(p *Preferences, path string, value []byte) {
	if value[0] != '{' {
		d.add(path, "must be an object")
		return
	}
	for m := walk(value); m.next(); {
		if isNull(m.value) {
			continue
		}
		p.Options = append(p.Options, ProviderOptions{Provider: string(m.name), Options: raw(m.value)})
	}
}

func (d *preferencesDecoder) cutoffs(c *Cutoffs, path string, value []byte) {
	if value[0] != '{' {
		c.P50 = d.cutoff(path, value)
		return
	}
	for m := walk(value); m.next(); {
		path := below(path, string(m.name))
		field := c.field(string(m.name))
		if field == nil {
			d.add(path, unknownMember)
		} else if !isNull(m.value) {
			*field = d.cutoff(path, m.value)
		}
	}
}

// field returns the cutoff of that name, nil if there is none.
func (c *Cutoffs) field(name string) **float64 {
	switch name {
	case "p50":
		return &c.P50
	case "p75":
		return &c.P75
	case "p90":
		return &c.P90
	case "p99":
		return &c.P99
	}
	return nil
}

func (d *preferencesDecoder) cutoff(path string, value []byte) *float64 {
	number, ok := parseFloat(value)
	if !ok {
		d.add(path, mustBeCutoff)
		return nil
	}
	return &number
}

// parseFloat reads a number that a float64 can hold.
func parseFloat(value []byte) (float64, bool) {
	if len(value) > maxNumber || numberEnd(value, 0) != len(value) {
		return 0, false
	}
	number, err := strconv.ParseFloat(string(value), 64)
	return number, err == nil && !math.IsInf(number, 0)
}

func (d *preferencesDecoder) sort(s *Sort, path string, value []byte) {
	switch value[0] {
	case '"':
		s.By = SortBy(d.word(path, value, sortWords()...))
	case '{':
		for m := walk(value); m.next(); {
			path := below(path, string(m.name))
			switch string(m.name) {
			case "by":
				if !isNull(m.value) {
					s.By = SortBy(d.word(path, m.value, sortWords()...))
				}
			case "partition":
				if !isNull(m.value) {
					s.Partition = Partition(d.word(path, m.value, "model", "none"))
				}
			default:
				d.add(path, unknownMember)
			}
		}
	default:
		d.add(path, "must be a string or an object")
	}
}
