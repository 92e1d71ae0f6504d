package router_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// parts are the arguments of NewCatalog, to be broken one at a time.
type parts struct {
	models    []router.Model
	providers []router.ProviderInfo
	endpoints []router.Endpoint
}

func sound() parts {
	return parts{
		models:    caseModels(),
		providers: caseProviders(),
		endpoints: []router.Endpoint{
			{Provider: "ant", Model: "acme/judge"},
			{Provider: "ant", Variant: "eu", Model: "acme/judge"},
			{Provider: "bee", Model: "ACME/Judge-Mini", UpstreamModel: "mini", Quantization: "fp8", Group: "openai"},
		},
	}
}

func (p parts) catalog() (*router.Catalog, error) {
	return router.NewCatalog(p.models, p.providers, p.endpoints)
}

func TestNewCatalogRefuses(t *testing.T) {
	for want, breakIt := range map[string]func(p *parts){
		`models[1]: ID "judge" is not of the form author/name`:   func(p *parts) { p.models[1].ID = "judge" },
		`models[1]: Permaslug "" is not of the form author/name`: func(p *parts) { p.models[1].Permaslug = "" },
		`models[0]: ID "acme/judge:free" is not of the form author/name`: func(p *parts) {
			p.models[0].ID = "acme/judge:free"
		},
		`models[0]: ID "acme/a/b" is not of the form author/name`: func(p *parts) { p.models[0].ID = "acme/a/b" },
		`models[0]: the dated id "zeta/judge-1" is not of the author of acme/judge`: func(p *parts) {
			p.models[0].Permaslug = "zeta/judge-1"
		},
		`models[1]: "ACME/judge" names acme/judge already`: func(p *parts) { p.models[1].ID = "ACME/judge" },
		`models[1]: "acme/judge-20260901" names acme/judge already`: func(p *parts) {
			p.models[1].Permaslug = "acme/judge-20260901"
		},
		`models[1]: "acme/Judge-Latest" names acme/judge already`: func(p *parts) { p.models[1].Aliases = []string{"Judge-Latest"} },
		`models[2]: "judge-latest" names acme/judge already`:      func(p *parts) { p.models[2].Aliases = []string{"judge-latest"} },
		`models[1]: "acme/judge" names acme/judge already`:        func(p *parts) { p.models[1].Aliases = []string{"judge"} },
		`models[0]: acme/judge: "acme/x" is not an alias: it must be a bare name`: func(p *parts) {
			p.models[0].Aliases = []string{"acme/x"}
		},
		`models[0]: acme/judge: "" is not an alias: it must be a bare name`: func(p *parts) { p.models[0].Aliases = []string{""} },
		`models[0]: acme/judge: negative context length`:                    func(p *parts) { p.models[0].ContextLength = -1 },

		`providers[0]: "" is not a slug: lower-case letters, digits and ._- between them`: func(p *parts) { p.providers[0].Slug = "" },
		`providers[1]: "Bee" is not a slug: lower-case letters, digits and ._- between them`: func(p *parts) {
			p.providers[1].Slug = "Bee"
		},
		`providers[1]: "bee/eu" is not a slug: lower-case letters, digits and ._- between them`: func(p *parts) {
			p.providers[1].Slug = "bee/eu"
		},
		`providers[1]: "-bee" is not a slug: lower-case letters, digits and ._- between them`: func(p *parts) {
			p.providers[1].Slug = "-bee"
		},
		`providers[1]: a second provider ant`:                       func(p *parts) { p.providers[1].Slug = "ant" },
		`providers[1]: bee has the display name "ANT cloud" of ant`: func(p *parts) { p.providers[1].Name = "ANT cloud" },

		`endpoints[0]: unknown provider "Ant Cloud"`:                 func(p *parts) { p.endpoints[0].Provider = "Ant Cloud" },
		`endpoints[0]: unknown provider ""`:                          func(p *parts) { p.endpoints[0].Provider = "" },
		`endpoints[1]: ant/eu: unknown model "judge"`:                func(p *parts) { p.endpoints[1].Model = "judge" },
		`endpoints[1]: ant/eu: unknown model "judge-latest"`:         func(p *parts) { p.endpoints[1].Model = "judge-latest" },
		`endpoints[1]: ant acme/judge is endpoints[0] already`:       func(p *parts) { p.endpoints[1].Variant = "" },
		`endpoints[1]: ant/eu acme/judge has the id of endpoints[0]`: sameIDs,
		`endpoints[0]: ant of acme/judge: negative price`:            func(p *parts) { p.endpoints[0].Pricing.Request = router.Dollars("-0.1") },
		`endpoints[0]: ant of acme/judge: prompt price: not an amount of money: "0,042"`: func(p *parts) {
			p.endpoints[0].Pricing.Prompt = router.Dollars("0,042")
		},
		`endpoints[0]: ant of acme/judge: completion price: not an amount of money: "0.0000000001" has more than nine decimals`: func(p *parts) {
			p.endpoints[0].Pricing.Completion = router.Dollars("0.0000000001")
		},
		`endpoints[0]: ant of acme/judge: request price: not an amount of money: ""`: func(p *parts) {
			p.endpoints[0].Pricing.Request = router.Dollars("")
		},
		`endpoints[0]: ant of acme/judge: unknown quantization "FP8"`: func(p *parts) { p.endpoints[0].Quantization = "FP8" },
		`endpoints[0]: ant of acme/judge: unknown group "acme"`:       func(p *parts) { p.endpoints[0].Group = "acme" },
		`endpoints[0]: ant of acme/judge: unknown parameter "seed"`:   func(p *parts) { p.endpoints[0].Parameters = []string{"seed"} },
		`endpoints[0]: ant of acme/judge: negative limit`:             func(p *parts) { p.endpoints[0].Limits.Concurrency = -1 },
		`endpoints[0]: ant of acme/judge: a rounding outside 0 to 1`:  func(p *parts) { p.endpoints[0].Tolerance.Rounding = 1 },
		`endpoints[0]: ant of acme/judge: its provider has no client`: func(p *parts) { p.providers[0].Client = nil },
		`endpoints[0]: ant/e u of acme/judge: "e u" is not a variant: lower-case letters, digits and ._- between them`: func(p *parts) {
			p.endpoints[0].Variant = "e u"
		},
		`endpoints[0]: ant of acme/judge: zero retention and collecting data exclude each other`: func(p *parts) {
			p.endpoints[0].ZDR, p.endpoints[0].CollectsData = true, true
		},
	} {
		t.Run(want, func(t *testing.T) {
			p := sound()
			_, err := p.catalog()
			require.NoError(t, err)
			breakIt(&p)
			_, err = p.catalog()
			require.ErrorIs(t, err, router.ErrConfig)
			assert.EqualError(t, err, "router: invalid configuration: "+want)
		})
	}
}

