package postgres_test

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/store/postgres"
)

func ExampleNew() { //nolint:testableexamples // it needs a server
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://service@db.internal/app")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	set, err := postgres.New(ctx, pool, postgres.Config{Schema: "signalbox"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = set.Ledger // hand the stores to the services
}
