package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox/signalbox/router"
)

// maxTriggering bounds the header of triggering questions, in bytes.
const maxTriggering = 4 << 10

// fallbackHeaders are the canonical names of the headers of a reply to which a stage
// behind the first has contributed. With the brand of a hosted gateway its clients find
// their headers.
type fallbackHeaders struct{ triggered, finalModel, primaryModel, questions, truncated string }

func newFallbackHeaders(brand string) fallbackHeaders {
	name := func(end string) string {
		return http.CanonicalHeaderKey("X-" + brand + "-Decision-Fallback-" + end)
	}
	return fallbackHeaders{
		triggered: name("Triggered"), finalModel: name("Final-Model"), primaryModel: name("Primary-Model"),
		questions: name("Triggering-Questions"), truncated: name("Triggering-Questions-Truncated"),
	}
}

// fallbackHeaders names the model of the first stage, that which answered last, and the
// questions because of which its stage was asked. A call that only its first stage has
// answered has none of these headers, and neither has a replay, which has no legs.
func (x *exchange) fallbackHeaders(h http.Header) {
	r, names := &x.call.Report, &x.s.fallback
	if r.Escalated() == 0 {
		return
	}
	var primary, final *router.Leg
	for _, l := range r.Legs {
		if !l.Used() {
			continue
		}
		if final = l; primary == nil {
			primary = l
		}
	}
	questions, cut := triggering(r, final.Group)
	h[names.triggered] = []string{"true"}
	h[names.primaryModel] = []string{modelOf(primary)}
	h[names.finalModel] = []string{modelOf(final)}
	h[names.questions] = []string{questions}
	if cut {
		h[names.truncated] = []string{"true"}
	}
}

// modelOf returns the dated model that answered a leg.
func modelOf(l *router.Leg) string {
	if l.Remembered != nil {
		return l.Remembered.Model().Permaslug
	}
	return l.Attempts[len(l.Attempts)-1].Model.Permaslug
}

// triggering returns the questions because of which a group was asked, as a JSON array
// in percent-encoding, and whether some did not fit.
func triggering(r *router.Report, group int) (list string, cut bool) {
	const end = "%5D"
	var b strings.Builder
	b.WriteString("%5B")
	for i, name := range triggers(r, group) {
		text := percent(string(appendJSON(nil, name)))
		if i > 0 {
			text = "%2C" + text
		}
		if b.Len()+len(text)+len(end) > maxTriggering {
			return b.String() + end, true
		}
		b.WriteString(text)
	}
	return b.String() + end, false
}

// triggers returns the questions because of which a group was asked. Each of its legs
// has them, except for those that ask again what was refused.
func triggers(r *router.Report, group int) []string {
	for _, l := range r.Legs {
		if l.Group == group && len(l.TriggeredBy) > 0 {
			return l.TriggeredBy
		}
	}
	return nil
}

// percent encodes everything but letters, digits and "-_.~". A plus sign would not
// stand for a space everywhere.
func percent(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
