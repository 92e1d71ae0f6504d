package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decision asks the embedded model for a noul.
const decision = `{"model":"signalbox/similarity-en-1","state":"I was charged twice","questions":{` +
	`"refund":{"type":"noul","instructions":"Does the customer want money back?"}}}`

// fetch returns the status and the body of a GET.
func fetch(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(text)
}

// metricsOf returns the address of a server's metrics, as it prints it.
func metricsOf(t *testing.T, s *running) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^Metrics are on (http://127\.0\.0\.1:\d+)/metrics$`).FindStringSubmatch(s.output)
	require.NotNil(t, found, s.output)
	return found[1]
}

// TestMetricsHaveTheirOwnAddress: -metrics-addr serves metrics and the probes, and nothing
// else. The server's own address serves the probes and no metrics.
func TestMetricsHaveTheirOwnAddress(t *testing.T) {
	s := startServer(t, "-metrics-addr", "127.0.0.1:0")
	metrics, own := metricsOf(t, s), strings.TrimSuffix(s.keys["base_url"], "/api/v1")
	status, _ := s.post(t, s.keys["inference_key"], decision)
	require.Equal(t, http.StatusOK, status)
	status, _ = s.post(t, "sk-unknown", decision)
	require.Equal(t, http.StatusUnauthorized, status)

	for address, want := range map[string]int{
		metrics + "/healthz": 200, metrics + "/readyz": 200, metrics + "/metrics": 200,
		metrics + "/": 404, metrics + "/api/v1/models": 404,
		own + "/healthz": 200, own + "/readyz": 200, own + "/metrics": 404,
	} {
		status, _ := fetch(t, address)
		assert.Equal(t, want, status, address)
	}
	_, text := fetch(t, metrics+"/metrics")
	for _, line := range []string{
		`signalbox_decisions_total{model="signalbox/similarity-en-1",outcome="answered"} 1`,
		`signalbox_http_requests_total{route="POST /systemone",status="200"} 1`,
		`signalbox_http_requests_total{route="POST /systemone",status="401"} 1`,
	} {
		assert.Contains(t, text, line+"\n")
	}
	assert.Contains(t, text, "\ngo_goroutines ")
	for _, secret := range []string{s.keys["inference_key"], s.keys["management_key"]} {
		assert.NotContains(t, text, secret)
	}
	assert.Equal(t, exitOK, s.stop(t, os.Interrupt))
	status, _ = fetch(t, metrics+"/healthz")
	assert.Zero(t, status, "the address is free again")
}

// TestNoMetricsByDefault: without the flag there is no second address.
func TestNoMetricsByDefault(t *testing.T) {
	s := startServer(t)
	assert.NotContains(t, s.output, "Metrics")
	assert.Equal(t, exitOK, s.stop(t, os.Interrupt))
}

// TestATakenMetricsAddressIsAnError, before the server prints keys that nobody can use.
func TestATakenMetricsAddressIsAnError(t *testing.T) {
	taken := httptest.NewServer(http.NotFoundHandler())
	defer taken.Close()
	var stdout, stderr strings.Builder
	code := run(t.Context(), []string{"-addr", "127.0.0.1:0", "-metrics-addr", taken.Listener.Addr().String()},
		func(string) string { return "" }, &stdout, &stderr)
	assert.Equal(t, exitFailed, code)
	assert.Contains(t, stderr.String(), "address already in use")
	assert.Empty(t, stdout.String())
}

// rulesFile are the rules that docs/operations.md describes.
const rulesFile = "../../docs/prometheus-rules.yml"

// program returns the path of a program of Debian's package prometheus, or skips the test.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("SIGNALBOX_TEST_NOSKIP") == "1":
		t.Fatalf("%s is promised here (Debian's package prometheus): %v", name, err)
	default:
		t.Skipf("needs %s of Debian's package prometheus: %v", name, err)
	}
	return path
}

