// Custom-store shows how to write a store: a ledger in an append-only file. The
// program spends money, stops without closing the file as in a crash, and goes on from
// the file:
//
//	go run ./examples/custom-store
//
// Its conformance test is one call of store/storetest; see ledger_test.go. A program
// may replace only one store of a store.Set, as here.
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
	ledger, err := Open(ctx, path) // a new process would do the same
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	balances, err := ledger.Balances(ctx, []router.Line{line})
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "spent $%s, held $%s\n", balances[0].Spent.Total, balances[0].Held.Total)

	// The cap is ten cents, and seven are taken, so four more are refused.
	err = ledger.Reserve(ctx, hold(uuid.New(), 4))
	_, _ = fmt.Fprintln(out, "four more:", err)
	err = ledger.Reserve(ctx, hold(uuid.New(), 3))
	_, _ = fmt.Fprintln(out, "three more:", err)

	file, err := os.ReadFile(path) //nolint:gosec // a path of our own
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nthe file begins: %s…\n", file[9:25])
	return nil
}

const cent = router.Dollar / 100

// line is the line that the program spends on.
var line = router.Line{Owner: "key:web", Window: "2026-11"} //nolint:gochecknoglobals // Go has no constant structs

// hold returns a hold of some cents under a cap of ten.
func hold(id uuid.UUID, cents router.USD) router.Hold {
	return router.Hold{
		ID: id, Lines: []router.Line{line}, Caps: []router.Cap{{Line: line, Max: 10 * cent, BYOK: true}},
		Amount: router.Amount{Credit: cents * cent, Total: cents * cent}, Deadline: time.Now().Add(time.Minute),
	}
}

// spend settles five cents, and ends while two more are held.
func spend(ctx context.Context, path string) error {
	ledger, err := Open(ctx, path)
	if err != nil {
		return err
	}
	// Any store of a set can be replaced.
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
