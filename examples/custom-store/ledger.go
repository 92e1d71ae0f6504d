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

// Ledger is a [router.Ledger] in a file. Every change is on disk before the call that
// made it returns. [Open] applies the changes in the file to a ledger in memory, which
// then answers all reads. A file is for one process at a time. A Ledger is safe for
// concurrent use.
//
// It is small, so it lacks two things that a busy program needs: concurrent calls do
// not share a sync to the disk, and the file is never compacted.
type Ledger struct {
	turn   chan struct{} // a mutex over the fields below; it can be waited for with a context
	book   router.Ledger
	file   *os.File
	broken error // why file and book may differ; every later call returns it
}

// Open opens the ledger in a file, and creates a missing file. A change that was only
// partly written when the process died is dropped, because it was never confirmed. The
// caller must close the ledger.
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
	// Drop the incomplete last line, so that the next line does not continue it.
	if err := file.Truncate(whole); err != nil {
		return nil, err
	}
	if _, err := file.Seek(whole, 0); err != nil {
		return nil, err
	}
	return l, errors.Join(file.Sync(), syncFolder(filepath.Dir(path)))
}

// Close closes the file after the call in progress.
func (l *Ledger) Close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.broken = fmt.Errorf("%w: %w", os.ErrClosed, router.ErrFinal)
	return l.file.Close()
}

// Reserve implements [router.Ledger]. The file has no caps, because replaying an
// admitted hold must not refuse it.
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

// enter waits until the caller has the ledger to itself. The caller must release turn.
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

// do applies a change to the book, which may refuse it, and then writes it to the
// file. In this order a refusal leaves no line in the file. No other call sees the
// book in between. If the write fails, all later calls fail too; the error wraps
// router.ErrFinal, because a retry cannot succeed.
func (l *Ledger) do(ctx context.Context, c change, inBook func() error) error {
	if err := l.enter(ctx); err != nil {
		return err
	}
	defer func() { <-l.turn }()
	record, err := c.record() // first, because the book must not have what the file cannot represent
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

// redo applies a change from the file to the book.
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
