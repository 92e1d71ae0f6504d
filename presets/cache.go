package presets

import (
	"time"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/systemone"
)

const (
	// keepFor is how long a preset, or that there is none, is kept in memory. A change
	// that another process makes acts after that time.
	keepFor = 5 * time.Second
	// maxCached bounds how many names are kept.
	maxCached = 1 << 16
)

// settings are the parts of a preset that act on a decision. They are shared and
// never changed.
type settings struct {
	model    string
	models   []systemone.Entry
	provider *systemone.Preferences
}

// name is a slug as requests of a workspace use it. The preset itself may be in the
// default workspace of the account.
type name struct{ account, workspace, slug string }

// newCache returns the cache of [Service.load].
func (s *Service) newCache() *cache.Cache[name, *settings] {
	return cache.New(cache.Config[name, *settings]{
		Load: s.load, TTL: keepFor, Max: maxCached, Missing: ErrNotFound, MissingTTL: keepFor, Now: s.cfg.Now,
	})
}

// forget makes a change of a preset act on the next call of every workspace.
func (s *Service) forget(account, slug string) {
	s.cache.ForgetFunc(func(n name) bool { return n.account == account && n.slug == slug })
}