func sameIDs(p *parts) {
	p.endpoints[0].ID = uuid.MustParse("0191f2f4-0000-7000-8000-000000000001")
	p.endpoints[1].ID = p.endpoints[0].ID
}

func TestNewCatalogFillsIn(t *testing.T) {
	p := sound()
	p.providers[5].Name = ""
	p.providers[4].Client = nil // it has no endpoint
	p.endpoints = append(p.endpoints, router.Endpoint{Provider: "fox", Model: "zeta/arbiter", Off: true})
	p.providers[5].Client = nil // its only endpoint is off
	c, err := p.catalog()
	require.NoError(t, err)

	assert.Equal(t, "acme/judge", c.Model("judge-latest").Name)
	assert.Equal(t, "fox", c.Provider("FOX").Name)
	mini := c.Endpoints()[2]
	assert.Equal(t, "acme/judge-mini", mini.Model, "the model's id as the model writes it")
	assert.Equal(t, "mini", mini.UpstreamModel)
	assert.Equal(t, "acme/judge", c.Endpoints()[0].UpstreamModel)
	// Stored activity refers to these ids: they must never change.
	assert.Equal(t, "f748d374-209f-5c99-bb2f-840ada804ba8", c.Endpoints()[0].ID.String())
	assert.Equal(t, "f6c69d3b-fba1-5b29-bdca-756e63c8c5f4", c.Endpoints()[1].ID.String())
}

func TestCatalogLooksUp(t *testing.T) {
	p := sound()
	p.endpoints[0], p.endpoints[1] = p.endpoints[1], p.endpoints[0]
	c, err := p.catalog()
	require.NoError(t, err)

	assert.Equal(t, "acme/judge-mini", c.Model("judge-mini-20260715").ID)
	assert.Nil(t, c.Model("nope"))
	assert.Nil(t, c.Model("judge:floor"), "no suffixes here")
	assert.Equal(t, "acme", c.Model("judge").Author())
	assert.Equal(t, "Ant Cloud", c.Provider("ant").Name)
	assert.Nil(t, c.Provider("Ant Cloud"), "only slugs here")
	assert.Len(t, c.Models(), 3)
	assert.Len(t, c.Providers(), 6)

	var tags []string
	for _, e := range c.EndpointsOf(c.Model("judge")) {
		tags = append(tags, e.Tag())
	}
	assert.Equal(t, []string{"ant", "ant/eu"}, tags)
	assert.Equal(t, "ant/eu", c.Endpoints()[0].Tag(), "as given")
	assert.Empty(t, c.EndpointsOf(c.Model("arbiter")))
	assert.Nil(t, c.EndpointsOf(&router.Model{ID: "acme/judge"}), "a model of another catalog")
}

