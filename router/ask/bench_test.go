package ask_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/systemone"
)

const ticket = "I was charged twice for May. Please send one payment back."

// byHand is the code of a program without this package.
func byHand(t testing.TB, d ask.Decider) (desk Desk, refund bool, heat float64) {
	t.Helper()
	res, err := d.Decide(t.Context(), &router.Call{Request: &systemone.Request{
		Model: "acme/judge",
		State: systemone.Text(ticket),
		Questions: []systemone.Question{
			{
				Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team should take this?"),
				Options: []systemone.Option{
					{Name: "billing", Guidance: systemone.Text("charges and refunds")},
					{Name: "technical", Guidance: systemone.Text("something is broken")},
				},
			},
			{
				Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does the customer want money back?"),
				True: systemone.Text("asks for a refund"), False: systemone.Text("does not"),
			},
			{Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("How upset?"), Levels: texts("calm", "annoyed", "furious")},
		},
	}})
	require.NoError(t, err)
	for _, a := range res.Response.Answers {
		switch a.Name {
		case "desk":
			desk = Desk(a.Choice)
		case "refund":
			refund = a.Noul > 0.5
		case "heat":
			heat = a.Score
		}
	}
	return desk, refund, heat
}

func instant() decider {
	res := &router.Result{Response: systemone.Response{Answers: systemone.Answers{deskAnswer(), refundAnswer(0.9), heatAnswer()}}}
	return func(*router.Call) (*router.Result, error) { return res, nil }
}

// BenchmarkByHand is the call without this package, at a decider that costs
// nothing.
func BenchmarkByHand(b *testing.B) {
	d := instant()
	b.ReportAllocs()
	for b.Loop() {
		if desk, refund, heat := byHand(b, d); desk != Technical || !refund || heat == 0 {
			b.Fatal(desk)
		}
	}
}

func BenchmarkSheetAsk(b *testing.B) {
	d := instant()
	sheet, err := ask.NewSheet(Verdict{})
	require.NoError(b, err)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err := sheet.Ask(ctx, d, "acme/judge", ticket); err != nil || v.Desk.Value != Technical {
			b.Fatal(err)
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	d := instant()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if v, _, err := ask.Ask[Verdict](ctx, d, "acme/judge", ticket); err != nil || v.Desk.Value != Technical {
			b.Fatal(err)
		}
	}
}
