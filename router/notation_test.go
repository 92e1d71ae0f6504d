package router_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// A parser of the notation of testdata/routing-cases.txt, which its header explains.

// routingCase is one line.
type routingCase struct {
	name, catalog, state, outcome string
	requests                      []string
}

func readCases(t *testing.T) (cases []routingCase, named map[string]string) {
	t.Helper()
	file, err := os.Open("testdata/routing-cases.txt")
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	named = map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if name, endpoints, ok := strings.Cut(line, " = "); ok && !strings.Contains(line, " | ") {
			named[name] = endpoints
			continue
		}
		cells := strings.Split(line, " | ")
		require.Len(t, cells, 5, line)
		cases = append(cases, routingCase{
			name: cells[0], catalog: cells[1], state: cells[2],
			requests: strings.Split(cells[3], " · "), outcome: cells[4],
		})
	}
	return cases, named
}

// nobody is a provider that is never called.
type nobody struct{}

func (nobody) Decide(context.Context, router.Attempt) (router.Reply, error) {
	return router.Reply{}, errors.New("a plan calls no provider")
}

func caseModels() []router.Model {
	return []router.Model{
		{ID: "acme/judge", Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}},
		{ID: "acme/judge-mini", Permaslug: "acme/judge-mini-20260715", Aliases: []string{"judge-mini-latest"}, Distillable: true},
		{ID: "zeta/arbiter", Permaslug: "zeta/arbiter-20260601"},
	}
}

func modelID(short string) string {
	switch short {
	case "M":
		return "acme/judge"
	case "N":
		return "acme/judge-mini"
	case "Z":
		return "zeta/arbiter"
	}
	return short
}

func caseProviders() []router.ProviderInfo {
	var list []router.ProviderInfo
	for _, p := range [][2]string{
		{"ant", "Ant Cloud"}, {"bee", "Bee"}, {"cat", "Cat Labs"}, {"dog", "Dog"}, {"elk", "Elk"}, {"fox", "Fox"},
	} {
		list = append(list, router.ProviderInfo{Slug: p[0], Name: p[1], Client: nobody{}})
	}
	return list
}

// world is a catalog with its statistics.
type world struct {
	endpoints []router.Endpoint
	stats     []router.Stats
}

func parseWorld(t *testing.T, cell string, named map[string]string) world {
	t.Helper()
	base, changes, changed := strings.Cut(cell, " + ")
	if list, ok := named[base]; ok {
		base = list
	} else if changed {
		t.Fatalf("%q is no named catalog", base)
	}
	var w world
	for text := range strings.SplitSeq(base, ";") {
		fields := strings.Fields(text)
		place, model, _ := strings.Cut(fields[0], ":")
		provider, variant, _ := strings.Cut(place, "/")
		w.endpoints = append(w.endpoints, router.Endpoint{
			Provider: provider, Variant: variant, Model: modelID(model),
			Pricing: parsePricing(t, fields[1]), Parameters: []string{"user"},
		})
		w.stats = append(w.stats, router.Stats{})
		for _, flag := range fields[2:] {
			w.flag(t, len(w.endpoints)-1, flag)
		}
	}
	if changed {
		for text := range strings.SplitSeq(changes, ", ") {
			fields := strings.Fields(text)
			w.flag(t, w.find(t, fields[0]), fields[1])
		}
	}
	return w
}

// find returns the one endpoint of a short name such as bee or bee:M.
func (w world) find(t *testing.T, short string) int {
	t.Helper()
	place, model, _ := strings.Cut(short, ":")
	found := -1
	for i, e := range w.endpoints {
		if e.Tag() == place && (model == "" || e.Model == modelID(model)) {
			require.Negative(t, found, "%s is ambiguous", short)
			found = i
		}
	}
	require.GreaterOrEqual(t, found, 0, "no endpoint %s", short)
	return found
}

func parsePricing(t *testing.T, text string) router.Pricing {
	t.Helper()
	text, request, _ := strings.Cut(text, "+")
	prompt, completion, _ := strings.Cut(text, "/")
	return router.Pricing{Prompt: parseUSD(t, prompt).Price(), Completion: parseUSD(t, completion).Price(), Request: parseUSD(t, request).Price()}
}

func parseUSD(t *testing.T, text string) router.USD {
	t.Helper()
	if text == "" {
		return 0
	}
	usd, err := router.ParseUSD(text)
	require.NoError(t, err)
	return usd
}

