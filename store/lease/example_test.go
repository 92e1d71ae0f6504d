package lease_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/sqlite"
)

func ExampleNew() {
	ctx := context.Background()
	pool, err := sql.Open("sqlite", ":memory:") // on PostgreSQL leases pay off
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	set, err := sqlite.New(ctx, pool, sqlite.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}

	ledger, err := lease.New(lease.Config{Ledger: set.Ledger, Nodes: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = ledger.Close(ctx) }() // gives back what no call has used
	set.Ledger = ledger

	line := router.Line{Owner: "key:k", Window: "ever"}
	hold := router.Hold{
		ID: uuid.New(), Lines: []router.Line{line}, Caps: []router.Cap{{Line: line, Max: router.Dollar}},
		Amount: router.Amount{Credit: 100, Total: 100}, Deadline: time.Now().Add(time.Minute),
	}
	fmt.Println(set.Ledger.Reserve(ctx, hold))
	fmt.Println(set.Ledger.Settle(ctx, hold.ID, router.Amount{Credit: 60, Total: 60}))
	balances, err := set.Ledger.Balances(ctx, hold.Lines)
	fmt.Println(balances[0].Spent.Credit, err)
	// Output:
	// <nil>
	// <nil>
	// 0.00000006 <nil>
}
