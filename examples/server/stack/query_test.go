package stack_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/keys"
)

// TestAnEmptyFilterIsAMistake: a program that fills in nothing must not be
// shown everything.
func TestAnEmptyFilterIsAMistake(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for _, name := range []string{"date", "api_key_hash", "user_id", "workspace_id", "group_by"} {
		w := g.do(t, http.MethodGet, "/activity?"+name+"=", "", g.seeded.Management)
		assert.Equal(t, http.StatusBadRequest, w.Code, name)
		assert.Contains(t, w.Body.String(), `"path":"`+name+`"`)
	}
	assert.Equal(t, http.StatusOK, g.do(t, http.MethodGet, "/activity?unknown=", "", g.seeded.Management).Code)
}
