package signalbox

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// MinRetention is the shortest [Config.Retention]: activity reports 30 days, and
// late settlements may still change a month's windows.
const MinRetention = 40 * 24 * time.Hour

// joints are the fields of the parts' settings that New sets itself.
//
//nolint:gochecknoglobals // a lookup table that is never written
var joints = map[string][]string{
	"Router": {"Catalog", "Interceptors", "Ledger", "Now", "NewID"},
	"API": {
		"Router", "Keys", "Open", "ManagedKeys", "Activity", "Guardrails", "Presets", "Organization", "Credentials",
		"Policy", "FilteredCatalog", "Limits", "Logger", "Now",
	},
	"Keys":       {"Store", "Ledger", "Directory", "Now", "NewID"},
	"Presets":    {"Store", "Workspace", "Now", "NewID"},
	"Guardrails": {"Store", "Workspace", "DefaultOf", "Key", "IsMember", "Model", "Provider", "Now", "NewID"},
}

// withDefaults checks cfg and fills in what is not set.
func (cfg Config) withDefaults() (Config, error) {
	if name := typednil.Field(cfg); name != "" {
		return cfg, fmt.Errorf("%s holds a nil", name)
	}
	if name := joint(cfg); name != "" {
		return cfg, fmt.Errorf("%s is set by New; leave it out", name)
	}
	if cfg.Catalog == nil {
		return cfg, errors.New("Catalog is required")
	}
	if err := cfg.keepIn(); err != nil {
		return cfg, err
	}
	if cfg.Retention != 0 && cfg.Retention < MinRetention {
		return cfg, fmt.Errorf("Retention of %s is less than %s", cfg.Retention, MinRetention)
	}
	if cfg.Retention != 0 && cfg.Stores.Pruner == nil {
		return cfg, errors.New("Retention needs Stores.Pruner")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Router.UserKey == nil {
		var err error
		// The same after a restart and in every process, like the key that it is made from.
		if cfg.Router.UserKey, err = hkdf.Expand(sha256.New, []byte(cfg.SealingKeys[0]), "signalbox users", sha256.Size); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

// keepIn checks where everything is kept, and what is sealed with.
func (cfg *Config) keepIn() error {
	inMemory := cfg.Stores == store.Set{}
	if inMemory {
		cfg.Stores = memory.New()
	}
	set := reflect.ValueOf(cfg.Stores)
	for i := range set.NumField() {
		if name := set.Type().Field(i).Name; name != "Audit" && name != "Pruner" && set.Field(i).IsNil() {
			return fmt.Errorf("Stores.%s is missing: take the field of memory.New() for one that need not last", name)
		}
	}
	switch {
	case len(cfg.SealingKeys) > 0:
	case !inMemory:
		return errors.New("SealingKeys is required with Stores")
	default:
		var key [sha256.Size]byte
		_, _ = rand.Read(key[:]) // never fails
		cfg.SealingKeys = []router.Secret{router.Secret(key[:])}
	}
	return nil
}

// joint returns the name of a field that New sets and cfg sets too, or "".
func joint(cfg Config) string {
	settings := reflect.ValueOf(cfg)
	for part, fields := range joints {
		for _, field := range fields {
			if !settings.FieldByName(part).FieldByName(field).IsZero() {
				return part + "." + field
			}
		}
	}
	return ""
}
