package systemonehttp_test

import (
	"net/http"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// TestConformance runs the public suite with every profile, and with the
// http.Transport that the client uses for encrypted upstreams.
func TestConformance(t *testing.T) {
	for _, p := range systemonehttp.Profiles() {
		t.Run(p.Name, func(t *testing.T) { conforms(t, p, func() http.RoundTripper { return nil }) })
	}
	t.Run("transport", func(t *testing.T) {
		conforms(t, systemonehttp.Profiles()[0], func() http.RoundTripper { return upstream.NewTransport() })
	})
}

func conforms(t *testing.T, p systemonehttp.Profile, transport func() http.RoundTripper) {
	t.Helper()
	routertest.Run(t, routertest.Wire{
		New: func(t *testing.T, base string, key router.Secret) router.Provider {
			t.Helper()
			c, err := systemonehttp.New(systemonehttp.Config{
				BaseURL: base, APIKey: key, Profile: p, MaxReplyBytes: 1 << 20, HTTP: &http.Client{Transport: transport()},
			})
			require.NoError(t, err)
			return c
		},
		Encode:         func(a router.Attempt, want router.Reply) []byte { return encode(p, a, want) },
		Model:          "@cf/acme/judge-1",
		Tolerance:      p.Tolerance,
		NoNulls:        p.Limits.NoNulls,
		SilenceRefuses: p.SilenceRefuses,
		TooLarge:       2 << 20,
	})
}

// encode plays an upstream of a profile.
func encode(p systemonehttp.Profile, a router.Attempt, want router.Reply) []byte {
	r := systemone.Response{Model: "judge-1-20260901", Answers: slices.Clone(want.Answers), Usage: want.Usage}
	renamed := p.PlainNames > 0 && slices.ContainsFunc(a.Request.Questions, func(q systemone.Question) bool {
		return !plain(q.Name, p.PlainNames)
	})
	if p.NoSoleOption {
		r.Answers = slices.DeleteFunc(r.Answers, func(answer systemone.Answer) bool {
			return slices.ContainsFunc(a.Request.Questions, func(q systemone.Question) bool {
				return q.Name == answer.Name && len(q.Options)+len(q.Levels) == 1
			})
		})
	}
	for i, answer := range r.Answers {
		at := slices.IndexFunc(a.Request.Questions, func(q systemone.Question) bool { return q.Name == answer.Name })
		if renamed && at >= 0 {
			r.Answers[i].Name = "q" + strconv.Itoa(at)
		}
	}
	body := r.AppendJSON(nil)
	if p.Envelope.Result != "" {
		body = slices.Concat([]byte(`{"result":`), body, []byte(`,"success":true,"errors":[],"messages":[]}`))
	}
	return body
}

func plain(name string, longest int) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return len(name) <= longest
}
