package pgtest

import (
	"maps"
	"testing"
)

// Mortal is a server of one test's own, which the test kills and starts again.
// It is for the goroutine of the test.
type Mortal struct {
	folder string // of the binaries
	synced bool
	server *server
	dsn    string
}

// NewMortal returns a running server, which ends with the test. It is one of the
// test process even where the environment names another, which nobody kills, so
// that it needs the binaries there, too. Unless it is Synced, it forgets commits
// when it dies.
func NewMortal(t testing.TB, cfg Config) *Mortal {
	t.Helper()
	folder, err := shared.find()
	m := &Mortal{folder: folder, synced: cfg.Synced}
	if err == nil {
		m.server, err = start(folder, cfg.Synced)
	}
	if err != nil {
		missing(t, err)
	}
	t.Cleanup(func() {
		if err := m.server.remove(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	settings := map[string]string{"application_name": "signalbox"}
	maps.Copy(settings, cfg.Settings)
	if m.dsn, err = with(m.server.dsn, settings); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return m
}

// DSN is the address of its one database, before and after it died.
func (m *Mortal) DSN() string { return m.dsn }

// Crash ends all its processes at once, as PostgreSQL does itself when one of
// them has died: sessions are told so, and nothing is tidied up.
func (m *Mortal) Crash(t testing.TB) {
	t.Helper()
	m.die(t, false)
}

// Kill ends the first of its processes with SIGKILL: the others go when they see
// it.
func (m *Mortal) Kill(t testing.TB) {
	t.Helper()
	m.die(t, true)
}

func (m *Mortal) die(t testing.TB, killed bool) {
	t.Helper()
	if err := m.server.die(killed); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
}

// Start starts it after it died, and returns when it takes sessions.
func (m *Mortal) Start(t testing.TB) {
	t.Helper()
	again, err := m.server.revive(m.folder, m.synced)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	m.server = again
}
