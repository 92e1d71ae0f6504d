package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/signalbox/signalbox/router"
)

// access is what a client needs to use the server.
type access struct {
	baseURL    string // ends in /api/v1
	management router.Secret
	inference  router.Secret
}

// checkKeysFile checks a path before the server listens.
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

// cause returns an error of the file system without its path, because the path may be
// that of a temporary file.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// keysFile is the content of a keys file.
type keysFile struct {
	BaseURL       string `json:"base_url"`
	ManagementKey string `json:"management_key"`
	InferenceKey  string `json:"inference_key"`
}

// write writes a to the file at path.
func (a access) write(path string) error {
	// The secrets become plain text on purpose: the file exists to hand them out.
	data, err := json.MarshalIndent(keysFile{a.baseURL, string(a.management), string(a.inference)}, "", "  ")
	if err == nil {
		err = writeFile(path, data)
	}
	if err != nil {
		return fmt.Errorf("keys file %s: %w", path, cause(err))
	}
	return nil
}

// readKeysFile reads a file that write has written.
func readKeysFile(path string) (a access, err error) {
	data, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return a, err
	}
	var f keysFile
	if err := json.Unmarshal(data, &f); err != nil {
		return a, errors.New("is not a keys file") // err may quote the content
	}
	return access{f.BaseURL, router.Secret(f.ManagementKey), router.Secret(f.InferenceKey)}, nil
}

// writeFile writes a line to the file at path, with mode 0600. The write is atomic,
// also if the power fails.
func writeFile(path string, line []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // created with mode 0600
	if err != nil {
		return err
	}
	if _, err = f.Write(append(line, '\n')); err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a new name in a folder durable.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // Windows cannot sync a folder, and need not
		return nil
	}
	d, err := os.Open(path) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	err = d.Sync()
	if closeErr := d.Close(); err == nil {
		err = closeErr
	}
	return err
}
