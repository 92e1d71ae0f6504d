package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox/signalbox/httpapi"
)

// document is docs/openapi.yaml.
type document struct{ root map[string]any }

func openAPI(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile("../docs/openapi.yaml")
	require.NoError(t, err)
	var d document
	require.NoError(t, yaml.Unmarshal(text, &d.root))
	return d
}

// object follows member names and references.
func (d document) object(from any, names ...string) map[string]any {
	for {
		m, ok := from.(map[string]any)
		if !ok {
			return nil
		}
		if ref, isRef := m["$ref"].(string); isRef {
			from = d.object(d.root, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
			continue
		}
		if len(names) == 0 {
			return m
		}
		from, names = m[names[0]], names[1:]
	}
}

// operations returns every documented route as "POST /api/v1/systemone".
func (d document) operations() map[string]map[string]any {
	found := map[string]map[string]any{}
	for path := range d.object(d.root, "paths") {
		for method := range d.object(d.root, "paths", path) {
			found[strings.ToUpper(method)+" "+path] = d.object(d.root, "paths", path, method)
		}
	}
	return found
}

// mounted adds the prefix of a mount to a pattern.
func mounted(mount, pattern string) string { return strings.Replace(pattern, " ", " "+mount, 1) }

func TestOpenAPIDescribesExactlyTheRoutes(t *testing.T) {
	var served []string
	for mount, patterns := range httpapi.Routes(newRig(t).handler) {
		for _, pattern := range patterns {
			served = append(served, mounted(mount, pattern))
		}
	}
	assert.ElementsMatch(t, served, slices.Collect(maps.Keys(openAPI(t).operations())))
}

// TestOpenAPIDescribesEveryReply plays every scenario with router metadata. The status
// must be documented for the route, and the body must match its schema. In the end
// every documented status must have been seen. TestScenarios checks the replies without
// metadata.
func TestOpenAPIDescribesEveryReply(t *testing.T) {
	if testing.Short() {
		t.Skip("TestScenarios plays the same")
	}
	d := openAPI(t)
	seen := map[string]bool{}
	for _, s := range allScenarios(t) {
		s.header = maps.Clone(s.header)
		if s.header == nil {
			s.header = map[string]string{}
		}
		s.header["X-Router-Metadata"] = "enabled"
		_, r, got := s.play(t)
		seen[d.describes(t, s, r, got)] = true
	}
	for route, operation := range d.operations() {
		for status := range d.object(operation, "responses") {
			assert.True(t, seen[route+" "+status], "no scenario has %s answer %s", route, status)
		}
	}
}

// describes checks the reply of a scenario against its description, and returns its
// route and status.
func (d document) describes(t *testing.T, s scenario, r *http.Request, got *reply) string {
	t.Helper()
	route := d.routeOf(orText(s.mount, "/api/v1")+r.URL.Path, r.Method)
	if route == "" {
		assert.Equal(t, http.StatusNotFound, got.status, s.name)
		return ""
	}
	status := strconv.Itoa(got.status)
	response := d.object(d.operations()[route], "responses", status)
	require.NotNil(t, response, "%s may answer %s (%s)", route, status, s.name)
	schema := d.object(response, "content", "application/json", "schema")
	require.NotNil(t, schema, "%s %s", route, status)
	var body any
	require.NoError(t, json.Unmarshal(got.body, &body))
	assert.Empty(t, d.check(schema, body, "$"), "%s %s (%s): %s", route, status, s.name, got.body)
	d.checkHeaders(t, response, got.header, route+" "+status+" ("+s.name+")")
	return route + " " + status
}

// checkHeaders checks the headers of a reply. Required headers must be present. A
// present header must be documented and match its schema. Headers that the introduction
// documents for all replies are not repeated at each reply.
func (d document) checkHeaders(t *testing.T, response map[string]any, got http.Header, of string) {
	t.Helper()
	known := map[string]bool{"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Vary": true}
	for name := range d.object(response, "headers") {
		header := d.object(response, "headers", name)
		known[http.CanonicalHeaderKey(name)] = true
		text := got.Get(name)
		if text == "" {
			assert.NotEqual(t, true, header["required"], "%s: %s", of, name)
			continue
		}
		var value any = text
		if number, err := strconv.ParseFloat(text, 64); err == nil && d.object(header, "schema")["type"] == "integer" {
			value = number
		}
		assert.Empty(t, d.check(d.object(header, "schema"), value, name), of)
	}
	for name := range got {
		assert.True(t, known[name], "%s: %s is not documented", of, name)
	}
}

// TestOpenAPIArraysSayWhatTheyHold: generators of clients refuse an array without
// items.
func TestOpenAPIArraysSayWhatTheyHold(t *testing.T) {
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			if slices.Contains(texts(v["type"]), "array") {
				assert.Contains(t, v, "items", path)
			}
			for name, inner := range v {
				walk(inner, path+"."+name)
			}
		case []any:
			for i, inner := range v {
				walk(inner, path+"."+strconv.Itoa(i))
			}
		}
	}
	walk(openAPI(t).root, "$")
}

