//go:build !unix

package pgtest

import "errors"

type server struct{ dsn string }

var errUnix = errors.New("a private server is started on Unix only")

func start(string, bool) (*server, error) { return nil, errUnix }

func (*server) die(bool) error { return errUnix }

func (*server) revive(string, bool) (*server, error) { return nil, errUnix }

func (*server) remove() error { return nil }

func (*server) stop() {}
