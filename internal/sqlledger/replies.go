package sqlledger

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

var _ router.Replies = (*Ledger)(nil)

// The statements of replies. A row without a reply is in flight until its deadline.
const (
	byReplyKey = ` WHERE account = $1 AND key_hash = $2 AND idem = $3`
	theReply   = `SELECT digest, hold, made, deadline, reply FROM {replies}` + byReplyKey + ` FOR UPDATE`
	addReply   = `INSERT INTO {replies} (account, key_hash, idem, digest, hold, made, deadline) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (account, key_hash, idem) DO NOTHING`
	takeReply = `UPDATE {replies} SET digest = $4, hold = $5, made = $6, deadline = $7, reply = NULL` + byReplyKey
	keepReply = `UPDATE {replies} SET reply = $4` + byReplyKey
	dropReply = `DELETE FROM {replies}` + byReplyKey + ` AND hold = $4 AND reply IS NULL`
	// boundReplies drops the replies of an API key beyond the n newest.
	boundReplies = `DELETE FROM {replies} WHERE account = $1 AND key_hash = $2 AND made < (
			SELECT made FROM {replies} WHERE account = $1 AND key_hash = $2 ORDER BY made DESC LIMIT 1 OFFSET $3)
		AND (reply IS NOT NULL OR deadline < $4)`
	// forgetReplies states its condition twice. A row that was locked is checked again
	// after the wait, but only against the outer condition, and a new call may have
	// claimed it meanwhile.
	forgetReplies = `DELETE FROM {replies} WHERE (account, key_hash, idem) IN (SELECT account, key_hash, idem FROM {replies}
			WHERE made <= $1 AND (reply IS NOT NULL OR deadline < $2) ORDER BY made LIMIT $3)
		AND made <= $1 AND (reply IS NOT NULL OR deadline < $2)`

	loadReplies = `SELECT r.account, r.key_hash, r.idem, r.hold FROM {replies} AS r
		WHERE (r.account, r.key_hash, r.idem) IN (SELECT n.account, n.key_hash, n.idem FROM {n})
		ORDER BY r.account, r.key_hash, r.idem FOR UPDATE`
	// keepReplies stores the replies of calls that still own their claims.
	keepReplies = `UPDATE {replies} AS r SET reply = coalesce(r.reply, n.reply) FROM {n}
		WHERE r.account = n.account AND r.key_hash = n.key_hash AND r.idem = n.idem AND r.hold = n.hold`
)

func replyKeyColumns() []string { return []string{"account text", "key_hash text", "idem text"} }
func replyColumns() []string    { return append(replyKeyColumns(), "hold text", "reply text") }

func rowOfReply(k *router.Kept) []any {
	return []any{k.Key.Account, k.Key.KeyHash, k.Key.Key, k.Hold.String(), string(k.Reply)}
}

// keepsReply reports whether a reply can be stored.
func keepsReply(k *router.Kept) bool {
	return len(k.Reply) > 0 && router.Storable(string(k.Reply)) && keeps(k.Key.Account, k.Key.KeyHash, k.Key.Key)
}

// reply is a row of {replies}.
type reply struct {
	digest         string
	hold           uuid.UUID
	made, deadline int64
	text           *string
}

func scanReply(rows sqldb.Rows) (r reply, err error) {
	var hold string
	if err = rows.Scan(&r.digest, &hold, &r.made, &r.deadline, &r.text); err == nil {
		r.hold, err = uuid.Parse(hold)
	}
	return r, err
}

func (r *reply) inFlight(now time.Time) bool { return r.text == nil && r.deadline >= sqldb.Micros(now) }

// over reports whether the row is too old to count.
func (r *reply) over(now time.Time) bool {
	return !r.inFlight(now) && r.made <= sqldb.Micros(now.Add(-router.RepliesKept))
}

var errNoReply = errors.New("sqlledger: no reply")

// findReply locks and returns a row. The error is errNoReply when there is none.
func findReply(ctx context.Context, tx sqldb.Tx, k router.ReplyKey) (reply, error) {
	return sqldb.One(ctx, tx, errNoReply, scanReply, theReply, k.Account, k.KeyHash, k.Key)
}

// Claim implements [router.Replies].
func (l *Ledger) Claim(ctx context.Context, c router.Claim) (got router.Claimed, err error) {
	if !keeps(c.Key.Account, c.Key.KeyHash, c.Key.Key) {
		return got, errText
	}
	err = sqldb.WriteIdempotent(ctx, l.db, func(tx sqldb.Tx) error {
		for {
			got, err = claim(ctx, tx, &c)
			if !errors.Is(err, sqldb.ErrChanged) { // otherwise a concurrent call created the row: try again
				return err
			}
		}
	})
	return got, err
}