// routeOf returns the documented route of a path. An undocumented method belongs to
// another method of the path, which describes the 405.
func (d document) routeOf(path, method string) string {
	paths := slices.Sorted(maps.Keys(d.object(d.root, "paths")))
	for _, p := range paths {
		pattern := regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(p), `[^/]+`)
		if !regexp.MustCompile("^" + pattern + "$").MatchString(path) {
			continue
		}
		if methods := d.object(d.root, "paths", p); methods[strings.ToLower(method)] == nil {
			method = strings.ToUpper(slices.Sorted(maps.Keys(methods))[0])
		}
		return method + " " + p
	}
	return ""
}

func TestOpenAPIRequestsAreAccepted(t *testing.T) {
	d, g := openAPI(t), newRig(t)
	for route, bodies := range map[string][]string{
		"/api/v1/systemone": requests, "/v1/systemone": requests,
		"/api/v1/decisions": decisionRequests(), "/v1/decisions": decisionRequests(),
	} {
		schema := d.object(d.root, "paths", route, "post", "requestBody", "content", "application/json", "schema")
		mount, path := route[:strings.LastIndex(route, "/")], route[strings.LastIndex(route, "/"):]
		for _, body := range bodies {
			var v any
			require.NoError(t, json.Unmarshal([]byte(body), &v))
			documented := d.check(schema, v, "$") == nil
			w := g.serve(t, g.mounted(mount), g.request(t, http.MethodPost, path, body, "inference"))
			accepted := w.Code != http.StatusBadRequest || strings.HasSuffix(fmt.Sprint(at(t, w.Body.Bytes(), "error.message")), "is not a valid model ID")
			assert.Equal(t, accepted, documented, "%s %s: %v, %s", route, body, d.check(schema, v, "$"), w.Body)
		}
	}
}

