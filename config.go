package signalbox

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// MinRetention is the shortest [Config.Retention], because activity reports cover
// 30 days and late settlements may still change a month's windows.
const MinRetention = 40 * 24 * time.Hour

// joints lists, by part, the fields of the settings that New sets itself.
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
	"Hooks":      {"Ledger", "Alerts", "Logger", "Now", "NewID"},
}

// withDefaults checks cfg and fills in the defaults.
func (cfg Config) withDefaults() (Config, error) {
	if name := typednil.Field(cfg); name != "" {
		return cfg, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if name := joint(cfg); name != "" {
		return cfg, fmt.Errorf("%w: %s is set by New; leave it out", ErrConfig, name)
	}
	if cfg.Catalog == nil {
		return cfg, fmt.Errorf("%w: Catalog is required", ErrConfig)
	}
	if name := cfg.Interceptors.missing(); name != "" {
		return cfg, fmt.Errorf("%w: Interceptors.%s is nil", ErrConfig, name)
	}
	cfg, err := cfg.withStores()
	if err != nil {
		return cfg, err
	}
	if cfg.Retention != 0 && cfg.Retention < MinRetention {
		return cfg, fmt.Errorf("%w: Retention of %s is less than %s", ErrConfig, cfg.Retention, MinRetention)
	}
	if cfg.Retention != 0 && cfg.Stores.Pruner == nil {
		return cfg, fmt.Errorf("%w: Retention needs Stores.Pruner", ErrConfig)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Router.UserKey == nil {
		// Derived from the sealing key, so that it is the same after a restart and in every process.
		if cfg.Router.UserKey, err = hkdf.Expand(sha256.New, []byte(cfg.SealingKeys[0]), "signalbox users", sha256.Size); err != nil {
			return cfg, fmt.Errorf("%w: SealingKeys[0]: %w", ErrConfig, err)
		}
	}
	return cfg, nil
}

// missing returns the name of an interceptor that is nil, or "".
func (i Interceptors) missing() string {
	for _, place := range []struct {
		name string
		list []router.Interceptor
	}{{"First", i.First}, {"AfterPolicies", i.AfterPolicies}, {"Last", i.Last}} {
		for n, intercept := range place.list {
			if intercept == nil {
				return fmt.Sprintf("%s[%d]", place.name, n)
			}
		}
	}
	return ""
}

// withStores checks the stores and the sealing keys. Without stores it makes those of a
// service in memory.
func (cfg Config) withStores() (Config, error) {
	inMemory := cfg.Stores == store.Set{}
	if inMemory {
		cfg.Stores = memory.New()
	}
	set := reflect.ValueOf(cfg.Stores)
	for i := range set.NumField() {
		if name := set.Type().Field(i).Name; name != "Audit" && name != "Pruner" && name != "Alerts" && set.Field(i).IsNil() {
			return cfg, fmt.Errorf("%w: Stores.%s is missing; take that of memory.New() if it need not last", ErrConfig, name)
		}
	}
	switch {
	case len(cfg.SealingKeys) > 0:
	case !inMemory:
		return cfg, fmt.Errorf("%w: SealingKeys is required with Stores", ErrConfig)
	default:
		var key [sha256.Size]byte
		_, _ = rand.Read(key[:]) // never fails
		cfg.SealingKeys = []router.Secret{router.Secret(key[:])}
	}
	return cfg, nil
}

// joint returns the name of a field that cfg sets although New sets it, or "".
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
