package httpapi

import (
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// maxWarnings bounds the header of warnings, in bytes.
const maxWarnings = 4 << 10

// unsupported lists members that name a protection or a policy that is not implemented,
// in any object. Ignoring such a member silently would be dangerous.
func unsupported() []string {
	return []string{
		"is_byok_only", "is_required", "declared_zdr", "allowed_data_regions", "disabled_server_tools",
		"io_logging_api_key_ids", "io_logging_sampling_rate", "is_data_discount_logging_enabled",
		"is_observability_broadcast_enabled", "is_observability_io_logging_enabled",
	}
}

// refuseUnsupported refuses members that ask for what is not implemented. Null, false,
// 0 and empty values ask for nothing.
func (o object) refuseUnsupported() {
	for _, name := range unsupported() {
		if raw, ok := o.members[name]; ok && !neutral(raw) {
			o.wrong(name, "is not supported")
		}
	}
}

func neutral(raw json.RawMessage) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// warn sets the reply's header of warnings.
func (x *exchange) warn(warnings []systemone.Issue) {
	if len(warnings) > 0 {
		x.w.Header()[x.s.warningsHeader] = []string{headerList(warnings)}
	}
}

// headerList returns the warnings as JSON in ASCII. If they do not all fit, the last
// entry says how many are left out.
func headerList(warnings []systemone.Issue) string {
	const reserve = 64 // for that entry
	out := []byte{'['}
	for i, w := range warnings {
		entry := ascii(appendJSON(nil, w))
		if len(out)+len(entry) > maxWarnings-reserve {
			left := strconv.Itoa(len(warnings) - i)
			out = append(appendComma(out), `{"path":"","message":"`+left+` more warnings are left out"}`...)
			break
		}
		out = append(appendComma(out), entry...)
	}
	return string(append(out, ']'))
}

func appendComma(list []byte) []byte {
	if len(list) > 1 {
		return append(list, ',')
	}
	return list
}

// ascii escapes characters that a header cannot carry.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r < 0x7f {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = append(out, `\u`...)
			out = append(out, strconv.FormatUint(uint64(unit)|1<<16, 16)[1:]...)
		}
	}
	return out
}

// unknownProviders warns of names in a request's provider lists that the catalog does
// not know. Such names are allowed, because an order with a removed provider still
// orders the others.
func (x *exchange) unknownProviders() []systemone.Issue {
	if x.call == nil || x.call.Request == nil {
		return nil
	}
	return listed(x.s.Router.Catalog().Unknown(x.call.Request.Provider))
}

// calibrations warns of conditions whose calibration is not in force. They are applied to
// the answers as they are. No endpoint has a calibration, so every one is warned of.
func (x *exchange) calibrations() (list []systemone.Issue) {
	for i := range x.call.Request.Models {
		if id := x.call.Request.Models[i].Calibration; id != "" {
			list = append(list, systemone.Issue{
				Path:    "models." + strconv.Itoa(i) + ".when.calibration",
				Message: id + " is not a calibration in force; the condition looks at the answers as they are",
			})
		}
	}
	return list
}