// TestARealPrometheusScrapes: a Prometheus finds the server up, reads its metrics, and
// evaluates the rules of docs/operations.md.
func TestARealPrometheusScrapes(t *testing.T) {
	binary := program(t, "prometheus")
	s := startServer(t, "-metrics-addr", "127.0.0.1:0")
	for range 3 {
		status, _ := s.post(t, s.keys["inference_key"], decision)
		require.Equal(t, http.StatusOK, status)
	}
	rules, err := filepath.Abs(rulesFile)
	require.NoError(t, err)
	folder := t.TempDir()
	config := filepath.Join(folder, "prometheus.yml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}
rule_files: [%q]
scrape_configs:
  - job_name: signalbox
    static_configs: [{targets: [%q]}]
`, rules, strings.TrimPrefix(metricsOf(t, s), "http://")), 0o600))

	at := freePort(t)
	var log strings.Builder
	cmd := exec.CommandContext(t.Context(), binary, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(folder, "data"),
		"--web.listen-address="+at, "--log.level=warn")
	cmd.Stderr = &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})

	query := func(q string) string { return queried(t, "http://"+at, q) }
	require.Eventually(t, func() bool {
		return query(`up{job="signalbox"}`) == "1" && query(`signalbox_decisions_total{outcome="answered"} == 3`) == "3"
	}, patience, 100*time.Millisecond, "%s", &log)
	assert.Equal(t, "3", query(`sum(signalbox_http_requests_total{route="POST /systemone",status="200"})`))
	assert.Equal(t, "3", query(`signalbox_decision_duration_seconds_count`))
	assert.Equal(t, "0", query(`sum(signalbox_endpoint_outage)`))
	assert.Equal(t, "13", query(`count(count by (__name__) ({__name__=~"signalbox_.*", __name__!~".*_(bucket|sum)"}))`), "every metric")

	require.Eventually(t, func() bool { return ruleHealth(t, "http://"+at) }, patience, 100*time.Millisecond, "%s", &log)
}

// freePort returns an address that was free a moment ago: Prometheus does not say which
// port it has chosen.
func freePort(t *testing.T) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	return l.Addr().String()
}

// queried returns the only value of a query, or "".
func queried(t *testing.T, prometheus, q string) string {
	t.Helper()
	status, text := fetch(t, prometheus+"/api/v1/query?query="+url.QueryEscape(q))
	var reply struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if status != http.StatusOK || json.Unmarshal([]byte(text), &reply) != nil || len(reply.Data.Result) != 1 {
		return ""
	}
	return fmt.Sprint(reply.Data.Result[0].Value[1])
}

// ruleHealth reports whether Prometheus has evaluated all rules. None may fail or fire.
func ruleHealth(t *testing.T, prometheus string) (all bool) {
	t.Helper()
	_, text := fetch(t, prometheus+"/api/v1/rules")
	var reply struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError, State string }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &reply), text)
	all = len(reply.Data.Groups) > 0
	for _, g := range reply.Data.Groups {
		for _, r := range g.Rules {
			all = all && r.Health == "ok"
			assert.NotEqual(t, "err", r.Health, "%s: %s", r.Name, r.LastError)
			assert.NotEqual(t, "firing", r.State, r.Name)
		}
	}
	return all
}

// TestAlertRules: Prometheus' own tool accepts the rules, and they fire when they should.
func TestAlertRules(t *testing.T) {
	for _, command := range []string{"check", "test"} {
		file := rulesFile
		if command == "test" {
			file = "testdata/prometheus-rules-test.yml"
		}
		out, err := exec.CommandContext(t.Context(), program(t, "promtool"), command, "rules", file).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
}

// TestAlertRulesNameRealMetrics: a rule with a wrong name would never fire.
func TestAlertRulesNameRealMetrics(t *testing.T) {
	rules, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	s := startServer(t, "-metrics-addr", "127.0.0.1:0")
	s.post(t, s.keys["inference_key"], decision) // so that a route has a series
	_, text := fetch(t, metricsOf(t, s)+"/metrics")
	names := regexp.MustCompile(`signalbox_[a-z_]+`).FindAllString(string(rules), -1)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.True(t, strings.Contains(text, "\n"+name+" ") || strings.Contains(text, "\n"+name+"{"), name)
	}
}
