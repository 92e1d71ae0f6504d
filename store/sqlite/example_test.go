package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // the program chooses the driver

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

func ExampleNew() {
	ctx := context.Background()
	pool, err := sql.Open("sqlite", ":memory:") // a program would name a file
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1) // needed in memory only: each connection would be a database of its own

	set, err := sqlite.New(ctx, pool, sqlite.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	balances, err := set.Ledger.Balances(ctx, []router.Line{{Owner: "account:acme", Window: "2026-11"}})
	fmt.Println(balances[0].Spent.Total, err)
	// Output: 0 <nil>
}

func ExampleVerify() {
	ctx := context.Background()
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = pool.Close() }()
	pool.SetMaxOpenConns(1)
	if err := sqlite.Migrate(ctx, pool, sqlite.Config{}); err != nil {
		fmt.Println(err)
		return
	}

	found, err := sqlite.Verify(ctx, pool, sqlite.Config{})
	fmt.Println(found.Events, "events,", len(found.Differences), "differences,", err)
	// Output: 0 events, 0 differences, <nil>
}
