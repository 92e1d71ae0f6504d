//go:build !unix

package pgtest

import "errors"

type server struct{ dsn string }

func start(string, bool) (*server, error) {
	return nil, errors.New("a private server is started on Unix only")
}

func (*server) stop() {}
