package router_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func TestPrice(t *testing.T) {
	p := router.Dollars("0.042")
	assert.Equal(t, 42*router.Dollar/1000, p.USD())
	assert.Equal(t, p, (42 * router.Dollar / 1000).Price())
	assert.Equal(t, "0.042", p.String())
	raw, err := json.Marshal(router.Pricing{Prompt: p})
	require.NoError(t, err)
	assert.JSONEq(t, `{"Prompt":0.042,"Completion":0,"Request":0}`, string(raw))
	assert.Equal(t, router.Price{}, router.Dollars("0"), "the zero value is free")
	assert.Zero(t, router.Pricing{Request: router.Dollars("a dime")}.Cost(1, 1), "no catalog takes it")
}

// TestBareNumbersAreNoPrices: a field accepts every constant of its kind, so the
// kind of Price must have no constants.
func TestBareNumbersAreNoPrices(t *testing.T) {
	for field := range reflect.TypeFor[router.Pricing]().Fields() {
		assert.Equal(t, reflect.Struct, field.Type.Kind(), field.Name)
	}
}

func ExampleDollars() {
	pricing := router.Pricing{
		Prompt:     router.Dollars("0.042"), // per million tokens
		Completion: router.Dollars("0.21"),
		Request:    (router.Dollar / 1000).Price(),
	}
	fmt.Println(pricing.Cost(400, 12), "dollars for 400 tokens in and 12 out")
	// Output: 0.00101932 dollars for 400 tokens in and 12 out
}
