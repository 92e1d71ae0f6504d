package systemone_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// TestPreferencesThatAskForNothing covers the accepted half of row R25 of the
// routing cases.
func TestPreferencesThatAskForNothing(t *testing.T) {
	for _, data := range []string{
		`{}`,
		`{"allow_fallbacks":null,"data_collection":null,"enforce_distillable_text":null,"ignore":null,"only":null,
		  "order":null,"max_price":null,"options":null,"preferred_max_latency":null,"preferred_min_throughput":null,
		  "quantizations":null,"require_parameters":null,"sort":null,"zdr":null}`,
		`{"order":[]}`, `{"ignore":[]}`, `{"sort":{}}`, `{"sort":{"by":null,"partition":null}}`,
		`{"max_price":{}}`, `{"max_price":{"prompt":null}}`, `{"preferred_max_latency":{}}`,
		`{"preferred_min_throughput":{"p50":null}}`, `{"options":{}}`, `{"options":{"ant":null}}`,
	} {
		t.Run(data, func(t *testing.T) {
			p, err := systemone.DecodePreferences([]byte(data))
			require.NoError(t, err)
			assert.Equal(t, &systemone.Preferences{}, p)
			assert.Equal(t, `{}`, string(p.AppendJSON(nil)))

			r := decode(t, with(`"provider":`+data))
			assert.Equal(t, &systemone.Preferences{}, r.Provider)
		})
	}
	p, err := systemone.DecodePreferences([]byte(` null `))
	require.NoError(t, err)
	assert.Nil(t, p)
	assert.Nil(t, decode(t, with(`"provider":null`)).Provider)
}

// TestPreferencesRefused covers rows R24d and R26 of the routing cases, and the
// refused half of R25.
func TestPreferencesRefused(t *testing.T) {
	const (
		price  = `: must be a decimal number that is not negative, such as "0.25"`
		cutoff = ": must be a number that is not negative"
		quants = ": must be one of int4, int8, fp4, mxfp4, nvfp4, fp6, fp8, mxfp8, fp16, bf16, fp32, unknown"
		sorts  = ": must be one of price, throughput, latency, exacto"
	)
	for _, c := range []struct {
		name, data string
		want       []string
	}{
		{"R24d", `{"options":{"ant":{},"ANT":{}}}`, []string{"options.ANT: names a provider that has options already"}},
		{"R25 only", `{"only":[]}`, []string{"only: must not be empty"}},
		{"R25 quantizations", `{"quantizations":[]}`, []string{"quantizations: must not be empty"}},
		{"R26", `{"orderr":["ant"]}`, []string{"orderr: is not a known member"}},
		{"R26", `{"sort":"cheap"}`, []string{"sort" + sorts}},
		{"R26", `{"sort":{"by":"price","partion":"none"}}`, []string{"sort.partion: is not a known member"}},
		{"R26", `{"max_price":{"prompts":"1"}}`, []string{"max_price.prompts: is not a known member"}},
		{"R26", `{"max_price":{"prompt":"-1"}}`, []string{"max_price.prompt" + price}},
		{"R26", `{"max_price":{"prompt":"1 USD"}}`, []string{"max_price.prompt" + price}},
		{"R26", `{"max_price":{"prompt":"NaN"}}`, []string{"max_price.prompt" + price}},
		{"R26", `{"quantizations":["FP8"]}`, []string{"quantizations.0" + quants}},
		{"R26", `{"data_collection":"maybe"}`, []string{"data_collection: must be one of allow, deny"}},
		{"R26", `{"preferred_max_latency":-1}`, []string{"preferred_max_latency" + cutoff}},
		{"R26", `{"preferred_min_throughput":-0.5}`, []string{"preferred_min_throughput" + cutoff}},
		{"R26", `{"preferred_min_throughput":{"p50":-0.5}}`, []string{"preferred_min_throughput.p50" + cutoff}},
		{"R26", `{"preferred_min_throughput":{"p95":1}}`, []string{"preferred_min_throughput.p95: is not a known member"}},
		{"R26", `{"allow_fallbacks":"no"}`, []string{"allow_fallbacks: must be true or false"}},
		{"R26", `{"only":"ant"}`, []string{"only: must be an array of strings"}},
		{"R26", `{"order":[1]}`, []string{"order.0: must be a string"}},
		{"R26", `{"options":{"ant":3}}`, []string{"options.ant: must be an object"}},
		{"R26 all at once", `{"orderr":1,"zdr":1,"sort":{"partition":"all"},"only":["",null],"ignore":{}}`, []string{
			"orderr: is not a known member", "zdr: must be true or false", "sort.partition: must be one of model, none",
			"only.0: must not be empty", "only.1: must be a string", "ignore: must be an array of strings",
		}},
		{"no object", `[]`, []string{": must be an object"}},
		{"unknown null", `{"nothing":null}`, []string{"nothing: is not a known member"}},
		{"case matters", `{"Order":["ant"],"sort":"Price"}`, []string{"Order: is not a known member", "sort" + sorts}},
		{"prices", `{"max_price":{"prompt":-0.5,"completion":"","request":"1e65","image":true,"audio":" 1"}}`, []string{
			"max_price.completion" + price, "max_price.request" + price, "max_price.image" + price,
			"max_price.audio" + price, "max_price.prompt" + price,
		}},
		{"prices in other forms", `{"max_price":{"prompt":"+1","completion":"01","request":"1.","image":"0x1","audio":"1e9999999999999999999"}}`, []string{
			"max_price.prompt" + price, "max_price.completion" + price, "max_price.request" + price,
			"max_price.image" + price, "max_price.audio" + price,
		}},
		{"a price of too many characters", `{"max_price":{"prompt":"0.` + strings.Repeat("0", 60) + `1e-10"}}`, []string{"max_price.prompt" + price}},
		{"max_price", `{"max_price":"1"}`, []string{"max_price: must be an object"}},
		{"cutoffs", `{"preferred_max_latency":"1","preferred_min_throughput":{"p50":"1","p75":-1,"p90":1e999,"p99":[]}}`, []string{
			"preferred_max_latency" + cutoff, "preferred_min_throughput.p50" + cutoff, "preferred_min_throughput.p75" + cutoff,
			"preferred_min_throughput.p90" + cutoff, "preferred_min_throughput.p99" + cutoff,
		}},
		{"options", `{"options":[]}`, []string{"options: must be an object"}},
		{"sort", `{"sort":["price"]}`, []string{"sort: must be a string or an object"}},
		{"words", `{"sort":{"by":1,"partition":true},"data_collection":{}}`, []string{
			"sort.by" + sorts, "sort.partition: must be one of model, none", "data_collection: must be one of allow, deny",
		}},
		{"duplicates", `{"zdr":true,"zdr":true,"options":{"a":{"x":1,"x":2}}}`, []string{
			"options.a.x: is given more than once", "zdr: is given more than once",
		}},
		{"no JSON", `{"zdr":`, []string{": invalid JSON at byte 7: unexpected end, expected a value"}},
	} {
		t.Run(c.name+" "+c.data[:min(40, len(c.data))], func(t *testing.T) {
			_, err := systemone.DecodePreferences([]byte(c.data))
			assert.Equal(t, c.want, issues(t, err))
			if strings.Contains(c.name, "no ") {
				return
			}
			_, err = systemone.Decoder{}.Decode([]byte(with(`"provider":` + c.data)))
			inBody := issues(t, err)
			require.Len(t, inBody, len(c.want))
			for i := range c.want {
				assert.Equal(t, "provider."+c.want[i], inBody[i], "the same in a request")
			}
		})
	}
}

