//go:build unix

package pgtest

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// script runs the server and watches its owner.
//
//go:embed server.sh
var script string

// longest is how long the name of a server's folder may be: the system cuts
// the path of a socket at 104 bytes (BSD, macOS) or 108.
const longest = 104 - len("/.s.PGSQL.5432") - 1

// server is a private server. Its methods may be called by one goroutine.
type server struct {
	home  string
	dsn   string
	watch *os.File      // closing it ends the server
	ended chan struct{} // closed when the server and its folder are gone
	log   *os.File      // also readable when the folder is gone
}

// start returns a running server made from the binaries in a folder. The
// caller stops it.
func start(folder string, synced bool) (*server, error) {
	who, err := owner()
	if err != nil {
		return nil, err
	}
	home, err := newHome(who)
	if err != nil {
		return nil, err
	}
	s, err := launch(home, folder, who, synced)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	if err := s.ready(); err != nil {
		s.stop()
		return nil, s.told(err)
	}
	return s, nil
}

// told adds to an error what the server has written.
func (s *server) told(err error) error {
	text, _ := io.ReadAll(io.NewSectionReader(s.log, 0, 1<<16))
	return fmt.Errorf("%w\n%s", err, text)
}

// owner says as whom the server runs: PostgreSQL refuses root. Nil stands for
// the user of this process.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // documented
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// newHome makes the server's folder, which none but its owner may enter.
func newHome(who *syscall.Credential) (string, error) {
	home, err := os.MkdirTemp("", "pgtest")
	if err == nil && len(home) > longest {
		err = os.Remove(home)
		if err == nil {
			home, err = os.MkdirTemp("/tmp", "pgtest")
		}
	}
	if err != nil {
		return "", err
	}
	if who != nil {
		err = os.Chown(home, int(who.Uid), int(who.Gid))
	}
	return home, err
}

func launch(home, folder string, who *syscall.Credential, synced bool) (*server, error) {
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	args := []string{"-c", script, "sh", home, folder, "-p5432", "-clisten_addresses=", "-cmax_connections=200"}
	if !synced {
		args = append(args, "-cfsync=off", "-csynchronous_commit=off", "-cfull_page_writes=off")
	}
	cmd := exec.Command("/bin/sh", args...)
	cmd.Dir = home
	// Not the user's: PGPORT and its like would change the server, and without
	// TZ initdb searches for the name of the local time zone.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.Stderr = log // not the test's: go test waits until it is closed
	cmd.ExtraFiles = []*os.File{r}
	// A group of its own, so that an interrupt from the terminal does not end
	// the script before it has removed the folder.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	err = cmd.Start()
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, errors.Join(err, w.Close(), log.Close())
	}
	s := &server{home: home, dsn: address(home), watch: w, ended: make(chan struct{}), log: log}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // a server that ends otherwise than by stop shows in its tests
	}()
	return s, nil
}

// address leaves nothing to the environment variables that pgx reads.
func address(home string) string {
	return "postgres://postgres@/postgres?host=" + escape(home) + "&port=5432&sslmode=disable"
}

// ready waits until the server takes sessions.
func (s *server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		conn, err := pgx.Connect(ctx, s.dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			return errors.New("the server ended at once")
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready: %w", err)
		case <-again.C:
		}
	}
}

// die ends the server and keeps its folder. All that was not synced, and all
// that its processes knew, is gone: they end at once, or without a signal from
// the first of them, which is killed, when they see that it is gone.
func (s *server) die(killed bool) error {
	if err := os.WriteFile(s.keep(), nil, 0o600); err != nil {
		return err
	}
	if killed {
		text, err := os.ReadFile(filepath.Join(s.home, "data", "postmaster.pid"))
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
		<-s.ended
	}
	s.stop()
	return nil
}

// keep is the file for whose sake the folder stays.
func (s *server) keep() string { return filepath.Join(s.home, "keep") }

// revive starts a server that has died, from the binaries in a folder. Processes
// that it has left may stand in its way for a moment.
func (s *server) revive(folder string, synced bool) (*server, error) {
	who, err := owner()
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(patience); ; {
		again, err := launch(s.home, folder, who, synced)
		if err != nil {
			return nil, err
		}
		if err = again.ready(); err == nil {
			return again, os.Remove(again.keep())
		}
		again.stop()
		if time.Now().After(deadline) {
			return nil, again.told(err)
		}
	}
}

// remove stops the server, unless it has died, and leaves nothing behind.
func (s *server) remove() error {
	s.stop()
	return os.RemoveAll(s.home)
}

// stop ends the server, and its sessions with it, and waits until it is gone.
// The log can still be read.
func (s *server) stop() {
	_ = s.watch.Close() // fails only when closed before
	<-s.ended
}
