package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// Ledger is a [router.Ledger] whose every change is in a file, on disk, before
// its caller hears of it. What stands in the file is done again when it is
// opened; in between, a ledger in memory knows it all. It is for one process at
// a time and safe for concurrent use.
//
// It is small, and so leaves out what a busy program needs: calls share no
// write to the disk, and the file only grows.
type Ledger struct {
	turn   chan struct{} // holds a token while somebody uses what follows
	book   router.Ledger
	file   *os.File
	broken error // why file and book may differ; nothing can be said then
}

// Open opens the ledger in a file, and makes it when it is missing. A change
// that was being written when the process died or the power went is not there:
// nobody was told that it happened. The caller closes the ledger.
func Open(ctx context.Context, path string) (l *Ledger, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	l = &Ledger{turn: make(chan struct{}, 1), book: memory.New().Ledger, file: file}
	whole, err := replay(file, func(c change) error { return l.redo(ctx, c) })
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	// What was written in half would spoil what is written behind it.
	if err := file.Truncate(whole); err != nil {
		return nil, err
	}
	if _, err := file.Seek(whole, 0); err != nil {
		return nil, err
	}
	return l, errors.Join(file.Sync(), syncFolder(filepath.Dir(path)))
}

// Close waits for whoever uses the ledger.
func (l *Ledger) Close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.broken = fmt.Errorf("%w: %w", os.ErrClosed, router.ErrFinal)
	return l.file.Close()
}

// Reserve implements [router.Ledger]. Caps are not kept: what was once admitted
// is admitted.
func (l *Ledger) Reserve(ctx context.Context, h router.Hold) error {
	c := change{Verb: reserve, Hold: h.ID, Credit: h.Amount.Credit, Total: h.Amount.Total, At: h.Deadline}
	for _, line := range h.Lines {
		c.Lines = append(c.Lines, [2]string{line.Owner, line.Window})
	}
	return l.do(ctx, c, func() error { return l.book.Reserve(ctx, h) })
}

// Settle implements [router.Ledger].
func (l *Ledger) Settle(ctx context.Context, hold uuid.UUID, cost router.Amount) error {
	c := change{Verb: settle, Hold: hold, Credit: cost.Credit, Total: cost.Total}
	return l.do(ctx, c, func() error { return l.book.Settle(ctx, hold, cost) })
}

// Void implements [router.Ledger].
func (l *Ledger) Void(ctx context.Context, hold uuid.UUID) error {
	return l.do(ctx, change{Verb: void, Hold: hold}, func() error { return l.book.Void(ctx, hold) })
}

// Expire implements [router.Ledger].
func (l *Ledger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (n int, err error) {
	c := change{Verb: expire, At: now, Limit: limit, Policy: policy}
	err = l.do(ctx, c, func() error {
		n, err = l.book.Expire(ctx, now, limit, policy)
		return err
	})
	return n, err
}

// Balances implements [router.Ledger].
func (l *Ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-l.turn }()
	return l.book.Balances(ctx, lines)
}

// enter waits for a turn, which the caller gives back.
func (l *Ledger) enter(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.broken != nil {
		<-l.turn
		return l.broken
	}
	return nil
}

// do makes a change in the book, which may refuse it, and then in the file. In
// this order a refusal leaves nothing behind. Nobody sees the book before the
// file has the change, and nobody ever again when the file does not take it:
// that is final, so that the router does not ask for ten seconds.
func (l *Ledger) do(ctx context.Context, c change, inBook func() error) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	record, err := c.record() // before the book has what the file cannot have
	if err != nil {
		return err
	}
	if err := inBook(); err != nil {
		return err
	}
	_, err = l.file.Write(record)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.broken = fmt.Errorf("ledger: a change may be lost, open it anew (%w): %w", router.ErrFinal, err)
	}
	return l.broken
}

// redo makes a change from the file in the book once more.
func (l *Ledger) redo(ctx context.Context, c change) error {
	amount := router.Amount{Credit: c.Credit, Total: c.Total}
	switch c.Verb {
	case reserve:
		h := router.Hold{ID: c.Hold, Amount: amount, Deadline: c.At}
		for _, line := range c.Lines {
			h.Lines = append(h.Lines, router.Line{Owner: line[0], Window: line[1]})
		}
		return l.book.Reserve(ctx, h)
	case settle:
		return l.book.Settle(ctx, c.Hold, amount)
	case void:
		return l.book.Void(ctx, c.Hold)
	case expire:
		_, err := l.book.Expire(ctx, c.At, c.Limit, c.Policy)
		return err
	}
	return fmt.Errorf("unknown change %q", c.Verb)
}
