package routertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// failure requires an error in the form that a provider must return: an
// [*router.UpstreamError] of a class that attempts have, with neither secrets nor
// foreign text.
func failure(t *testing.T, err error) *router.UpstreamError {
	t.Helper()
	require.Error(t, err, "a failed attempt, and one whose context has ended, returns an error")
	failed, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok, "every failure is a *router.UpstreamError, not a %T", err)
	assert.Contains(t, []router.Class{
		"", router.InvalidRequest, router.PayloadTooLarge, router.RateLimitExceeded, router.ProviderUnavailable,
		router.NoCapacity, router.Timeout, router.ProviderOverloaded,
	}, failed.Class, "a class that attempts have")
	assert.GreaterOrEqual(t, failed.RetryAfter, time.Duration(0))
	keepsSecrets(t, err)
	return failed
}

// keepsSecrets checks every way in which an error can be printed.
func keepsSecrets(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
			for _, secret := range []string{secretKey, secretOwn, secretState, secretReply, secretOptions} {
				assert.NotContains(t, text, secret, "an error must hold no secret and no text of the upstream")
			}
		}
	}
}

// unavailable requires the class of failures that have no class of their own.
func unavailable(t *testing.T, failed *router.UpstreamError) {
	t.Helper()
	if failed.Class != "" {
		assert.Equal(t, router.ProviderUnavailable, failed.Class)
	}
}

// acceptable reports whether a reply would pass the router: every question is
// answered or refused, and the answers pass the check.
func acceptable(r *systemone.Request, reply router.Reply, t systemone.Tolerance) error {
	refused := make(map[string]bool, len(reply.Refused))
	for _, r := range reply.Refused {
		refused[r.Question] = true
	}
	asked := *r
	asked.Questions = nil
	for _, q := range r.Questions {
		if !refused[q.Name] {
			asked.Questions = append(asked.Questions, q)
		}
	}
	if len(asked.Questions)+len(refused) != len(r.Questions) {
		return errors.New("routertest: a question was refused that was not asked")
	}
	return systemone.Check(&asked, reply.Answers, t)
}
