package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/signalbox/signalbox/store"
)

// Exit statuses.
const (
	exitOK      = 0
	exitDiffers = 1
	exitTrouble = 2
)

// postgresEnv names the environment variable with a DSN, the same as the server's.
const postgresEnv = "SIGNALBOX_POSTGRES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run verifies and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var found store.Verified
	data, dsn, err := parse(args, getenv, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
	case data != "":
		found, err = verifyFolder(ctx, data)
	default:
		found, err = verifyPostgres(ctx, dsn)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "verify: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		return exitTrouble
	}
	for _, d := range found.Differences {
		_, _ = fmt.Fprintln(stdout, d)
	}
	_, _ = fmt.Fprintf(stdout, "%d events, %d lines, %d open holds: ", found.Events, found.Lines, found.OpenHolds)
	if n := len(found.Differences); n > 0 {
		_, _ = fmt.Fprintf(stdout, "%d differences\n", n)
		return exitDiffers
	}
	_, _ = fmt.Fprintln(stdout, "all adds up")
	return exitOK
}

// parse returns a folder or a DSN.
func parse(args []string, getenv func(string) string, stderr io.Writer) (data, dsn string, err error) {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints a mistake as one line, without the usage
	flags.StringVar(&data, "data", "", "the `DIR` of a server on SQLite")
	flags.StringVar(&dsn, "postgres", "", "the `DSN` of a PostgreSQL database; default "+postgresEnv+" in the environment")
	if err = flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.Usage()
		return "", "", err
	} else if err != nil {
		return "", "", err
	}
	switch {
	case flags.NArg() > 0:
		return "", "", errors.New("unexpected arguments")
	case data != "" && dsn != "":
		return "", "", errors.New("-data and -postgres both say what to verify: choose one")
	}
	if data == "" && dsn == "" {
		dsn = getenv(postgresEnv)
	}
	if data == "" && dsn == "" {
		return "", "", errors.New("say what to verify: -data DIR or -postgres DSN")
	}
	return data, dsn, nil
}
