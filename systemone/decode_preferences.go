package systemone

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/internal/jsontext"
)

const (
	maxNumber   = 64 // characters of a number, of a price also when written out
	maxExponent = 64 // of a price, to bound its memory
)

// DecodePreferences reads provider preferences: an object, or null, which returns
// nil. Unknown members are problems, except within the values of options. Null
// members count as absent, and so do an empty order and an empty ignore. Prices are
// decimal text or JSON numbers. The error is an [*InvalidError] with paths relative
// to the preferences.
//
// The result shares memory with data, which must not change afterwards.
func DecodePreferences(data []byte) (*Preferences, error) {
	p := problems{steps: make([]string, 0, 8)}
	if !checkSyntax(data, 0, &p) {
		return nil, p.err()
	}
	value := jsontext.Trim(data)
	if jsontext.IsNull(value) {
		return nil, nil //nolint:nilnil // null is no preferences and no problem
	}
	d := preferencesDecoder{&p}
	preferences := d.decode(value)
	v := validator{problems: &p, trusted: true}
	v.preferences(preferences)
	if err := p.err(); err != nil {
		return nil, err
	}
	return preferences, nil
}

// UnmarshalJSON reads what [DecodePreferences] reads; null leaves p unchanged.
func (p *Preferences) UnmarshalJSON(data []byte) error {
	got, err := DecodePreferences(slices.Clone(data))
	if got != nil {
		*p = *got
	}
	return err
}

// preferencesDecoder turns checked JSON into preferences. As with decoder, the
// validator checks the rules.
type preferencesDecoder struct{ *problems }

func (d preferencesDecoder) decode(value []byte) *Preferences {
	p := &Preferences{}
	d.members(value, func(name string, value []byte) bool { return d.member(p, name, value) })
	return p
}

// members reads an object with read, which returns false for an unknown member. A
// nil value, here and below, is null or absent.
func (p *problems) members(object []byte, read func(name string, value []byte) bool) {
	if object == nil || !p.isObject(object) {
		return
	}
	for m := jsontext.Walk(object); m.Next(); {
		name := string(m.Name)
		p.enter(name)
		if !read(name, raw(m.Value)) {
			p.fail(unknownMember)
		}
		p.leave()
	}
}

func (d preferencesDecoder) member(p *Preferences, name string, value []byte) bool {
	switch name {
	case "allow_fallbacks":
		if value != nil {
			p.AllowFallbacks = new(d.boolean(value))
		}
	case "data_collection":
		p.DataCollection = word(d.problems, value, DataCollectionAllow, DataCollectionDeny)
	case "enforce_distillable_text":
		p.EnforceDistillableText = d.boolean(value)
	case "ignore":
		p.Ignore = d.list(value, false)
	case "only":
		p.Only = d.list(value, true)
	case "order":
		p.Order = d.list(value, false)
	case "max_price":
		d.maxPrice(&p.MaxPrice, value)
	case "options":
		p.Options = d.options(value)
	case "preferred_max_latency":
		d.cutoffs(&p.PreferredMaxLatency, value)
	case "preferred_min_throughput":
		d.cutoffs(&p.PreferredMinThroughput, value)
	case "quantizations":
		p.Quantizations = d.list(value, true)
	case "require_parameters":
		p.RequireParameters = d.boolean(value)
	case "sort":
		d.sort(&p.Sort, value)
	case "zdr":
		p.ZDR = d.boolean(value)
	default:
		return false
	}
	return true
}

func (p *problems) boolean(value []byte) bool {
	if value == nil {
		return false
	}
	if c := value[0]; c != 't' && c != 'f' {
		p.fail("must be true or false")
	}
	return value[0] == 't'
}

// word reads one of the allowed words.
func word[T ~string](p *problems, value []byte, allowed ...T) T {
	if value == nil {
		return ""
	}
	if value[0] == '"' {
		if w := T(jsontext.Unquote(value)); slices.Contains(allowed, w) {
			return w
		}
	}
	p.fail(mustBeOneOf(allowed...))
	return ""
}

func (d preferencesDecoder) list(value []byte, meant bool) []string {
	if value == nil {
		return nil
	}
	return d.names(value, meant, math.MaxInt)
}

func (d preferencesDecoder) maxPrice(p *MaxPrice, value []byte) {
	d.members(value, func(name string, value []byte) bool {
		field := p.field(name)
		if field != nil && value != nil {
			*field = d.price(value)
		}
		return field != nil
	})
}

// field returns the cap of a name, or nil.
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

// price reads a decimal, as a number or as text.
func (d preferencesDecoder) price(value []byte) *decimal.Decimal {
	text := value
	if value[0] == '"' {
		text = jsontext.Unquote(value)
	}
	price, ok := parseDecimal(string(text))
	if !ok {
		d.fail(mustBePrice)
		return nil
	}
	return &price
}

// parseDecimal reads a number in JSON syntax, exactly.
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

// short reports whether a decimal can be written as a number of at most maxNumber
// characters.
func short(d decimal.Decimal) bool {
	e := d.Exponent()
	return -2*maxExponent <= e && e <= maxExponent && len(d.String()) <= maxNumber
}

func (d preferencesDecoder) options(value []byte) (list []ProviderOptions) {
	if value == nil || !d.isObject(value) {
		return nil
	}
	for m := jsontext.Walk(value); m.Next(); {
		if !jsontext.IsNull(m.Value) {
			list = append(list, ProviderOptions{Provider: string(m.Name), Options: m.Value})
		}
	}
	return list
}

func (d preferencesDecoder) cutoffs(c *Cutoffs, value []byte) {
	if value != nil && value[0] != '{' {
		c.P50 = d.cutoff(value)
		return
	}
	d.members(value, func(name string, value []byte) bool {
		field := c.field(name)
		if field != nil && value != nil {
			*field = d.cutoff(value)
		}
		return field != nil
	})
}

// field returns the cutoff of a name, or nil.
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

// cutoff reads a cutoff and checks its range. The validator does not know whether
// the number was a plain one or under p50, so it could not name the right path.
func (d preferencesDecoder) cutoff(value []byte) *float64 {
	number, ok := parseFloat(value)
	if !ok || number < 0 {
		d.fail(mustBeCutoff)
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
	return number, err == nil
}

func (d preferencesDecoder) sort(s *Sort, value []byte) {
	switch {
	case value == nil:
	case value[0] == '"':
		s.By = word(d.problems, value, sorts()...)
	case value[0] == '{':
		d.members(value, func(name string, value []byte) bool {
			switch name {
			case "by":
				s.By = word(d.problems, value, sorts()...)
			case "partition":
				s.Partition = word(d.problems, value, PartitionModel, PartitionNone)
			default:
				return false
			}
			return true
		})
	default:
		d.fail("must be a string or an object")
	}
}
