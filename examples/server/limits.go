package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/keys"
)

// limits are the flags that bound how much of the shared capacity one caller may
// use.
type limits struct {
	bodies, keyBodies, accountBodies size
	rates                            keys.RateLimits
}

// defaultBodies equals the default of httpapi. It is repeated here because the
// process's memory limit is computed from it.
const defaultBodies = 256 << 20

// define adds the flags to a set.
func (l *limits) define(flags *flag.FlagSet) {
	l.bodies = defaultBodies
	flags.Var(&l.bodies, "bodies", "hold at most `SIZE` of request bodies at a time")
	flags.Var(&l.keyBodies, "key-bodies", "of these at most `SIZE` for one key; 0 means a quarter")
	flags.Var(&l.accountBodies, "account-bodies", "of these at most `SIZE` for all keys of an account; 0 means half")
	for _, scope := range []struct {
		name, of string
		rate     *keys.Rate
	}{
		{"key", "of one key", &l.rates.Key},
		{"workspace", "of all keys of a workspace", &l.rates.Workspace},
		{"account", "of all keys of an account", &l.rates.Account},
	} {
		flags.Var((*rate)(scope.rate), scope.name+"-rate", "take at most `N/DURATION` requests "+scope.of+", as in 100/1s")
		flags.IntVar(&scope.rate.Concurrent, scope.name+"-concurrent", 0, "answer at most `N` requests at a time "+scope.of)
	}
}

// check finds the mistakes that parsing does not find.
func (l *limits) check() error {
	switch {
	case l.bodies == 0:
		return errors.New("-bodies: must not be 0")
	case l.rates.Key.Concurrent < 0, l.rates.Workspace.Concurrent < 0, l.rates.Account.Concurrent < 0:
		return errors.New("-key-concurrent, -workspace-concurrent, -account-concurrent: must not be negative")
	}
	return nil
}

// size is a flag.Value for a number of bytes.
type size int64

// maxSize is more memory than any machine has, and small enough that memoryLimit does
// not overflow.
const maxSize = 1 << 50

// String returns the size in the form that [size.Set] reads.
func (s *size) String() string {
	for _, u := range units() {
		if *s > 0 && *s%size(u.bytes) == 0 {
			return strconv.FormatInt(int64(*s)/u.bytes, 10) + u.name
		}
	}
	return "0"
}

// Set parses a whole number of bytes, KiB, MiB or GiB.
func (s *size) Set(text string) error {
	for _, u := range units() {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 || n > maxSize/u.bytes {
			break
		}
		*s = size(n * u.bytes)
		return nil
	}
	return errors.New("must be a whole number of bytes, or a whole number followed by KiB, MiB or GiB")
}

type unit struct {
	name  string
	bytes int64
}

// units returns the units of sizes, the largest first.
func units() []unit {
	return []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}
}

// rate is a flag.Value for a number of requests in an interval.
type rate keys.Rate

// String returns the rate in the form that [rate.Set] reads.
func (r *rate) String() string {
	if r.Requests == 0 {
		return "0" // no bound
	}
	return fmt.Sprintf("%d/%s", r.Requests, r.Per)
}

// Set parses N/DURATION, both above zero, or 0 for no bound.
func (r *rate) Set(text string) error {
	if text == "0" {
		r.Requests, r.Per = 0, 0
		return nil
	}
	number, interval, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(number)
	per, perErr := time.ParseDuration(interval)
	if err != nil || perErr != nil || n <= 0 || per <= 0 {
		return errors.New("must be a number of requests and a duration, as in 100/1s")
	}
	r.Requests, r.Per = n, per
	return nil
}
