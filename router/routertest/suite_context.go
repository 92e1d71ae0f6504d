package routertest

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// testContext: an attempt ends with its context, at every stage, and the upstream
// sees the end.
func testContext(t *testing.T, w Wire) {
	t.Helper()
	head := func(rw http.ResponseWriter) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusOK)
		_, _ = rw.Write([]byte(`{`))
		_ = http.NewResponseController(rw).Flush()
	}
	for name, begin := range map[string]func(http.ResponseWriter){
		"before the reply": func(http.ResponseWriter) {},
		"within the reply": head,
		"within an error body": func(rw http.ResponseWriter) {
			rw.WriteHeader(http.StatusInternalServerError)
			_ = http.NewResponseController(rw).Flush()
		},
	} {
		t.Run("hang-up "+name, func(t *testing.T) {
			b := newBench(t, w)
			reached, gone := b.stall(begin)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := b.provider.Decide(ctx, b.attempt(mixed()))
				done <- err
			}()
			require.NoError(t, soon(t, reached, "the upstream is asked"))
			cancel()
			err := soon(t, done, "Decide returns when its context ends")
			failed := failure(t, err)
			if failed.Status == 0 || failed.Status == http.StatusOK {
				require.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, soon(t, gone, "the upstream sees that nobody waits any more"))
		})
		t.Run("deadline "+name, func(t *testing.T) {
			b := newBench(t, w)
			_, gone := b.stall(begin)
			ctx, cancel := context.WithTimeout(t.Context(), shortly)
			defer cancel()
			_, err := b.provider.Decide(ctx, b.attempt(mixed()))
			failed := failure(t, err)
			if failed.Status == 0 || failed.Status == http.StatusOK {
				assert.Equal(t, router.Timeout, failed.Class, "no whole reply in time")
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.NoError(t, soon(t, gone, "the upstream sees that nobody waits any more"))
		})
	}
	t.Run("over before it begins", func(t *testing.T) {
		b := newBench(t, w)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := b.provider.Decide(ctx, b.attempt(mixed()))
		_ = failure(t, err)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, b.seen(), "nothing is sent for nobody")
	})
}

// stall makes the upstream begin a reply and never end it. The channels report that
// it was reached, and that it saw the provider hang up.
func (b *bench) stall(begin func(http.ResponseWriter)) (reached, gone chan error) {
	reached, gone = make(chan error, 1), make(chan error, 1)
	b.answer(func(rw http.ResponseWriter, r *http.Request) {
		begin(rw)
		tell(reached, nil)
		select {
		case <-r.Context().Done():
			tell(gone, nil)
		case <-time.After(patience):
			tell(gone, errors.New("routertest: the provider never hung up"))
		}
	})
	return reached, gone
}

// tell reports only the first event: a provider that asks again must fail the
// suite, not block it.
func tell(c chan<- error, err error) {
	select {
	case c <- err:
	default:
	}
}

// soon waits for an event that must happen and returns its error.
func soon(t *testing.T, c <-chan error, what string) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(patience):
		require.Fail(t, "this did not happen in time: "+what)
		return nil
	}
}
