package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/postgres"
)

// The environment variables for the database and for the sealing key.
const (
	postgresEnv = "SIGNALBOX_POSTGRES"
	sealingEnv  = "SIGNALBOX_SEALING_KEY"
)

// givingBack is the most time that a stopping server takes to give back its slices.
const givingBack = 10 * time.Second

// mistake is an error that would occur again at the next start.
type mistake struct{ error }

// Unwrap lets errors.Is see the error.
func (m mistake) Unwrap() error { return m.error }

func mistakef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// storage is an open set of stores, with its sealing key.
type storage struct {
	set        store.Set
	sealingKey router.Secret
	alone      bool // no other process uses the set
	close      func() error
}

// openStorage opens the storage that the flags and the environment name.
func openStorage(ctx context.Context, o options, getenv func(string) string) (*storage, error) {
	dsn := o.postgres
	if dsn == "" {
		dsn = getenv(postgresEnv)
	}
	switch {
	case o.data != "" && dsn != "":
		return nil, mistakef("-data and %s both say where to keep things: choose one", postgresEnv)
	case o.leases && dsn == "":
		return nil, mistakef("-leases is for several processes on PostgreSQL: -postgres or %s says where", postgresEnv)
	case o.data != "":
		return openFolder(ctx, o.data)
	case dsn != "":
		kept, err := openPostgres(ctx, dsn, getenv(sealingEnv))
		if err != nil || !o.leases {
			return kept, err
		}
		return kept.leasing(ctx)
	}
	return &storage{set: memory.New(), sealingKey: newSealingKey(), alone: true, close: func() error { return nil }}, nil
}

func openPostgres(ctx context.Context, dsn, sealing string) (*storage, error) {
	if sealing == "" {
		return nil, mistakef("PostgreSQL needs %s in the environment: 64 random hex digits, the same for every process; "+
			"they encrypt the provider credentials of callers", sealingEnv)
	}
	key, err := parseSealingKey(sealing)
	if err != nil {
		return nil, mistakef("%s %w", sealingEnv, err)
	}
	// The error does not quote the DSN, because any part of it may be a password.
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, mistakef("the PostgreSQL DSN is neither a valid URL nor a list of keywords and values")
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, without(cfg.ConnConfig.Password, err)
	}
	set, err := postgres.New(ctx, pool, postgres.Config{})
	if err != nil {
		pool.Close()
		told := without(cfg.ConnConfig.Password, err)
		if errors.Is(err, postgres.ErrNewer) {
			told = mistake{told}
		}
		return nil, told
	}
	return &storage{set: set, sealingKey: key, close: func() error { pool.Close(); return nil }}, nil
}

// leasing wraps the ledger in leases: calls are admitted from leased slices, and
// closing the storage gives the slices back.
func (s *storage) leasing(ctx context.Context) (*storage, error) {
	ledger, err := lease.New(lease.Config{Ledger: s.set.Ledger})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.set.Ledger = ledger
	below := s.close
	s.close = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), givingBack)
		defer cancel()
		// A slice that cannot be given back expires.
		return errors.Join(ledger.Close(ctx), below())
	}
	return s, nil
}

// without returns err with the password replaced.
func without(password string, err error) error {
	text := err.Error()
	if password != "" {
		text = strings.ReplaceAll(text, password, "***")
	}
	return errors.New(text)
}

func newSealingKey() router.Secret {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return router.Secret(key)
}

func parseSealingKey(text string) (router.Secret, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != sha256.Size {
		return "", errors.New("is not 64 hex digits")
	}
	return router.Secret(key), nil
}
