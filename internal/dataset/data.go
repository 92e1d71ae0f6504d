package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Size is the amount of data. The first account is the largest; the others have the same size.
type Size struct {
	Accounts int // at least 2
	Keys     int // in all accounts
	Largest  int // keys of the first account
	Events   int
}

// Quick takes seconds.
func Quick() Size { return Size{Accounts: 10, Keys: 10_000, Largest: 1_000, Events: 100_000} }

// Full is a large installation after its first month: about five gigabytes, which take minutes to
// write.
func Full() Size {
	return Size{Accounts: 1_000, Keys: 1_000_000, Largest: 10_000, Events: 10_000_000}
}

const (
	workspaces = 5  // of each account
	members    = 20 // of each account
	endpoints  = 40 // two of each model
	days       = 30
	everyNth   = 11 // one key in so many is in use; in the largest account all are
	everyDay   = 3  // one day in so many of a key has activity
)

// Data is generated data, which [Data.Fill] writes. [New] makes it.
type Data struct {
	size Size
	seed uint64
	now  time.Time
}

// New returns data that ends the day before now.
func New(size Size, seed uint64, now time.Time) *Data {
	return &Data{size: size, seed: seed, now: now.UTC()}
}

// Account returns the ID of an account; 0 is the largest.
func (d *Data) Account(number int) string { return fmt.Sprintf("org-%06d", number) }

// Workspace returns the ID of a workspace of an account; 0 is the default workspace, which has half
// of the keys.
func (d *Data) Workspace(account, number int) string {
	id := uuid.UUID{0: byte(number)}
	binary.BigEndian.PutUint64(id[1:], d.seed)
	binary.BigEndian.PutUint32(id[12:], uint32(account))
	return id.String()
}

// Secret returns the secret of a key.
func (d *Data) Secret(key int) router.Secret {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], d.seed)
	binary.BigEndian.PutUint64(b[8:], uint64(key))
	sum := sha256.Sum256(b[:])
	return router.Secret("sk-rt-v1-" + hex.EncodeToString(sum[:]))
}

// Hash returns the hash of a key.
func (d *Data) Hash(key int) string {
	sum := sha256.Sum256([]byte(string(d.Secret(key))))
	return hex.EncodeToString(sum[:])
}

// place returns the account of a key, and the key's number there.
func (d *Data) place(key int) (account, number int) {
	if key < d.size.Largest {
		return 0, key
	}
	key -= d.size.Largest
	return 1 + key%(d.size.Accounts-1), key / (d.size.Accounts - 1)
}

// principal returns the principal of a key.
func (d *Data) principal(key int) router.Principal {
	account, number := d.place(key)
	workspace := 0
	if number%2 == 1 {
		workspace = 1 + number/2%(workspaces-1)
	}
	return router.Principal{
		Account: d.Account(account), Workspace: d.Workspace(account, workspace),
		Member: fmt.Sprintf("user_%02d", number/everyNth%members), KeyHash: d.Hash(key),
	}
}

// used returns the keys of an account that have activity, sorted by hash.
func (d *Data) used(account int) []router.Principal {
	var list []router.Principal
	if account == 0 {
		for key := range d.size.Largest {
			list = append(list, d.principal(key))
		}
	} else {
		for key := d.size.Largest + account - 1; key < d.size.Keys; key += everyNth * (d.size.Accounts - 1) {
			list = append(list, d.principal(key))
		}
	}
	slices.SortFunc(list, func(a, b router.Principal) int { return cmp.Compare(a.KeyHash, b.KeyHash) })
	return list
}

// rows returns the number of days with activity over all keys.
func (d *Data) rows() int {
	rows := d.size.Largest * days / everyDay
	for account := 1; account < d.size.Accounts; account++ {
		keys := (d.size.Keys - d.size.Largest - account + d.size.Accounts - 1) / (d.size.Accounts - 1)
		rows += (keys + everyNth - 1) / everyNth * days / everyDay
	}
	return rows
}

// day returns the beginning of one of the thirty days.
func (d *Data) day(number int) time.Time {
	return d.now.Truncate(24*time.Hour).AddDate(0, 0, number-days)
}
