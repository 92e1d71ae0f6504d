//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package main

import "errors"

// lock fails: there is no lock here that dies with its process.
func lock(string) (unlock func() error, err error) {
	return nil, errors.ErrUnsupported
}
