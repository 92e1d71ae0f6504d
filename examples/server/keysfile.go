package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/router"
)

// access is what a client needs to use the server.
type access struct {
	baseURL    string // ends in /api/v1
	management router.Secret
	inference  router.Secret
}

// checkKeysFile finds what is wrong with a path before the server listens.
func checkKeysFile(path string) error {
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil {
		return fmt.Errorf("folder %s: %w", folder, cause(err))
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", folder)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", path)
	}
	return nil
}

// cause is an error of the file system without the path, which may be that of
// a temporary file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// write puts a into the file at path, which appears whole or not at all and
// can be read by its owner only.
func (a access) write(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keys file %s: %w", path, cause(err))
		}
	}()
	// The secrets become plain text here on purpose: handing them out is what
	// the file is for.
	data, err := json.MarshalIndent(map[string]string{
		"base_url":       a.baseURL,
		"management_key": string(a.management),
		"inference_key":  string(a.inference),
	}, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(append(data, '\n')); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
