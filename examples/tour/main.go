// The tour starts the whole service on a loopback port, in its own process, and calls
// its management plane with plain HTTP. For each request it prints the status and the
// interesting part of the reply:
//
//	go run ./examples/tour
//
// It sets its own clock, so that a day can pass between two requests.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

// clock is set by hand.
type clock struct{ nano atomic.Int64 }

func (c *clock) now() time.Time { return time.Unix(0, c.nano.Load()).UTC() }

func run(ctx context.Context, out io.Writer) error {
	c := &clock{}
	c.nano.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	catalog, err := catalog()
	if err != nil {
		return err
	}
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Now: c.now, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	saved, err := found(ctx, s)
	if err != nil {
		return err
	}
	base, stop, err := serve(ctx, s.Handler)
	if err != nil {
		return err
	}
	t := &tour{out: out, base: base, clock: c, saved: saved}
	return errors.Join(t.walk(ctx), stop())
}

// found makes an account of two people with two workspaces. It returns a management
// key and an inference key by name.
func found(ctx context.Context, s *signalbox.Service) (map[string]string, error) {
	by := router.Actor{Principal: router.Principal{Account: "demo"}}
	ada := organization.Member{ID: "user_ada", Email: "ada@example.org"}
	ben := organization.Member{ID: "user_ben", Email: "ben@example.org", Role: organization.RoleMember}
	_, err := s.Organization.CreateAccount(ctx, by, organization.NewAccount{ID: "demo", Name: "Demo", Owner: ada})
	if err != nil {
		return nil, err
	}
	if _, err = s.Organization.AddMember(ctx, by, ben); err != nil {
		return nil, err
	}
	if _, err = s.Organization.CreateWorkspace(ctx, by, organization.NewWorkspace{Name: "Lab", Slug: "lab"}); err != nil {
		return nil, err
	}
	_, management, err := s.Keys.Create(ctx, by, keys.Key{Name: "management", Creator: ada.ID, Management: true})
	if err != nil {
		return nil, err
	}
	_, inference, err := s.Keys.Create(ctx, by, keys.Key{Name: "inference", Creator: ada.ID})
	return map[string]string{"management": string(management), "inference": string(inference)}, err
}

// catalog offers the embedded model for a cent a request. Its provider has the name of
// an upstream that takes credentials, so that the tour can store one.
func catalog() (*router.Catalog, error) {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		return nil, err
	}
	endpoint := model.Endpoint("cloud")
	endpoint.Pricing = router.Pricing{Request: router.Dollars("0.01")}
	return router.NewCatalog(
		[]router.Model{{ID: similarity.Model, Permaslug: similarity.Permaslug}},
		[]router.ProviderInfo{{Slug: "cloud", Name: "Cloud", Client: model}},
		[]router.Endpoint{endpoint},
	)
}

// serve listens on a free port of the loopback interface. The function that it
// returns stops it.
func serve(ctx context.Context, h http.Handler) (base string, stop func() error, err error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	stop = func() error {
		err := server.Shutdown(context.WithoutCancel(ctx))
		if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
			err = errors.Join(err, serveErr)
		}
		return err
	}
	return "http://" + listener.Addr().String() + "/api/v1", stop, nil
}

// tour is the state of a run.
type tour struct {
	out   io.Writer
	base  string
	clock *clock
	saved map[string]string // values from earlier replies, by name
}

func (t *tour) walk(ctx context.Context) error {
	for _, s := range steps() {
		if s.title != "" {
			_, _ = fmt.Fprintf(t.out, "\n# %s\n", s.title)
		}
		if s.wait > 0 {
			t.clock.nano.Add(int64(s.wait))
		}
		if err := t.step(ctx, s); err != nil {
			return fmt.Errorf("%s %s: %w", s.method, s.path, err)
		}
	}
	return nil
}

// step sends one request and prints the result.
func (t *tour) step(ctx context.Context, s step) error {
	req, err := http.NewRequestWithContext(ctx, s.method, t.base+t.fill(s.path), strings.NewReader(t.fill(s.body)))
	if err != nil {
		return err
	}
	key := s.key
	if key == "" {
		key = "management"
	}
	req.Header.Set("Authorization", "Bearer "+t.saved[key])
	if s.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(t.out, "%s %s%s\n  %d", s.method, s.path, short(s.body), resp.StatusCode)
	show := s.show
	if resp.StatusCode >= http.StatusBadRequest {
		show = "error.message"
	}
	for path := range strings.FieldsSeq(show) {
		v, err := at(body, path)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(t.out, " %s=%s", path, v)
	}
	_, _ = fmt.Fprintln(t.out)
	for name, path := range s.save {
		v, err := at(body, path)
		if err != nil {
			return err
		}
		if t.saved[name], err = strconv.Unquote(v); err != nil {
			return err
		}
	}
	return nil
}

// short returns a body, cut to what is worth printing.
func short(body string) string {
	const most = 110
	switch {
	case body == "":
		return ""
	case len(body) > most:
		body = body[:most] + "…"
	}
	return " " + body
}

// fill replaces {names} by the saved values.
func (t *tour) fill(s string) string {
	for name, value := range t.saved {
		s = strings.ReplaceAll(s, "{"+name+"}", value)
	}
	return s
}

// at returns the JSON at a path such as data.0.name.
func at(body []byte, path string) (string, error) {
	raw := json.RawMessage(body)
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		i, err := strconv.Atoi(name)
		switch {
		case err == nil && json.Unmarshal(raw, &list) == nil && i < len(list):
			raw = list[i]
		case json.Unmarshal(raw, &object) == nil && object[name] != nil:
			raw = object[name]
		default:
			return "", fmt.Errorf("the answer has no %s: %s", path, body)
		}
	}
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.String(), err
}
