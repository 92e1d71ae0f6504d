package main

import (
	"fmt"
	"io"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const half = 0.5 // from it on a noul is a yes

// printTicket prints a line for each answer of a ticket: the answer, who gave it, and
// what it replaced.
func printTicket(out io.Writer, t ticket, call *router.Call, res *router.Result) {
	_, _ = fmt.Fprintf(out, "%s\n", t.Text)
	for i, a := range res.Response.Answers {
		from := call.Report.Provenance(i)
		by := call.Report.Legs[from.Leg].Attempts[from.Attempt]
		_, _ = fmt.Fprintf(out, "  %-6s %-12s %s", a.Name, text(a), by.Model.ID)
		if was := from.Replaced; was != nil {
			_, _ = fmt.Fprintf(out, ", instead of %s", text(was.Answer))
		}
		_, _ = fmt.Fprintln(out)
	}
}

// text returns an answer with how sure it is: the confidence of a choice, the
// probability of the answer to a noul.
func text(a systemone.Answer) string {
	if a.Kind == systemone.Choice {
		return fmt.Sprintf("%s %.2f", a.Choice, a.Confidence)
	}
	if a.Noul >= half {
		return fmt.Sprintf("yes %.2f", a.Noul)
	}
	return fmt.Sprintf("no %.2f", 1-a.Noul)
}

// tally sums up the calls for one model.
type tally struct {
	calls, escalated   int
	answers, elsewhere int // elsewhere: not by the first leg
	right              int
	cost               router.USD
}

func (t *tally) add(of ticket, call *router.Call, res *router.Result) {
	t.calls++
	if len(call.Report.Legs) > 1 {
		t.escalated++
	}
	t.cost += res.Cost
	for i, a := range res.Response.Answers {
		t.answers++
		if call.Report.Provenance(i).Leg > 0 {
			t.elsewhere++
		}
		if a.Kind == systemone.Choice && a.Choice == of.Desk || a.Kind == systemone.Noul && (a.Noul >= half) == of.Refund {
			t.right++
		}
	}
}

// print prints the tally of the cascade beside those of its models alone.
func (t *tally) print(out io.Writer, first, strong tally) {
	_, _ = fmt.Fprintf(out, "\n%d of %d tickets escalated, with %d of %d questions\n", t.escalated, t.calls, t.elsewhere, t.answers)
	for _, row := range []struct {
		name string
		tally
	}{{"the embedded model alone", first}, {"the cascade", *t}, {"the strong model alone", strong}} {
		_, _ = fmt.Fprintf(out, "%-25s %d of %d right, $%s\n", row.name, row.right, row.answers, row.cost)
	}
	_, _ = fmt.Fprintf(out, "the cascade costs %.0f %% of always asking the strong model\n", percent*float64(t.cost)/float64(strong.cost))
}

const percent = 100