func claim(ctx context.Context, tx sqldb.Tx, c *router.Claim) (router.Claimed, error) {
	r, err := findReply(ctx, tx, c.Key)
	digest, write := hex.EncodeToString(c.Digest[:]), takeReply
	switch {
	case errors.Is(err, errNoReply):
		write = addReply
	case err != nil:
		return router.Claimed{}, err
	case r.over(c.Now):
	case r.digest != digest:
		return router.Claimed{}, router.ErrReused
	case r.text != nil:
		return router.Claimed{Hold: r.hold, Reply: []byte(*r.text)}, nil
	case r.hold == c.Hold, r.inFlight(c.Now):
		return router.Claimed{Hold: r.hold}, nil
	case r.hold != c.After:
		return router.Claimed{Hold: r.hold, Dead: true}, nil
	}
	changed, err := tx.Exec(ctx, write, c.Key.Account, c.Key.KeyHash, c.Key.Key,
		digest, c.Hold.String(), sqldb.Micros(c.Now), sqldb.Micros(after(c.Deadline)))
	switch {
	case err != nil:
		return router.Claimed{}, err
	case changed == 0:
		return router.Claimed{}, sqldb.ErrChanged
	}
	if !bounds(c) {
		return router.Claimed{Hold: c.Hold}, nil
	}
	_, err = tx.Exec(ctx, boundReplies, c.Key.Account, c.Key.KeyHash, max(c.Most-1, 0), sqldb.Micros(c.Now))
	return router.Claimed{Hold: c.Hold}, err
}

// bounds reports whether a claim drops replies beyond the bound of its API key. That
// reads all replies of the key. With a large bound only one claim in 32 does it,
// chosen by its random ID, so a key may exceed its bound by a few dozen replies.
func bounds(c *router.Claim) bool { return c.Most < 1000 || c.Hold[len(c.Hold)-1]%32 == 0 }

// SettleKept implements [router.Replies].
func (l *Ledger) SettleKept(ctx context.Context, k router.Kept, cost router.Amount, events []router.Event) error {
	if !keepsEvents(events) || !keepsReply(&k) {
		return errText
	}
	return l.record(ctx, len(events), &operation{
		id: k.Hold, kept: &k,
		apply: func(b *books, _ *operation) error { return b.settleKept(&k, cost, events) },
		fast: func(s *fastPath, _ *operation) bool {
			settles := s.settle(k.Hold, settled, cost, events)
			if settles {
				s.kept = append(s.kept, rowOfReply(&k))
			}
			return settles
		},
	})
}

// settleKept settles and stores the reply. It returns [router.ErrConflict] if another
// call owns the claim; without a claim it settles and stores no reply.
func (b *books) settleKept(k *router.Kept, cost router.Amount, events []router.Event) error {
	hold, claimed := b.claims[k.Key]
	if claimed && hold != k.Hold {
		return router.ErrConflict
	}
	err := b.settle(k.Hold, cost, events)
	if err == nil && claimed {
		b.kept = append(b.kept, rowOfReply(k))
	}
	return err
}

// loadingReplies returns the statement that locks the claims of the batch and reads
// which hold owns each of them.
func (a *attempt) loadingReplies() sqldb.RowsStatement {
	seen := map[router.ReplyKey]bool{}
	var rows [][]any
	for _, o := range a.batch {
		if k := o.kept; k != nil && !seen[k.Key] {
			seen[k.Key] = true
			rows = append(rows, []any{k.Key.Account, k.Key.KeyHash, k.Key.Key})
		}
	}
	return sqldb.RowsStatement{Text: loadReplies, Columns: replyKeyColumns(), Rows: rows, Scan: func(rows sqldb.Rows) error {
		var k router.ReplyKey
		var hold string
		err := rows.Scan(&k.Account, &k.KeyHash, &k.Key, &hold)
		if err == nil {
			a.claims[k], err = uuid.Parse(hold)
		}
		return err
	}}
}

// Keep implements [router.Replies].
func (l *Ledger) Keep(ctx context.Context, k router.Kept) error {
	if !keepsReply(&k) {
		return errText
	}
	return sqldb.WriteIdempotent(ctx, l.db, func(tx sqldb.Tx) error {
		r, err := findReply(ctx, tx, k.Key)
		switch {
		case errors.Is(err, errNoReply):
			return nil
		case err != nil:
			return err
		case r.hold != k.Hold:
			return router.ErrConflict
		case r.text != nil:
			return nil
		}
		_, err = tx.Exec(ctx, keepReply, k.Key.Account, k.Key.KeyHash, k.Key.Key, string(k.Reply))
		return err
	})
}

// Release implements [router.Replies].
func (l *Ledger) Release(ctx context.Context, of router.ReplyKey, hold uuid.UUID) error {
	if !keeps(of.Account, of.KeyHash, of.Key) {
		return nil // such a claim cannot exist
	}
	return sqldb.WriteIdempotent(ctx, l.db, func(tx sqldb.Tx) error {
		_, err := tx.Exec(ctx, dropReply, of.Account, of.KeyHash, of.Key, hold.String())
		return err
	})
}

// forgetReplies drops replies and claims that are too old to count, at most limit in
// one transaction. It goes on until none is left, because a busy program stores more
// than limit between two calls.
func (l *Ledger) forgetReplies(ctx context.Context, now time.Time, limit int) error {
	limit = max(limit, 1)
	for {
		var dropped int64
		err := sqldb.WriteIdempotent(ctx, l.db, func(tx sqldb.Tx) (err error) {
			dropped, err = tx.Exec(ctx, forgetReplies, sqldb.Micros(now.Add(-router.RepliesKept)), sqldb.Micros(now), limit)
			return err
		})
		if err != nil || dropped < int64(limit) {
			return err
		}
	}
}
