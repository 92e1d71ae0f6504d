package routertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

func question(name string) *systemone.Request {
	return &systemone.Request{State: systemone.Text("x"), Questions: []systemone.Question{
		{Name: name, Kind: systemone.Noul, Instructions: systemone.Text("Is it?")},
	}}
}

func TestScriptTakesStepsInOrder(t *testing.T) {
	broken := errors.New("broken")
	s := routertest.NewScript(t,
		routertest.Step{Err: routertest.Fail(429, 7*time.Second)},
		routertest.Step{Reply: &router.Reply{ID: "two"}},
	)
	s.Add(routertest.Step{Do: func(_ context.Context, a router.Attempt) (router.Reply, error) {
		return router.Reply{ID: a.Model}, nil
	}})
	s.Default = routertest.Step{Err: broken}
	a := router.Attempt{Request: question("q"), Model: "judge-1"}

	assert.Equal(t, 3, s.Left())
	_, err := s.Decide(t.Context(), a)
	failed, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok)
	assert.Equal(t, router.UpstreamError{Status: 429, Class: router.RateLimitExceeded, RetryAfter: 7 * time.Second}, *failed)
	got, err := s.Decide(t.Context(), a)
	require.NoError(t, err)
	assert.Equal(t, "two", got.ID)
	got, err = s.Decide(t.Context(), a)
	require.NoError(t, err)
	assert.Equal(t, "judge-1", got.ID)
	_, err = s.Decide(t.Context(), a)
	require.ErrorIs(t, err, broken)
	assert.Zero(t, s.Left())
	assert.Len(t, s.Attempts(), 4)
}

func TestFailHasTheClassOfItsStatus(t *testing.T) {
	for status, want := range map[int]router.Class{
		400: router.InvalidRequest, 401: router.ProviderUnavailable, 408: router.Timeout, 413: router.PayloadTooLarge,
		422: router.InvalidRequest, 429: router.RateLimitExceeded, 500: router.ProviderUnavailable, 503: router.NoCapacity,
		504: router.Timeout, 524: router.Timeout, 529: router.ProviderOverloaded,
	} {
		failed, ok := errors.AsType[*router.UpstreamError](routertest.Fail(status, 0))
		require.True(t, ok)
		assert.Equal(t, want, failed.Class, status)
	}
}

func TestScriptDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := routertest.NewScript(t, routertest.Step{Delay: 3 * time.Second}, routertest.Step{Delay: time.Hour}, routertest.Step{Delay: time.Hour})
		a := router.Attempt{Request: question("q")}
		began := time.Now()
		got, err := s.Decide(t.Context(), a)
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(began))
		require.NoError(t, systemone.Check(a.Request, got.Answers, systemone.Tolerance{}))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Decide(ctx, a)
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok)
		assert.Equal(t, router.Timeout, failed.Class)

		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		_, err = s.Decide(ctx, a)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 4*time.Second, time.Since(began))
	})
}

func TestScriptSideBySide(t *testing.T) {
	s := &routertest.Script{}
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			s.Add(routertest.Step{})
			r := question(strconv.Itoa(i))
			got, err := s.Decide(t.Context(), router.Attempt{Request: r})
			if assert.NoError(t, err) {
				assert.NoError(t, systemone.Check(r, got.Answers, systemone.Tolerance{}))
			}
		})
	}
	all.Wait()
	assert.Len(t, s.Attempts(), 50)
}

// TestAnswersPass: the default answers pass the check at full precision and need no
// repair, for any request.
func TestAnswersPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &systemone.Request{State: systemone.Text("x")}
		for i := range rapid.IntRange(1, 20).Draw(t, "questions") {
			q := systemone.Question{Name: strconv.Itoa(i), Kind: systemone.Noul, Instructions: systemone.Text("?")}
			n := rapid.IntRange(1, 255).Draw(t, "size")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				q.Kind = systemone.Choice
				for j := range n {
					q.Options = append(q.Options, systemone.Option{Name: strconv.Itoa(n - j)})
				}
			case 1:
				q.Kind, q.Levels = systemone.Score, make([]json.RawMessage, n)
			}
			r.Questions = append(r.Questions, q)
		}
		answers := routertest.Answers(r)
		repaired, err := systemone.Repair(r, answers, systemone.Tolerance{})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			if a.Choice != repaired[i].Choice || a.Confidence-repaired[i].Confidence > 1e-9 || repaired[i].Confidence-a.Confidence > 1e-9 {
				t.Fatalf("repair changed %+v to %+v", a, repaired[i])
			}
		}
	})
}

// A router in front of a script, for tests of what stands around it.
func Example() {
	script := &routertest.Script{} // in a test: routertest.NewScript(t, …)
	script.Add(routertest.Step{Err: routertest.Fail(503, 0)})
	catalog, err := routertest.Catalog(script)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{Catalog: catalog})
	if err != nil {
		fmt.Println(err)
		return
	}
	request := question("refund")
	request.Model = routertest.Model
	_, err = r.Decide(context.Background(), &router.Call{Request: request})
	fmt.Println(err)
	result, err := r.Decide(context.Background(), &router.Call{Request: request})
	fmt.Println(result.Response.Answers[0].Noul, err)
	// Output:
	// router: no_capacity: router: upstream no_capacity (status 503)
	// 0.75 <nil>
}

func ExampleScript() {
	script := &routertest.Script{} // in a test: routertest.NewScript(t, …)
	script.Add(
		routertest.Step{Err: routertest.Fail(429, time.Second)},
		routertest.Step{Reply: &router.Reply{Model: "judge-1"}},
	)
	for range 2 {
		reply, err := script.Decide(context.Background(), router.Attempt{Request: question("refund")})
		fmt.Printf("%q %v\n", reply.Model, err)
	}
	fmt.Println(len(script.Attempts()), script.Left())
	// Output:
	// "" router: upstream rate_limit_exceeded (status 429)
	// "judge-1" <nil>
	// 2 0
}
