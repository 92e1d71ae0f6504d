package systemone_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// ticket is a request of about 1 KB with one question of each kind.
func ticket(b testing.TB) ([]byte, *systemone.Request, systemone.Answers) {
	b.Helper()
	body := []byte(`{"model":"acme/judge","state":{"ticket":"Hello, I was charged twice for the May invoice (INV-20931) ` +
		`and I would like one of the two charges reversed as soon as possible. I have already written to you last week and ` +
		`nobody answered; if this is not solved by Friday I will ask my bank to take the money back.","customer":{"since":2019,` +
		`"plan":"team","seats":14}},"questions":{"refund":{"type":"noul","instructions":"Does the ticket ask for money back?",` +
		`"criteria":{"true":"an explicit request for a refund or a reversal","false":"no such request"}},"desk":{"type":"choice",` +
		`"instructions":"Which desk should handle this?","criteria":{"billing":"charges, invoices and refunds","tech":"faults of ` +
		`the product","sales":null}},"heat":{"type":"score","instructions":"How upset is the customer?","criteria":["calm",` +
		`"annoyed","furious"]}},"provider":{"order":["ant","bee"],"allow_fallbacks":true},"session_id":"ticket-20931",` +
		`"user":"u-1","trace":{"trace_id":"4bf92f3577b34da6"}}`)
	r, err := systemone.Decoder{}.Decode(body)
	require.NoError(b, err)
	reply, err := systemone.DecodeResponse(corpus(b, "replies")["typesafe"])
	require.NoError(b, err)
	require.NoError(b, systemone.Check(r, reply.Answers, systemone.Tolerance{Rounding: 0.01}))
	return body, r, reply.Answers
}

// BenchmarkDecision is the work of this package for one decision: decode and
// validate, check and repair, encode.
func BenchmarkDecision(b *testing.B) {
	body, _, answers := ticket(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		r, err := systemone.Decoder{}.Decode(body)
		if err != nil {
			b.Fatal(err)
		}
		repaired, err := systemone.Repair(r, answers, systemone.Tolerance{Rounding: 0.01})
		if err != nil {
			b.Fatal(err)
		}
		response := systemone.Response{ID: "gen-dec-1", Model: "acme/judge-20260901", Answers: repaired}
		out = response.AppendJSON(out[:0])
	}
}

func BenchmarkCheckSyntax(b *testing.B) {
	body, _, _ := ticket(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := systemone.CheckSyntax(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	body, _, _ := ticket(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (systemone.Decoder{}).Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	_, r, _ := ticket(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Validate(systemone.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRepair(b *testing.B) {
	_, r, answers := ticket(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := systemone.Repair(r, answers, systemone.Tolerance{Rounding: 0.01}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendUpstream(b *testing.B) {
	_, r, _ := ticket(b)
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		out = systemone.AppendUpstream(out[:0], "jev-latest", r)
	}
	b.SetBytes(int64(len(out)))
}

func BenchmarkDecodeResponse(b *testing.B) {
	data := corpus(b, "replies")["typesafe"]
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := systemone.DecodeResponse(data); err != nil {
			b.Fatal(err)
		}
	}
}