func TestPreferencesNumbers(t *testing.T) {
	p, err := systemone.DecodePreferences([]byte(`{"max_price":{"prompt":"0.250","completion":1e-30,"request":"1E+30","image":-0,
		"audio":"0.123456789012345678901234567890123456789012345678901234567890"},
		"preferred_max_latency":-0.0,"preferred_min_throughput":{"p99":1e-400}}`))
	require.NoError(t, err)
	assert.Equal(t, "0.25", p.MaxPrice.Prompt.String())
	assert.Equal(t, "0."+strings.Repeat("0", 29)+"1", p.MaxPrice.Completion.String())
	assert.Equal(t, "1"+strings.Repeat("0", 30), p.MaxPrice.Request.String())
	assert.True(t, p.MaxPrice.Image.IsZero())
	assert.Equal(t, "0.12345678901234567890123456789012345678901234567890123456789", p.MaxPrice.Audio.String(), "exact")
	assert.Zero(t, *p.PreferredMaxLatency.P50)
	assert.Zero(t, *p.PreferredMinThroughput.P99)

	again, err := systemone.DecodePreferences(p.AppendJSON(nil))
	require.NoError(t, err)
	assert.Equal(t, string(p.AppendJSON(nil)), string(again.AppendJSON(nil)))
}

func TestPreferencesInJSON(t *testing.T) {
	data := []byte(`{"order":["ant"],"sort":{"partition":"none"},"allow_fallbacks":true}`)
	var p systemone.Preferences
	require.NoError(t, json.Unmarshal(data, &p))
	encoded, err := json.Marshal(p)
	require.NoError(t, err)
	assert.JSONEq(t, string(data), string(encoded))

	require.NoError(t, json.Unmarshal([]byte(`null`), &p))
	assert.Equal(t, []string{"ant"}, p.Order, "null changes nothing")
	require.ErrorIs(t, json.Unmarshal([]byte(`{"x":1}`), &p), systemone.ErrInvalid)
}

func TestValidatePreferences(t *testing.T) {
	huge := decimal.New(1, math.MaxInt32)
	tiny := decimal.New(1, math.MinInt32)
	long := decimal.RequireFromString(strings.Repeat("9", 65))
	minus := decimal.New(-1, 0)
	r := decode(t, with(`"x":1`))
	r.Provider = &systemone.Preferences{
		DataCollection:         "maybe",
		Only:                   []string{},
		Order:                  []string{"ant", ""},
		Ignore:                 []string{},
		MaxPrice:               systemone.MaxPrice{Prompt: &huge, Completion: &tiny, Request: &minus, Audio: &long},
		Options:                []systemone.ProviderOptions{{Provider: "a"}, {Provider: "A", Options: []byte(`{}`)}, {Provider: "b", Options: []byte(`{"x":`)}, {Provider: "c", Options: []byte(`{"x":1,"x":2}`)}},
		PreferredMaxLatency:    systemone.Cutoffs{P50: new(math.NaN()), P75: new(math.Inf(1)), P90: new(-1.0), P99: new(0.0)},
		PreferredMinThroughput: systemone.Cutoffs{P99: new(math.MaxFloat64)},
		Quantizations:          []string{"fp8", ""},
		Sort:                   systemone.Sort{By: "cheap", Partition: "all"},
	}
	assert.Equal(t, []string{
		"provider.data_collection", "provider.order.1", "provider.only",
		"provider.max_price.prompt", "provider.max_price.completion", "provider.max_price.request", "provider.max_price.audio",
		"provider.options.a", "provider.options.A", "provider.options.b", "provider.options.c.x",
		"provider.preferred_max_latency.p50", "provider.preferred_max_latency.p75", "provider.preferred_max_latency.p90",
		"provider.quantizations.1", "provider.sort.by", "provider.sort.partition",
	}, paths(t, r.Validate(systemone.Limits{})))
}