// Changing the arguments of NewCatalog does not change the catalog.
func TestCatalogCopies(t *testing.T) {
	p := sound()
	p.endpoints[0].Parameters = []string{"user"}
	c, err := p.catalog()
	require.NoError(t, err)
	p.models[0].Aliases[0] = "changed"
	p.models[0].ID = "changed/too"
	p.endpoints[0].Parameters[0] = "changed"
	p.endpoints[0].Provider = "changed"
	clear(c.Models())
	clear(c.Endpoints())
	clear(c.Providers())

	assert.Equal(t, []string{"judge-latest"}, c.Model("acme/judge").Aliases)
	assert.Equal(t, []string{"user"}, c.Endpoints()[0].Parameters)
	assert.Equal(t, "ant", c.Endpoints()[0].Provider)
	assert.NotNil(t, c.Models()[0])
	assert.NotNil(t, c.Providers()[0])
}

// R28: a provider's slug wins over another provider's display name.
func TestSlugBeatsDisplayName(t *testing.T) {
	p := sound()
	p.providers[0].Name = "Bee"
	p.providers[1].Name = "Ant"
	c, err := p.catalog()
	require.NoError(t, err)
	refs, err := c.Resolve("judge", "judge-mini")
	require.NoError(t, err)
	plan := router.NewPlan(router.PlanInput{Catalog: c, Models: refs, Preferences: &systemone.Preferences{Only: []string{"BEE"}}})
	assert.Equal(t, []string{"bee:N"}, candidates(plan, 2))
}

func TestResolveSuffixes(t *testing.T) {
	c, err := sound().catalog()
	require.NoError(t, err)
	refs, err := c.Resolve("judge:floor", "judge-latest:nitro", "~acme/judge-mini-latest:ExActo", "arbiter")
	require.NoError(t, err)
	assert.Equal(t, []router.ModelRef{
		{Model: c.Model("judge"), Sort: systemone.SortPrice}, // of two names the first counts
		{Model: c.Model("judge-mini"), Sort: systemone.SortExacto},
		{Model: c.Model("arbiter")},
	}, refs)
}

func TestResolveNamesEveryWrongModel(t *testing.T) {
	p := sound()
	p.models = append(p.models, router.Model{ID: "other/judge", Permaslug: "other/judge-1"})
	c, err := p.catalog()
	require.NoError(t, err)
	_, err = c.Resolve("judge", "acme/judge", "nope", "JUDGE:floor")
	assert.Equal(t, &router.Error{
		Class:   router.InvalidRequest,
		Message: "judge is not a valid model ID",
		Issues: []systemone.Issue{
			{Path: "model", Message: "judge could be acme/judge or other/judge"},
			{Path: "models.1", Message: "nope is not a valid model ID"},
			{Path: "models.2", Message: "JUDGE:floor could be acme/judge or other/judge"},
		},
	}, err)
	_, err = c.Resolve("", "nope")
	assert.Equal(t, []systemone.Issue{{Path: "models.0", Message: "nope is not a valid model ID"}}, fault(t, err).Issues)
	_, err = c.Resolve("nope", slices.Repeat([]string{"a"}, 600_000)...)
	assert.Len(t, fault(t, err).Issues, 100, "no refusal grows with the request")
}

func FuzzResolve(f *testing.F) {
	for _, name := range []string{"judge", "~acme/judge-latest:floor", "ACME/Judge-20260901", "judge:", "acme/", "\u212Audge", "ſ", "\xff", strings.Repeat("a", 300)} {
		f.Add(name, "judge")
	}
	c, err := sound().catalog()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, a, b string) {
		refs, err := c.Resolve(a, b)
		if err != nil {
			refused, ok := err.(*router.Error) //nolint:errorlint // promised as it is
			require.True(t, ok)
			require.Equal(t, router.InvalidRequest, refused.Class)
			named, ok := strings.CutSuffix(refused.Message, " is not a valid model ID")
			require.True(t, ok)
			if cut, ok := strings.CutSuffix(named, "…"); ok && len(a)+len(b) > 256 { // a long name is not repeated whole
				require.LessOrEqual(t, len(cut), 256)
			} else {
				require.True(t, named == a || named == b)
			}
			require.NotEmpty(t, refused.Issues)
			return
		}
		require.NotEmpty(t, refs)
		require.LessOrEqual(t, len(refs), 2)
		for _, ref := range refs {
			require.True(t, slices.Contains(c.Models(), ref.Model))
		}
	})
}