// requests are accepted and refused bodies in both dialects. The document and the
// handler must agree on each.
var requests = func() []string {
	list := []string{
		sound,
		`{"questions":{}}`,
		`{"model":"acme/judge","state":"x","questions":{}}`,
		`{"model":"acme/judge","questions":{"a":{"type":"noul","instructions":"x"}}}`,
		`{"state":"x","questions":{"a":{"type":"noul","instructions":"x"}}}`,
		`{"models":["acme/judge"],"state":"x","questions":{"a":{"type":"noul","instructions":"x"}}}`,
		strings.Replace(sound, `"acme/judge"`, `3`, 1),
	}
	for _, state := range []string{`null`, `3`, `true`, `{}`, `[]`, `""`, `[{"type":"text","text":"x"}]`} {
		list = append(list, strings.Replace(sound, `"Paid twice for May"`, state, 1))
	}
	for _, question := range []string{
		`{"type":"noul"}`, `{"type":"noul","instructions":null}`, `{"type":"noul","instructions":4}`, `{"type":"odd","instructions":"x"}`,
		`{"instructions":"x"}`, `{"type":"noul","instructions":{"a":1}}`, `{"type":"noul","instructions":[]}`,
		`{"type":"noul","instructions":"x","criteria":{"true":"a","false":"b"}}`, `{"type":"noul","instructions":"x","criteria":{"true":"a"}}`,
		`{"type":"noul","instructions":"x","criteria":{"true":"a","false":null}}`, `{"type":"noul","instructions":"x","criteria":null}`,
		`{"type":"choice","instructions":"x","criteria":{}}`, `{"type":"choice","instructions":"x"}`,
		`{"type":"choice","instructions":"x","criteria":{"a":null,"b":{},"c":[]}}`, `{"type":"choice","instructions":"x","criteria":{"a":1}}`,
		`{"type":"score","instructions":"x","criteria":[]}`, `{"type":"score","instructions":"x","criteria":["a"]}`,
		`{"type":"score","instructions":"x","criteria":["a",null]}`, `{"type":"score","instructions":"x"}`,
	} {
		list = append(list, `{"model":"acme/judge","state":"x","questions":{"a":`+question+`}}`)
	}
	for _, member := range []string{
		`"user":"u"`, `"user":3`, `"user":null`, `"session_id":"s"`, `"session_id":{}`, `"trace":{"trace_id":"x","own":1}`, `"trace":{"trace_id":1}`,
		`"trace":[]`, `"trace":null`, `"models":[]`, `"models":[1]`, `"models":null`, `"models":[""]`, `"session_id":null`, `"preset":null`, `"preset":""`, `"trace":{"trace_id":null}`, `"provider":null`, `"provider":{}`, `"provider":[]`,
		`"user":"` + strings.Repeat("u", 257) + `"`, `"session_id":"` + strings.Repeat("é", 256) + `"`, `"session_id":"` + strings.Repeat("é", 257) + `"`,
	} {
		list = append(list, with(member))
	}
	for _, when := range []string{
		`{}`, `null`, `[]`, `{"confidenceBelow":0.6}`, `{"confidenceBelow":1.1}`, `{"confidenceBelow":"0.6"}`, `{"question":"desk","confidenceBelow":0}`,
		`{"question":"refund","probabilityBetween":[0.4,0.6]}`, `{"probabilityBetween":[0.4]}`, `{"probabilityBetween":[0,0.4,1]}`, `{"probabilityBetween":[0,2]}`,
		`{"confidenceBelow":0.6,"probabilityBetween":[0,1]}`, `{"question":"","confidenceBelow":0.6}`, `{"calibration":"c","confidenceBelow":0.6}`, `{"calibration":"c"}`,
		`{"any":[]}`, `{"any":[{"confidenceBelow":0.6},{"all":[{"probabilityBetween":[0,1]}]}]}`, `{"any":[{"calibration":"c","confidenceBelow":0.6}]}`, `{"some":[]}`,
		`{"atLeast":{"count":1,"conditions":[{"confidenceBelow":0.6}]}}`, `{"atLeast":{"count":0,"conditions":[{"confidenceBelow":0.6}]}}`, `{"atLeast":{"count":1}}`,
		`{"all":[` + strings.TrimSuffix(strings.Repeat(`{"confidenceBelow":0.6},`, 20), ",") + `]}`, `{"all":[` + strings.TrimSuffix(strings.Repeat(`{"confidenceBelow":0.6},`, 21), ",") + `]}`,
	} {
		list = append(list, with(`"models":["acme/judge-mini",{"model":"acme/judge","when":`+when+`}]`), with(`"providerOptions":{"gateway":{"models":[{"model":"acme/judge","when":`+when+`}]}}`))
	}
	for _, entry := range []string{
		`{}`, `{"model":""}`, `{"model":"acme/judge"}`, `{"model":"acme/judge","shop_refusals":true}`, `{"model":"acme/judge","own":1}`,
		`{"model":"acme/judge","when":{"confidenceBelow":0.6},"scope":"all","required":true}`, `{"model":"acme/judge","when":{"confidenceBelow":0.6},"scope":"some"}`,
		`{"model":"acme/judge","when":{"confidenceBelow":0.6},"required":"x"}`, `{"model":"acme/judge","scope":null,"required":null,"shop_refusals":null}`,
	} {
		list = append(list, with(`"models":[`+entry+`]`))
	}
	for _, member := range []string{
		`"routing":null`, `"routing":{}`, `"routing":[]`, `"routing":{"maxCost":1}`, `"routing":{"max_cost":"0.05","deadline_ms":2000,"split":"never","remember":"off"}`,
		`"routing":{"max_cost":-1}`, `"routing":{"max_cost":1e10}`, `"routing":{"max_cost":null,"deadline_ms":null,"split":null,"remember":null}`, `"routing":{"deadline_ms":0}`,
		`"routing":{"deadline_ms":600001}`, `"routing":{"deadline_ms":1.5}`, `"routing":{"split":"always"}`, `"routing":{"remember":"both"}`,
		`"providerOptions":null`, `"providerOptions":[]`, `"providerOptions":{"ant":1}`, `"providerOptions":{"gateway":null}`, `"providerOptions":{"gateway":1}`,
		`"providerOptions":{"gateway":{"only":["ant"],"order":["ant"],"sort":"cost","zeroDataRetention":false,"user":"u","tags":["t"],"own":1}}`,
		`"providerOptions":{"gateway":{"only":[]}}`, `"providerOptions":{"gateway":{"only":[""]}}`, `"providerOptions":{"gateway":{"sort":"price"}}`,
		`"providerOptions":{"gateway":{"disallowPromptTraining":true}}`, `"providerOptions":{"gateway":{"disallowPromptTraining":false,"hipaaCompliant":null}}`,
		`"providerOptions":{"gateway":{"hipaaCompliant":true}}`, `"providerOptions":{"gateway":{"inferenceRegion":"eu"}}`, `"providerOptions":{"gateway":{"byok":{}}}`,
		`"providerOptions":{"gateway":{"models":null,"only":null,"order":[],"sort":null,"zeroDataRetention":null,"user":null}}`, `"providerOptions":{"gateway":{"models":"acme/judge"}}`,
	} {
		list = append(list, with(member))
	}
	for _, preference := range []string{
		`"orderr":[]`, `"order":[]`, `"order":["ant"]`, `"order":[1]`, `"order":"ant"`, `"only":[]`, `"only":["ant"]`, `"only":null`, `"ignore":[]`,
		`"allow_fallbacks":false`, `"allow_fallbacks":"no"`, `"data_collection":"deny"`, `"data_collection":"maybe"`, `"data_collection":null`,
		`"enforce_distillable_text":false`, `"enforce_distillable_text":1`, `"zdr":false`, `"zdr":"x"`, `"require_parameters":true`,
		`"sort":"price"`, `"sort":"cheap"`, `"sort":null`, `"sort":{}`, `"sort":{"by":"latency","partition":"none"}`, `"sort":{"by":null}`, `"sort":{"x":1}`, `"sort":{"by":"x"}`,
		`"max_price":{"prompt":"5"}`, `"max_price":{"prompt":5.5,"request":null}`, `"max_price":{"prompts":"1"}`, `"max_price":{"prompt":-1}`, `"max_price":null`, `"max_price":{"prompt":[]}`,
		`"quantizations":["fp8","unknown"]`, `"quantizations":["FP8"]`, `"quantizations":[]`, `"quantizations":null`,
		`"preferred_max_latency":1.5`, `"preferred_max_latency":-1`, `"preferred_max_latency":{"p50":1,"p99":null}`, `"preferred_max_latency":{"p95":1}`, `"preferred_max_latency":"x"`,
		`"preferred_min_throughput":{"p75":10}`, `"preferred_min_throughput":null`,
		`"options":{"ant":{"a":1}}`, `"options":{"ant":3}`, `"options":{}`, `"options":null`, `"options":[]`, `"options":{"ant":null}`,
	} {
		list = append(list, with(`"provider":{`+preference+`}`))
	}
	return list
}()
