package pgtest

import (
	"maps"
	"testing"
)

// Mortal is the server of a single test, which may kill and restart it. It is for the
// goroutine of the test.
type Mortal struct {
	folder string // with the programs
	synced bool
	server *server
	dsn    string
}

// NewMortal returns a running server, which is stopped when the test ends. It is always a
// private one, also where the environment names a server. Unless cfg.Synced is set, commits may
// be lost when it dies.
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

// DSN returns the address of its only database. It does not change when the server restarts.
func (m *Mortal) DSN() string { return m.dsn }

// Crash ends all processes at once, as PostgreSQL itself does after one of them has died:
// sessions get an error, and nothing is cleaned up.
func (m *Mortal) Crash(t testing.TB) {
	t.Helper()
	m.die(t, false)
}

// Kill sends SIGKILL to the first process. The others end when they notice.
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

// Start restarts the server after it died, and returns when it accepts sessions.
func (m *Mortal) Start(t testing.TB) {
	t.Helper()
	again, err := m.server.revive(m.folder, m.synced)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	m.server = again
}
