package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
)

func (d *desk) rivalClaims() {
	for i := range 8 {
		var won atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			c := d.claimOf(strconv.Itoa(i))
			all.Go(func() {
				got, err := d.Claim(d.t.Context(), c)
				if assert.NoError(d.t, err) && got.Hold == c.Hold {
					won.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(d.t, 1, won.Load())
	}
}

func (d *desk) rivalHeirs() {
	first := d.grants(d.claimOf("a"))
	var won atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		c := d.claimOf("a")
		c.Now, c.After = first.Deadline.Add(time.Second), first.Hold
		c.Deadline = c.Now.Add(time.Minute)
		all.Go(func() {
			got, err := d.Claim(d.t.Context(), c)
			if assert.NoError(d.t, err) && got.Hold == c.Hold {
				won.Add(1)
			}
		})
	}
	all.Wait()
	assert.EqualValues(d.t, 1, won.Load())
}

// rivalTakers settle a call while another one takes its claim. In any order, the caller is
// charged once.
func (d *desk) rivalTakers() {
	spent := router.USD(0)
	for i := range 32 {
		first := d.grants(d.claimOf(strconv.Itoa(i)))
		d.holds(first)
		second := first
		second.Hold, second.After, second.Now = uuid.New(), first.Hold, first.Deadline.Add(time.Second)
		second.Deadline = second.Now.Add(time.Minute)
		ctx := d.t.Context()
		var all sync.WaitGroup
		all.Go(func() {
			if err := d.SettleKept(ctx, replyOf(first, "first"), amount(2, 2), nil); err != nil {
				assert.ErrorIs(d.t, err, router.ErrConflict)
			}
		})
		all.Go(func() { assert.NoError(d.t, d.heir(ctx, first.Hold, second)) })
		all.Wait()
		spent += 2
		d.stands(amount(spent, spent), amount(0, 0))
	}
}

// heir takes a dead claim and settles, unless it finds a reply.
func (d *desk) heir(ctx context.Context, dead uuid.UUID, c router.Claim) error {
	if err := d.Void(ctx, dead); err != nil {
		return err
	}
	got, err := d.Claim(ctx, c)
	if err != nil || got.Reply != nil {
		return err
	}
	h := router.Hold{ID: c.Hold, Lines: []router.Line{lineOf("a"), lineOf("b")}, Amount: amount(3, 3), Deadline: c.Deadline}
	return errors.Join(d.Reserve(ctx, h), d.SettleKept(ctx, replyOf(c, "second"), amount(2, 2), nil))
}