func (w world) flag(t *testing.T, i int, flag string) {
	t.Helper()
	e, s := &w.endpoints[i], &w.stats[i]
	name, value, _ := strings.Cut(strings.ReplaceAll(flag, "≤", "="), "=")
	switch name {
	case "col":
		e.CollectsData = true
	case "zdr":
		e.ZDR = true
	case "grp":
		e.Group = value
	case "q":
		e.Quantization = value
	case "par":
		e.Parameters = strings.Fields(value)
	case "lat":
		s.Latency = parsePercentiles(t, value)
	case "thr":
		s.Throughput = parsePercentiles(t, value)
	case "exa":
		passed, checked, _ := strings.Cut(value, "/")
		s.Passed, s.Checked = int64(number(t, passed)), int64(number(t, checked))
	case "outage":
		s.Outage = true
	case "off":
		e.Off = true
	case "last":
		e.LastResort = true
	case "opt":
		e.Limits.Options = number(t, value)
	case "que":
		e.Limits.Questions = number(t, value)
	case "lev":
		e.Limits.Levels = number(t, value)
	case "ctx":
		e.ContextLength = number(t, value)
	case "nonull":
		e.Limits.NoNulls = true
	default:
		t.Fatalf("unknown flag %q", flag)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func parsePercentiles(t *testing.T, text string) router.Percentiles {
	t.Helper()
	var v []float64
	for part := range strings.SplitSeq(text, "/") {
		f, err := strconv.ParseFloat(part, 64)
		require.NoError(t, err)
		v = append(v, f)
	}
	if len(v) == 1 {
		v = slices.Repeat(v, 4)
	}
	require.Len(t, v, 4)
	return router.Percentiles{Known: true, P50: v[0], P75: v[1], P90: v[2], P99: v[3]}
}

// parseState reads the rules, the pinned endpoints and the caller's own
// credentials.
func parseState(t *testing.T, cell string) (rules []router.Rule, pins []string, owned []router.Credential) {
	t.Helper()
	if cell == "–" {
		return nil, nil, nil
	}
	for text := range strings.SplitSeq(cell, "; ") {
		words := strings.Fields(strings.Replace(text, " guardrail ", " ", 1))
		switch words[0] {
		case "pin":
			pins = append(pins, words[1])
			continue
		case "own":
			owned = append(owned, parseOwn(t, words[1:]))
			continue
		}
		var rule router.Rule
		require.NoError(t, rule.Source.UnmarshalText([]byte(words[0])))
		list := strings.Split(strings.Join(words[2:], " "), ", ")
		switch words[1] {
		case "allowed_models":
			rule.AllowedModels = list
		case "ignored_models":
			rule.IgnoredModels = list
		case "allows", "allowed_providers":
			rule.AllowedProviders = list
		case "ignores", "ignored_providers":
			rule.IgnoredProviders = list
		case "zdr":
			rule.ZDR = true
		case "sort":
			rule.Sort = systemone.SortBy(words[2])
		case "enable_paid_model_training":
			rule.NoPaidTraining = true
		case "enable_free_model_training", "enable_free_model_publication":
			rule.NoFreeTraining = true
		default:
			group, ok := strings.CutPrefix(words[1], "enforce_zdr_")
			require.True(t, ok, "unknown rule %q", text)
			rule.ZDRGroups = []string{group}
		}
		rules = append(rules, rule)
	}
	return rules, pins, owned
}

const ownSecret = "sk-own" // and the number where a case has one

// parseOwn reads "bee #3 fallback" or "bee for M,N".
func parseOwn(t *testing.T, words []string) router.Credential {
	t.Helper()
	c := router.Credential{Provider: words[0], Secret: ownSecret}
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case word[0] == '#':
			c.Secret += router.Secret(word)
		case word == "fallback":
			c.Fallback = true
		case word == "for":
			i++
			for name := range strings.SplitSeq(words[i], ",") {
				c.Models = append(c.Models, modelID(name))
			}
		default:
			t.Fatalf("unknown word %q of a credential", word)
		}
	}
	return c
}

// ask is a request as a case writes it.
type ask struct {
	models      []string
	shape       router.Shape
	preferences string
}

