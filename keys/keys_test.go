package keys_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func service(t *testing.T, now *time.Time) *keys.Service {
	t.Helper()
	s, err := keys.New(keys.Config{Store: memory.New().Keys, Now: func() time.Time { return *now }})
	require.NoError(t, err)
	return s
}

func TestNewRefusesMistakes(t *testing.T) {
	for name, cfg := range map[string]keys.Config{
		"no store":        {},
		"space in prefix": {Store: memory.New().Keys, Prefix: "sk rt"},
		"long prefix":     {Store: memory.New().Keys, Prefix: strings.Repeat("x", 33)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := keys.New(cfg)
			require.ErrorIs(t, err, keys.ErrConfig)
		})
	}
}

func TestCreateShowsTheTextOnceAndStoresItsHash(t *testing.T) {
	now := noon
	set := memory.New()
	s, err := keys.New(keys.Config{Store: set.Keys, Now: func() time.Time { return now }})
	require.NoError(t, err)
	k, secret, err := s.Create(t.Context(), router.Actor{}, keys.Key{Name: "first", Account: "acme"})
	require.NoError(t, err)
	text := string(secret)
	assert.Regexp(t, `^sk-rt-v1-[0-9a-f]{64}$`, text)
	assert.Regexp(t, `^[0-9a-f]{64}$`, k.Hash)
	assert.Equal(t, text[:12]+"..."+text[len(text)-4:], k.Label)
	assert.Equal(t, noon, k.CreatedAt)
	stored, err := set.Keys.Get(t.Context(), k.Hash)
	require.NoError(t, err)
	assert.Equal(t, k.Key, stored)
	assert.NotContains(t, fmt.Sprintf("%+v", stored), text)
}

func TestCreateRefusesBadSettings(t *testing.T) {
	now := noon
	s := service(t, &now)
	for name, k := range map[string]keys.Key{
		"no name":                      {},
		"expired":                      {Name: "x", ExpiresAt: noon},
		"no owner of a management key": {Name: "x", Management: true},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := s.Create(t.Context(), router.Actor{}, k)
			require.ErrorIs(t, err, systemone.ErrInvalid)
		})
	}
}

