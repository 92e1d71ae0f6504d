package router_test

import (
	"testing"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
)

// TestEven holds the provider of ExampleProvider to the public suite.
func TestEven(t *testing.T) {
	routertest.RunLocal(t, routertest.Local{
		New:           func(*testing.T) router.Provider { return even{} },
		Deterministic: true,
	})
}
