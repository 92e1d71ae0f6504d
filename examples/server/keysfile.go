package main

import (
	"encoding/json"
	"fmt"
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

// write puts a into the file at path, which appears whole or not at all and
// can be read by its owner only.
func (a access) write(path string) (err error) {
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
		return fmt.Errorf("keys file: %w", err)
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
		return fmt.Errorf("keys file: %w", err)
	}
	return os.Rename(f.Name(), path)
}
