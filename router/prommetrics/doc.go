// Package prommetrics measures a service for Prometheus.
//
//	registry := prometheus.NewRegistry()
//	service, err := signalbox.New(signalbox.Config{
//		Catalog: catalog,
//		Metrics: prommetrics.New(prommetrics.Config{Registerer: registry}),
//	})
//	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
//
// Only programs that import this package link Prometheus' client. A program without the
// root package uses the methods of [Metrics] as [New] says.
//
// # Metrics
//
//	signalbox_decisions_total{model,outcome}        calls, by the model that they name first
//	signalbox_decision_duration_seconds             how long these took
//	signalbox_attempts_total{provider,model,class}  what upstreams were asked
//	signalbox_attempt_duration_seconds{provider}    how long that took
//	signalbox_cost_usd_total{provider,model}        what callers were charged
//	signalbox_held_usd                              what calls in flight hold of budgets
//	signalbox_overruns_total                        answers that cost more than was held for them
//	signalbox_escalations_total{model,outcome}      later stages that were due, by the model named first
//	signalbox_answer_confidence{model}              how sure the models were that answered
//	signalbox_ledger_seconds{op}                    how long the ledger took
//	signalbox_endpoint_outage{endpoint}             1 while load balancing avoids the endpoint
//	signalbox_http_requests_total{route,status}     replies of the HTTP interface
//	signalbox_observer_dropped_total                what observers with a queue have lost
//
// A decision is answered, refused or failed. It is refused for a reason that lies with
// the caller: the request, its key, a limit. It is failed if the service or the upstreams
// could not answer it, and also if its caller hung up. Dry runs are not counted. A reply
// that is repeated for an idempotency key is counted as a decision and as nothing else. An
// attempt that callers share counts once for each of them; the costs are their parts.
//
// A later stage is answered if its answers are in the reply. It is refused if it was due
// but nothing was sent, because of a limit, the share of
// router.Model.MaxEscalated or the time. Otherwise it is failed.
//
// The class of an attempt is ok or a [router.Class]. The op of a ledger is reserve,
// settle, void, expire, balances, claim, keep or release. The confidence of a noul is
// that of a choice between yes and no. Answers without a confidence are not counted.
//
// # Bounds
//
// Labels are names of the catalog, never texts of callers: a model's id, a provider's
// slug, and for an endpoint its slug with variant, a space and the model's id. What is
// not, or no longer, in the catalog is counted as unknown. When [router.Router.SetCatalog]
// removes a model, a provider or an endpoint, its series end. So there are at most 20
// series for each model, 17 for each provider, 9 for each provider of a model and one for
// each endpoint. Those that will be counted exist from the beginning, at 0, so that the
// first increase is seen.
//
// Money is summed in nano-dollars. It becomes a floating-point number when it is
// collected.
//
// docs/operations.md says what to alert on, with rules for Prometheus.
package prommetrics
