package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func Example_run() {
	if err := run(context.Background(), ticketFile, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// I was charged twice for May. Please send one payment back.
	//   desk   billing 0.99 signalbox/similarity-en-1
	//   refund yes 1.00     signalbox/similarity-en-1
	// The app crashes as soon as I open the settings page.
	//   desk   technical 1.00 signalbox/similarity-en-1
	//   refund no 0.99      acme/strong, instead of no 0.61
	// Do you have a plan for schools, and what does it cost?
	//   desk   sales 1.00   signalbox/similarity-en-1
	//   refund no 0.99      acme/strong, instead of no 0.58
	// My invoice for June shows the wrong address. Can you correct it?
	//   desk   billing 0.82 signalbox/similarity-en-1
	//   refund yes 0.92     signalbox/similarity-en-1
	// Since the update I cannot log in any more, it says error 403.
	//   desk   technical 0.99 signalbox/similarity-en-1
	//   refund no 0.99      acme/strong, instead of no 0.62
	// It never worked on my machine. I want my money back.
	//   desk   technical 0.97 acme/strong, instead of technical 0.36
	//   refund yes 0.96     signalbox/similarity-en-1
	// Could somebody call me back, please?
	//   desk   sales 0.97   acme/strong, instead of technical 0.55
	//   refund yes 0.98     signalbox/similarity-en-1
	// How many seats do we get with the business plan before we buy?
	//   desk   sales 0.99   signalbox/similarity-en-1
	//   refund no 0.99      acme/strong, instead of yes 0.69
	// You took 49 euros from my card and I never ordered anything!
	//   desk   billing 0.99 signalbox/similarity-en-1
	//   refund yes 0.92     signalbox/similarity-en-1
	// I would like to cancel and be refunded for the rest of the year.
	//   desk   billing 0.90 signalbox/similarity-en-1
	//   refund yes 0.99     signalbox/similarity-en-1
	// Exports are empty when the report has more than one page.
	//   desk   technical 0.97 acme/strong, instead of sales 0.11
	//   refund no 0.98      signalbox/similarity-en-1
	// Thanks, the last mail solved everything.
	//   desk   technical 0.97 acme/strong, instead of technical 0.34
	//   refund yes 0.79     signalbox/similarity-en-1
	//
	// 8 of 12 tickets escalated, with 8 of 24 questions
	// the embedded model alone  18 of 24 right, $0
	// the cascade               21 of 24 right, $0.001084
	// the strong model alone    24 of 24 right, $0.002942
	// the cascade costs 37 % of always asking the strong model
}

func TestAWrongFileIsAnError(t *testing.T) {
	t.Parallel()
	assert.Error(t, run(t.Context(), []byte("{"), nil))
}

// TestTheStrongModelIsAskedOnlyWhatIsUnsure: a ticket that is clear to the embedded
// model costs nothing, and one that is not costs less than asking all of it.
func TestTheStrongModelIsAskedOnlyWhatIsUnsure(t *testing.T) {
	t.Parallel()
	tickets, err := read(ticketFile)
	require.NoError(t, err)
	rt, err := newRouter(tickets)
	require.NoError(t, err)
	for _, of := range tickets {
		call, res, err := ask(t.Context(), rt, triageModel, of)
		require.NoError(t, err)
		_, strong, err := ask(t.Context(), rt, strongModel, of)
		require.NoError(t, err)
		if len(call.Report.Legs) == 1 {
			assert.Equal(t, router.USD(0), res.Cost)
			continue
		}
		assert.Equal(t, call.Report.Legs[1].TriggeredBy, call.Report.Legs[1].Asked())
		assert.LessOrEqual(t, res.Cost, strong.Cost)
	}
	_, _, err = ask(t.Context(), rt, strongModel, ticket{Text: "unknown"})
	assert.Error(t, err)
}