func parseAsk(t *testing.T, text string) ask {
	t.Helper()
	a := ask{
		models: []string{"M"},
		shape:  router.Shape{Questions: 2, Options: 2, Levels: 2, StateTokens: 2000, PromptTokens: 1000},
	}
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		in, isIn := strings.CutPrefix(word, "in=")
		out, isOut := strings.CutPrefix(word, "out=")
		switch {
		case word == "–" || word == "null" && i == len(words)-1 || word[0] == '{':
			a.preferences = strings.Join(words[i:], " ")
			return a
		case word == "models":
			i++
			a.models = strings.Split(words[i], ",")
		case word == "user":
			a.shape.Parameters = []string{"user"}
		case word == "null":
			a.shape.Nulls = true
		case isIn:
			a.shape.PromptTokens = int64(number(t, in))
		case isOut:
			a.shape.CompletionTokens = int64(number(t, out))
		case regexp.MustCompile(`^[0-9]+$`).MatchString(word):
			i++
			n := number(t, word)
			switch words[i] {
			case "questions":
				a.shape.Questions = n
			case "options":
				a.shape.Options = n
			case "levels":
				a.shape.Levels = n
			case "tokens":
				a.shape.StateTokens = int64(n)
			default:
				t.Fatalf("unknown shape %q", text)
			}
		default:
			a.models = []string{word}
		}
	}
	t.Fatalf("no preferences in %q", text)
	return a
}

// input builds the plan's input; err is the refusal of the preferences or of the
// model names.
func (c routingCase) input(t *testing.T, named map[string]string, request string) (in router.PlanInput, names []string, err error) {
	t.Helper()
	w := parseWorld(t, c.catalog, named)
	catalog, err := router.NewCatalog(caseModels(), caseProviders(), w.endpoints)
	require.NoError(t, err)
	a := parseAsk(t, request)
	in = router.PlanInput{Catalog: catalog, Shape: a.shape, Stats: w.stats}
	if a.preferences != "–" {
		if in.Preferences, err = systemone.DecodePreferences([]byte(a.preferences)); err != nil {
			return in, nil, err
		}
	}
	for _, short := range a.models {
		names = append(names, modelID(short))
	}
	if in.Models, err = catalog.Resolve("", names...); err != nil {
		return in, names, err
	}
	var pins []string
	in.Policy, pins, in.Credentials = parseState(t, c.state)
	in.Pinned = make([]uuid.UUID, len(in.Models))
	for _, pin := range pins {
		in.Pinned[0] = catalog.Endpoints()[w.find(t, pin)].ID
	}
	return in, names, nil
}

// outcome is what a case expects.
type outcome struct {
	status   int // 200, 400, 404 or 503
	words    []string
	alone    bool
	draw     []string // with their probabilities
	odds     []*big.Rat
	rest     []string
	excluded []string // "ant quantization"
}

func parseOutcome(t *testing.T, text string) outcome {
	t.Helper()
	parts := strings.Split(text, "✗ ")
	o := outcome{status: 200}
	for _, e := range parts[1:] {
		o.excluded = append(o.excluded, strings.TrimSpace(e))
	}
	plan := strings.TrimSpace(parts[0])
	if m := regexp.MustCompile(`^(400|404|503)(.*)$`).FindStringSubmatch(plan); m != nil {
		o.status = number(t, m[1])
		o.words = strings.Fields(strings.NewReplacer("[", "", "]", "", ",", "").Replace(m[2]))
		return o
	}
	plan, o.alone = strings.CutPrefix(plan, "alone ")
	if drawn, ok := strings.CutPrefix(plan, "{"); ok {
		drawn, plan, _ = strings.Cut(drawn, "}")
		plan = strings.TrimPrefix(plan, " > ")
		for one := range strings.SplitSeq(drawn, ", ") {
			name, odds, _ := strings.Cut(one, " ")
			p, ok := new(big.Rat).SetString(odds)
			require.True(t, ok, one)
			o.draw, o.odds = append(o.draw, name), append(o.odds, p)
		}
	}
	if plan != "" {
		o.rest = strings.Split(plan, " > ")
	}
	return o
}

// short returns an outcome's name for an endpoint: with its model only where the
// request has several.
func short(e *router.Endpoint, models int) string {
	if models == 1 {
		return e.Tag()
	}
	for _, s := range []string{"M", "N", "Z"} {
		if modelID(s) == e.Model {
			return e.Tag() + ":" + s
		}
	}
	return fmt.Sprintf("%s:%s", e.Tag(), e.Model)
}
