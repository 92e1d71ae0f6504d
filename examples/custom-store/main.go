// Custom-store shows a store of one's own: a ledger that keeps its books in an
// append-only file. The program spends, forgets everything as a crash would,
// and reads on from the file:
//
//	go run ./examples/custom-store
//
// Its conformance test is a call of store/storetest; see ledger_test.go. A store
// for one consumer is enough: the others of a store.Set stay what they are.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "custom-store:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "custom-store-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "ledger")

	if err := spend(ctx, path); err != nil {
		return err
	}
	ledger, err := Open(ctx, path) // another process would do just this
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	balances, err := ledger.Balances(ctx, []router.Line{line})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "spent $%s, held $%s\n", balances[0].Spent.Total, balances[0].Held.Total)

	// A cap of ten cents is exact across the restart: seven are taken.
	err = ledger.Reserve(ctx, hold(uuid.New(), 4))
	_, _ = fmt.Fprintln(out, "four more:", err)
	err = ledger.Reserve(ctx, hold(uuid.New(), 3))
	_, _ = fmt.Fprintln(out, "three more:", err)

	file, err := os.ReadFile(path) //nolint:gosec // it is ours
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nthe file begins: %s…\n", file[9:25])
	return nil
}

const cent = router.Dollar / 100

// line is what is spent on.
var line = router.Line{Owner: "key:web", Window: "2026-11"} //nolint:gochecknoglobals // a constant that Go has no form for

// hold sets cents aside, under a cap of ten.
func hold(id uuid.UUID, cents router.USD) router.Hold {
	return router.Hold{
		ID: id, Lines: []router.Line{line}, Caps: []router.Cap{{Line: line, Max: 10 * cent, BYOK: true}},
		Amount: router.Amount{Credit: cents * cent, Total: cents * cent}, Deadline: time.Now().Add(time.Minute),
	}
}

// spend settles five cents, and dies while two more are held.
func spend(ctx context.Context, path string) error {
	ledger, err := Open(ctx, path)
	if err != nil {
		return err
	}
	// Any part of a set can be one's own.
	set := memory.New()
	set.Ledger = ledger
	first, second := uuid.New(), uuid.New()
	return errors.Join(
		set.Ledger.Reserve(ctx, hold(first, 6)),
		set.Ledger.Settle(ctx, first, router.Amount{Credit: 5 * cent, Total: 5 * cent}),
		set.Ledger.Reserve(ctx, hold(second, 2)),
		ledger.Close(),
	)
}
