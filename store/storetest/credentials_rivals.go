package storetest

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/store"
)

func credentialRivals(t *testing.T, set store.Set) {
	t.Helper()
	c := create(t, set.Credentials, credential(1))
	won := make([]bool, 16)
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() {
			mine := c
			mine.Name = strconv.Itoa(i)
			err := set.Credentials.Update(t.Context(), mine, credentialChange(c, "update"))
			if won[i] = err == nil; !won[i] {
				assert.ErrorIs(t, err, keys.ErrCredentialChanged)
			}
		})
	}
	wg.Wait()
	got, err := set.Credentials.Get(t.Context(), "a", c.ID)
	require.NoError(t, err)
	for i, w := range won {
		assert.Equal(t, got.Name == strconv.Itoa(i), w)
	}
	expectActions(t, set, "create", "update")
}

func credentialRivalsCreate(t *testing.T, set store.Set) {
	t.Helper()
	const rivals = 32
	given := map[string]int64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range rivals {
		wg.Go(func() {
			c := credential(i)
			order, err := set.Credentials.Create(t.Context(), c, credentialChange(c, "create"))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			given[c.ID] = order
		})
	}
	wg.Wait()
	list, total, err := set.Credentials.List(t.Context(), keys.CredentialQuery{Account: "a", Workspace: "w", Limit: rivals})
	require.NoError(t, err)
	require.Equal(t, rivals, total)
	for i, c := range list {
		assert.EqualValues(t, i+1, c.Order, "no order is given twice, none is left out")
		assert.Equal(t, given[c.ID], c.Order, "what Create returned is what was stored")
	}
}
