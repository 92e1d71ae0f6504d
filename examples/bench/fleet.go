package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// gateway is a measured process.
type gateway struct {
	name string
	addr string
	path string
	key  string
	pid  int
}

// fleet has all processes of a comparison.
type fleet struct {
	gateways []gateway // the floor, the proxy, the server, and the server with more flags
	dir      string
	procs    []*exec.Cmd
}

// start builds the server and starts all processes. The upstream answers after delay.
// With flags there is a second server, which has them.
func start(ctx context.Context, delay time.Duration, flags ...string) (f *fleet, err error) {
	f = &fleet{}
	defer func() {
		if err != nil {
			f.stop()
		}
	}()
	if f.dir, err = os.MkdirTemp("", "signalbox-bench-"); err != nil {
		return f, err
	}
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	_, up, err := f.spawn(ctx, self, "-role", "upstream", "-delay", delay.String())
	if err != nil {
		return f, err
	}
	for _, role := range []string{"floor", "proxy"} {
		pid, addr, err := f.spawn(ctx, self, "-role", role, "-target", up)
		if err != nil {
			return f, err
		}
		f.gateways = append(f.gateways, gateway{name: role, addr: addr, path: "/v1/systemone", pid: pid})
	}
	server, err := f.server(ctx, up)
	if err != nil {
		return f, err
	}
	f.gateways = append(f.gateways, server)
	if len(flags) > 0 {
		if server, err = f.server(ctx, up, flags...); err != nil {
			return f, err
		}
		server.name = "with"
		f.gateways = append(f.gateways, server)
	}
	return f, nil
}

// server builds examples/server and starts it in front of the upstream. flags are added
// to the required flags.
func (f *fleet) server(ctx context.Context, upstream string, flags ...string) (gateway, error) {
	binary := filepath.Join(f.dir, "server")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/signalbox/signalbox/examples/server") //nolint:gosec // fixed arguments
	if out, err := build.CombinedOutput(); err != nil {
		return gateway{}, fmt.Errorf("building the server: %w: %s", err, out)
	}
	config, keysFile := filepath.Join(f.dir, "config.json"), filepath.Join(f.dir, "keys.json")
	catalog := fmt.Sprintf(`{"providers": [{"slug": "up", "kind": "systemone", "base_url": "http://%s/v1"}],
		"models": [{"id": "acme/judge", "permaslug": "acme/judge-20261101"}],
		"endpoints": [{"provider": "up", "model": "acme/judge", "upstream_model": "judge",
			"pricing": {"prompt": "0.04", "completion": "0", "request": "0"}}]}`, upstream)
	if err := os.WriteFile(config, []byte(catalog), 0o600); err != nil {
		return gateway{}, err
	}
	flags = append([]string{"-addr", "127.0.0.1:0", "-config", config, "-keys-file", keysFile}, flags...)
	pid, _, err := f.spawn(ctx, binary, flags...)
	if err != nil {
		return gateway{}, err
	}
	data, err := os.ReadFile(keysFile) //nolint:gosec // the path is made above
	if err != nil {
		return gateway{}, err
	}
	var keys struct {
		BaseURL      string `json:"base_url"`
		InferenceKey string `json:"inference_key"`
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return gateway{}, err
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(keys.BaseURL, "http://"), "/api/v1")
	return gateway{name: "server", addr: addr, path: "/api/v1/systemone", key: keys.InferenceKey, pid: pid}, nil
}

// spawn starts a process and returns its pid and its first line of output. Every
// process of bench prints that line once it listens.
func (f *fleet) spawn(ctx context.Context, name string, args ...string) (pid int, line string, err error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // binaries of this module
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, "", err
	}
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	f.procs = append(f.procs, cmd)
	r := bufio.NewReader(out)
	if line, err = r.ReadString('\n'); err != nil {
		return 0, "", fmt.Errorf("%s did not start: %w", filepath.Base(name), err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }() // ends when the process ends
	return cmd.Process.Pid, strings.TrimSpace(line), nil
}

// stop ends every process and removes the files that start wrote.
func (f *fleet) stop() {
	for _, p := range f.procs {
		_ = p.Process.Signal(syscall.SIGTERM)
	}
	for _, p := range f.procs {
		_ = p.Wait()
	}
	if f.dir != "" {
		_ = os.RemoveAll(f.dir)
	}
}