func TestCreateReportsMissingRandomness(t *testing.T) {
	s, err := keys.New(keys.Config{Store: memory.New().Keys, Random: bytes.NewReader([]byte("short"))})
	require.NoError(t, err)
	_, _, err = s.Create(t.Context(), router.Actor{}, keys.Key{Name: "x"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestAuthenticate(t *testing.T) {
	now := noon
	s := service(t, &now)
	create := func(k keys.Key) router.Secret {
		_, secret, err := s.Create(t.Context(), router.Actor{}, k)
		require.NoError(t, err)
		return secret
	}
	sound := create(keys.Key{Name: "a", Account: "acme", Workspace: "w", Creator: "u"})
	brief := create(keys.Key{Name: "b", ExpiresAt: noon.Add(time.Hour)})
	off := create(keys.Key{Name: "c", Disabled: true})
	both := create(keys.Key{Name: "d", Disabled: true, ExpiresAt: noon.Add(time.Hour)})
	p, err := s.Authenticate(t.Context(), sound)
	require.NoError(t, err)
	assert.Equal(t, "acme", p.Account)
	assert.Equal(t, "w", p.Workspace)
	assert.Equal(t, "u", p.Member)
	assert.False(t, p.Management)

	_, err = s.Authenticate(t.Context(), brief)
	require.NoError(t, err)
	_, err = s.Authenticate(t.Context(), both)
	require.ErrorIs(t, err, keys.ErrDisabled)
	now = noon.Add(time.Hour)
	_, err = s.Authenticate(t.Context(), both)
	require.ErrorIs(t, err, keys.ErrExpired, "whatever else is wrong with it")
	_, err = s.Authenticate(t.Context(), brief)
	require.ErrorIs(t, err, keys.ErrExpired, "the expiry itself is past")
	_, err = s.Authenticate(t.Context(), off)
	require.ErrorIs(t, err, keys.ErrDisabled)
	for _, bad := range []router.Secret{"", "x", sound + "0", router.Secret(strings.ToUpper(string(sound))), router.Secret(p.KeyHash)} {
		_, err = s.Authenticate(t.Context(), bad)
		require.ErrorIs(t, err, keys.ErrRefused)
	}
}

type broken struct{ keys.Store }

func (broken) Get(context.Context, string) (keys.Key, error) {
	return keys.Key{}, errors.New("disk on fire")
}

func TestInterceptTellsWhatIsWrong(t *testing.T) {
	now := noon
	s := service(t, &now)
	create := func(k keys.Key) router.Secret {
		_, secret, err := s.Create(t.Context(), router.Actor{}, k)
		require.NoError(t, err)
		return secret
	}
	known := func(k keys.Key) router.Call {
		r, _, err := s.Create(t.Context(), router.Actor{}, k)
		require.NoError(t, err)
		return router.Call{Principal: router.Principal{KeyHash: r.Hash}}
	}
	ofAnother := func(c router.Call) router.Call {
		c.Principal.Account = "rival"
		return c
	}
	down, err := keys.New(keys.Config{Store: broken{}})
	require.NoError(t, err)
	cases := map[string]struct {
		service *keys.Service
		call    router.Call
		class   router.Class
		message string
	}{
		"the program":   {s, router.Call{}, "", ""},
		"no key":        {s, router.Call{Principal: router.Principal{Account: "a", Member: "u"}}, "", ""},
		"manager":       {s, router.Call{Principal: router.Principal{Account: "a", Management: true}}, router.PermissionDenied, "Management keys cannot be used for inference"},
		"unknown":       {s, router.Call{Secret: "sk-rt-v1-1"}, router.Authentication, "Invalid API key"},
		"disabled":      {s, router.Call{Secret: create(keys.Key{Name: "x", Disabled: true})}, router.Authentication, "API key disabled"},
		"management":    {s, router.Call{Secret: create(keys.Key{Name: "x", Creator: "u", Management: true})}, router.PermissionDenied, "Management keys cannot be used for inference"},
		"unknown hash":  {s, router.Call{Principal: router.Principal{KeyHash: strings.Repeat("a", 64)}}, router.Authentication, "Invalid API key"},
		"odd hash":      {s, router.Call{Principal: router.Principal{KeyHash: "h"}}, router.Authentication, "Invalid API key"},
		"known manager": {s, known(keys.Key{Name: "x", Creator: "u", Management: true}), router.PermissionDenied, "Management keys cannot be used for inference"},
		"known and off": {s, known(keys.Key{Name: "x", Disabled: true}), router.Authentication, "API key disabled"},
		"store down":    {down, router.Call{Secret: "x"}, router.Server, ""},
		"another's key": {s, ofAnother(known(keys.Key{Name: "x"})), router.Authentication, "Invalid API key"},
		"sound":         {s, router.Call{Secret: create(keys.Key{Name: "x"})}, "", ""},
		"known":         {s, known(keys.Key{Name: "x"}), "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			reached := false
			_, err := c.service.Intercept(func(context.Context, *router.Call) (*router.Result, error) {
				reached = true
				return &router.Result{}, nil
			})(t.Context(), &c.call)
			if c.class == "" {
				require.NoError(t, err)
				assert.True(t, reached)
				assert.Empty(t, string(c.call.Secret), "the text is not carried further")
				return
			}
			var re *router.Error
			require.ErrorAs(t, err, &re)
			assert.False(t, reached)
			assert.Equal(t, c.class, re.Class)
			assert.Equal(t, c.message, re.Message)
		})
	}
}

func TestSecretNeverShowsItself(t *testing.T) {
	const text = "sk-rt-v1-canary"
	var log bytes.Buffer
	secret := router.Secret(text)
	slog.New(slog.NewJSONHandler(&log, nil)).InfoContext(t.Context(), "x", slog.Any("secret", secret))
	asJSON, err := json.Marshal(map[string]any{"a": secret, "b": &secret})
	require.NoError(t, err)
	for _, shown := range []string{
		log.String(), string(asJSON),
		fmt.Sprint(secret), fmt.Sprintf("%v %+v %#v %s %q %x", secret, secret, secret, secret, secret, secret),
		fmt.Sprintf("%+v", router.Call{Secret: secret}),
	} {
		assert.NotContains(t, shown, "canary")
		assert.NotContains(t, shown, fmt.Sprintf("%x", text))
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	s, err := keys.New(keys.Config{Store: memory.New().Keys})
	require.NoError(b, err)
	_, secret, err := s.Create(b.Context(), router.Actor{}, keys.Key{Name: "x"})
	require.NoError(b, err)
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Authenticate(b.Context(), secret); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("many at once", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := s.Authenticate(b.Context(), secret); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
