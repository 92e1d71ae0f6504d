package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/signalbox/signalbox/router"
)

// instruments are the metrics of GenAI clients.
type instruments struct {
	duration metric.Float64Histogram
	tokens   metric.Int64Histogram
}

func newInstruments(m metric.Meter) (*instruments, error) {
	duration, err := m.Float64Histogram("gen_ai.client.operation.duration",
		metric.WithUnit("s"), metric.WithDescription("GenAI operation duration"),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	if err != nil {
		return nil, err
	}
	tokens, err := m.Int64Histogram("gen_ai.client.token.usage",
		metric.WithUnit("{token}"), metric.WithDescription("Number of input and output tokens used"),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	if err != nil {
		return nil, err
	}
	return &instruments{duration, tokens}, nil
}

// record records every attempt of a call.
func (m *instruments) record(ctx context.Context, s *call) {
	for rec := range s.c.Report.Attempts() {
		of := s.metricAttributes(rec)
		m.duration.Record(ctx, rec.Duration.Seconds(), metric.WithAttributes(of...))
		if rec.Class != "" {
			continue
		}
		m.tokens.Record(ctx, rec.Usage.InputTokens, metric.WithAttributes(append(of[:len(of):len(of)], tokenType.String("input"))...))
		m.tokens.Record(ctx, rec.Usage.OutputTokens, metric.WithAttributes(append(of[:len(of):len(of)], tokenType.String("output"))...))
	}
}

// metricAttributes returns attributes of which there are few values: all of them are
// the catalog's or this package's.
func (s *call) metricAttributes(rec *router.AttemptRecord) []attribute.KeyValue {
	of := make(attrs, 0, attemptAttributes)
	of.add(operationName.String(operation))
	of.add(providerName.String(rec.Endpoint.Provider))
	of.add(requestModel.String(rec.Endpoint.Model))
	if rec.Class == "" {
		of.add(responseModel.String(rec.Model.Permaslug))
	} else {
		of.add(errorType.String(string(rec.Class)))
	}
	if to := s.server(rec.Endpoint.Provider); to != nil {
		of.add(serverAddress.String(to.host))
		of.add(serverPort.Int(to.port))
	}
	return of
}
