//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package main

import "errors"

// lock fails, because on this system there is no lock that ends with its process.
func lock(string) (unlock func() error, err error) {
	return nil, errors.ErrUnsupported
}
