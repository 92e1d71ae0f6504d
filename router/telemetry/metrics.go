package telemetry

import (
	"context"
	"sync"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/signalbox/signalbox/router"
)

// instruments are the metrics of GenAI clients.
type instruments struct {
	duration metric.Float64Histogram
	tokens   metric.Int64Histogram
	series   sync.Map // *series by outcome
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
	return &instruments{duration: duration, tokens: tokens}, nil
}

// series are the attributes of an endpoint's attempts with one outcome.
type series struct{ all, input, output metric.MeasurementOption }

// outcome is what decides a series: an endpoint, by ID and address, and a class. There
// are few, because a catalog has few endpoints and a class is one of a fixed list.
type outcome struct {
	endpoint uuid.UUID
	model    string
	class    router.Class
	host     string
	port     int
}

// record records every attempt of a call.
func (m *instruments) record(ctx context.Context, s *call) {
	for rec := range s.c.Report.Attempts() {
		of := m.seriesOf(s, rec)
		m.duration.Record(ctx, rec.Duration.Seconds(), of.all)
		if rec.Class == "" {
			m.tokens.Record(ctx, rec.Usage.InputTokens, of.input)
			m.tokens.Record(ctx, rec.Usage.OutputTokens, of.output)
		}
	}
}

// seriesOf returns the attributes of an attempt. They are made once, because sorting and
// hashing them takes longer than all the rest.
func (m *instruments) seriesOf(s *call, rec *router.AttemptRecord) *series {
	key := outcome{endpoint: rec.Endpoint.ID, model: rec.Model.Permaslug, class: rec.Class}
	if to := s.server(rec.Endpoint.Provider); to != nil {
		key.host, key.port = to.host, to.port
	}
	if found, ok := m.series.Load(key); ok {
		if made, ok := found.(*series); ok {
			return made
		}
	}
	of := attribute.NewSet(metricAttributes(rec, key)...)
	with := func(kind string) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(append(of.ToSlice(), tokenType.String(kind))...))
	}
	made := &series{metric.WithAttributeSet(of), with("input"), with("output")}
	m.series.Store(key, made)
	return made
}

// metricAttributes returns attributes of which there are few values: all of them are
// the catalog's or this package's.
func metricAttributes(rec *router.AttemptRecord, key outcome) []attribute.KeyValue {
	of := make(attrs, 0, attemptAttributes)
	of.add(operationName.String(operation))
	of.add(providerName.String(rec.Endpoint.Provider))
	of.add(requestModel.String(rec.Endpoint.Model))
	if rec.Class == "" {
		of.add(responseModel.String(rec.Model.Permaslug))
	} else {
		of.add(errorType.String(string(rec.Class)))
	}
	if key.host != "" {
		of.add(serverAddress.String(key.host))
		of.add(serverPort.Int(key.port))
	}
	return of
}
