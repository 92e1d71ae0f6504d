package pgtest

import (
	"cmp"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// binaries returns the folder that holds initdb and postgres: the one in PATH, else the
// newest of Debian's.
func binaries() (folder string, err error) {
	// PATH may hold links to the programs, but the server finds its files by its real
	// folder.
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	if folder, ok := newest(slices.DeleteFunc(folders, func(f string) bool { return !complete(f) })); ok {
		return folder, nil
	}
	return "", errors.New("initdb and postgres are neither in PATH nor in /usr/lib/postgresql/*/bin")
}

func complete(folder string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}

// newest returns the newest of folders named <version>/bin.
func newest(folders []string) (folder string, ok bool) {
	version := func(folder string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder))) // 0 if it is no version
		return n
	}
	if len(folders) == 0 {
		return "", false
	}
	return slices.MaxFunc(folders, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), true
}
