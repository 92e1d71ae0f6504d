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

// script runs the server and stops it when its owner ends.
//
//go:embed server.sh
var script string

// longest is the longest name of a server's folder. The path of a socket is limited to 104 bytes
// on BSD and macOS, and to 108 on Linux.
const longest = 104 - len("/.s.PGSQL.5432") - 1

// server is a private server. Its methods are for one goroutine.
type server struct {
	home  string
	dsn   string
	watch *os.File      // closing it stops the server
	ended chan struct{} // closed when the server has ended and its folder is removed
	log   *os.File      // readable also after the folder is removed
}

// start starts a server with the programs in a folder. The caller must stop it.
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

// told adds the server's log to an error.
func (s *server) told(err error) error {
	text, _ := io.ReadAll(io.NewSectionReader(s.log, 0, 1<<16))
	return fmt.Errorf("%w\n%s", err, text)
}

// owner returns the user that the server runs as, because PostgreSQL refuses to run as root. Nil
// is the user of this process.
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

// newHome creates the server's folder, which only the server's user may enter.
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
	// The user's environment is not passed on: PGPORT and others would change the
	// server. Without TZ initdb would search for the name of the local time zone.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.Stderr = log // go test would wait until its own is closed
	cmd.ExtraFiles = []*os.File{r}
	// In a group of its own, so that an interrupt from the terminal does not end the
	// script before it has removed the folder.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	err = cmd.Start()
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, errors.Join(err, w.Close(), log.Close())
	}
	s := &server{home: home, dsn: address(home), watch: w, ended: make(chan struct{}), log: log}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // tests fail by themselves if the server ends early
	}()
	return s, nil
}

// address returns a DSN that sets everything that pgx would read from the environment.
func address(home string) string {
	return "postgres://postgres@/postgres?host=" + escape(home) + "&port=5432&sslmode=disable"
}

// ready waits until the server accepts sessions.
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

// die stops the server without a shutdown and keeps its folder. Whatever was not synced is lost.
// If killed is set, SIGKILL ends the first process and the others end when they notice; otherwise
// all end at once.
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

// keep is the file whose existence preserves the folder.
func (s *server) keep() string { return filepath.Join(s.home, "keep") }

// revive restarts a server that died. Processes that are left of it may block the start for a
// moment, so it tries again.
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

// remove stops the server if it runs, and removes its folder.
func (s *server) remove() error {
	s.stop()
	return os.RemoveAll(s.home)
}

// stop stops the server and waits until it has ended. The log can still be read.
func (s *server) stop() {
	_ = s.watch.Close() // fails only if it is closed already
	<-s.ended
}
