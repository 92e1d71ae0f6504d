package signalbox_test

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/webhook"
	"github.com/signalbox/signalbox/systemone"
)

// BenchmarkHooks measures a decision of a key with a limit: without hooks, and with a
// webhook whose receiver accepts connections and never answers.
func BenchmarkHooks(b *testing.B) {
	b.Run("off", func(b *testing.B) { benchHooks(b) })
	b.Run("dead webhook", func(b *testing.B) {
		dead, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
		require.NoError(b, err)
		b.Cleanup(func() { _ = dead.Close() })
		hook, err := webhook.New(webhook.Config{
			URL: "http://" + dead.Addr().String(), Private: true, Secrets: []router.Secret{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
		})
		require.NoError(b, err)
		benchHooks(b, hooks.Receiver{Handler: hook})
	})
}

func benchHooks(b *testing.B, receivers ...hooks.Receiver) {
	b.Helper()
	client := &ready{router.Reply{Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}}}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: client}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.000000001")}}},
	)
	require.NoError(b, err)
	s, err := signalbox.New(signalbox.Config{
		Catalog: catalog, Logger: slog.New(slog.DiscardHandler), Hooks: hooks.Config{Receivers: receivers, Every: 10 * time.Millisecond},
	})
	require.NoError(b, err)
	seeded, err := demo.Seed(b.Context(), s)
	require.NoError(b, err)
	p, err := s.Keys.Authenticate(b.Context(), seeded.Inference)
	require.NoError(b, err)
	limit := 10 * router.Dollar
	_, err = s.Keys.Update(b.Context(), demo.Program(), p.KeyHash, keys.Patch{Limit: router.To(&limit)})
	require.NoError(b, err)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	go s.Run(ctx)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decide(ctx, &router.Call{Secret: seeded.Inference, Request: request()}); err != nil {
			b.Fatal(err)
		}
	}
}
