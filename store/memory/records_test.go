package memory

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// known is the model of records: a plain list.
type known struct {
	id       uuid.UUID
	cost     router.USD
	deadline time.Time // once closed
	closed   bool
}

// TestRecordsAreAQueue compares records with a plain list, over a history in which numbers
// wrap around.
func TestRecordsAreAQueue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	q := records{index: map[uuid.UUID]uint32{}, first: math.MaxUint32 - 3*partSize + 1}
	var list []known
	numbers := map[uuid.UUID]uint32{}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var gone uuid.UUID // the last one that was forgotten
	for range 20_000 {
		switch n := len(list); random.IntN(7) {
		case 0, 1, 2:
			k := known{id: uuid.UUID{1 + byte(random.IntN(4)), 8: byte(random.IntN(256))}}
			if k.id != gone && q.find(k.id) == nil {
				k.cost = router.USD(random.Int64N(100))
				numbers[k.id] = q.add(record{id: k.id, cost: router.Amount{Total: k.cost}, until: notClosed})
				list = append(list, k)
			}
		case 3, 4:
			if i := random.IntN(8); i < n && !list[i].closed {
				list[i].closed, list[i].deadline = true, now.Add(-remembered+time.Duration(random.IntN(600))*time.Second)
				q.at(numbers[list[i].id]).close(list[i].deadline)
			}
		case 5:
			now = now.Add(time.Duration(random.IntN(60)) * time.Second)
		case 6:
			r, popped := q.pop(now)
			if n == 0 || !list[0].closed || !list[0].deadline.Add(remembered).Before(now) {
				require.False(t, popped, "too early")
				continue
			}
			if late := list[0].deadline.Add(remembered + time.Minute); now.After(late) {
				require.True(t, popped, "too late")
			}
			if popped {
				require.Equal(t, list[0].id, r.id)
				gone, list = r.id, list[1:]
				delete(numbers, r.id)
			}
		}
		require.Nil(t, q.find(gone))
		if len(list) > 0 {
			k := list[random.IntN(len(list))]
			found := q.find(k.id)
			require.NotNil(t, found)
			assert.Equal(t, router.Amount{Total: k.cost}, found.cost)
			assert.Same(t, found, q.at(numbers[k.id]))
		}
		require.Len(t, q.index, len(list))
	}
	assert.Less(t, q.first, uint32(math.MaxUint32/2), "the numbers have started over")
}

func TestRecordsAreNeverForgottenTooEarly(t *testing.T) {
	for _, deadline := range []time.Time{
		{},
		time.Unix(0, 0),
		time.Date(2026, 11, 21, 12, 0, 59, 999, time.UTC),
		time.Date(9999, 12, 1, 0, 0, 0, 0, time.UTC),
	} {
		q := records{index: map[uuid.UUID]uint32{}}
		n := q.add(record{id: uuid.UUID{1}, until: notClosed})
		_, popped := q.pop(deadline.Add(1000 * remembered))
		assert.False(t, popped, "open: %s", deadline)
		q.at(n).close(deadline)
		_, popped = q.pop(deadline.Add(remembered))
		assert.False(t, popped, "closed: %s", deadline)
		_, popped = q.pop(deadline.Add(1000 * remembered))
		assert.Equal(t, deadline.Year() >= 1970, popped, "%s", deadline)
	}
}
