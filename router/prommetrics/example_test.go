package prommetrics_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/prommetrics"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

func Example() {
	catalog, err := router.Single(&routertest.Script{}, router.Endpoint{Provider: "acme", Model: "acme/judge"})
	if err != nil {
		fmt.Println(err)
		return
	}
	registry := prometheus.NewRegistry()
	service, err := signalbox.New(signalbox.Config{
		Catalog: catalog,
		Metrics: prommetrics.New(prommetrics.Config{Registerer: registry}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{}) // for a mux of your own

	_, err = service.Decide(context.Background(), &router.Call{Request: &systemone.Request{
		Model: "acme/judge", State: systemone.Text("Paid twice"),
		Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Money back?")}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := httptest.NewRecorder()
	metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "signalbox_decisions_total") {
			fmt.Print(line)
		}
	}
	// Output:
	// signalbox_decisions_total{model="acme/judge",outcome="answered"} 1
	// signalbox_decisions_total{model="acme/judge",outcome="failed"} 0
	// signalbox_decisions_total{model="acme/judge",outcome="refused"} 0
}
