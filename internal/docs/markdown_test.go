package docs

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is one fenced block of a Markdown text.
type block struct {
	line int    // of the opening fence, from 1
	lang string // what follows the fence
	from string // the path in the mark before it, if any
	code []string
}

// split divides a Markdown text into its fenced blocks and its prose.
func split(text string) (blocks []block, prose string) {
	mark := regexp.MustCompile(`^<!-- from (\S+) -->$`)
	var open *block
	var rest strings.Builder
	var from string
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && trimmed == "```":
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.code = append(open.code, trimmed)
		case strings.HasPrefix(trimmed, "```"):
			open = &block{line: i + 1, lang: strings.TrimPrefix(trimmed, "```"), from: from}
			from = ""
		case mark.MatchString(trimmed):
			from = mark.FindStringSubmatch(trimmed)[1]
		default:
			if trimmed != "" {
				from = ""
			}
			rest.WriteString(line + "\n")
		}
	}
	return blocks, rest.String()
}

// foreign reports the Go blocks of a text, and the JSON blocks with a mark, that are not,
// indentation aside, part of the file that their mark names.
func foreign(root, text string) []string {
	var wrong []string
	blocks, _ := split(text)
	for _, b := range blocks {
		if b.lang != "go" && (b.lang != "json" || b.from == "") {
			continue
		}
		if b.from == "" {
			wrong = append(wrong, fmt.Sprintf("line %d: a Go block without a mark <!-- from PATH -->", b.line))
			continue
		}
		file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.from)))
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %v", b.line, err))
			continue
		}
		if !stands(b.code, string(file)) {
			wrong = append(wrong, fmt.Sprintf("line %d: the block does not stand in %s", b.line, b.from))
		}
	}
	return wrong
}

func stands(code []string, file string) bool {
	lines := strings.Split(file, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	for i := range len(lines) - len(code) + 1 {
		if slices.Equal(lines[i:i+len(code)], code) {
			return len(code) > 0
		}
	}
	return false
}

// broken reports the relative links of a text without a target. name is the file of the
// text within root.
func broken(root, name, text string) []string {
	_, prose := split(text)
	prose = regexp.MustCompile("`[^`\n]*`").ReplaceAllString(prose, "")
	inline := regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	reference := regexp.MustCompile(`(?m)^\[[^\]]+\]:\s*(\S+)`)
	var wrong []string
	for _, m := range append(inline.FindAllStringSubmatch(prose, -1), reference.FindAllStringSubmatch(prose, -1)...) {
		if why := leads(root, name, text, m[1]); why != "" {
			wrong = append(wrong, name+": "+why)
		}
	}
	return wrong
}

// leads returns why a link has no target, or "".
func leads(root, name, text, target string) string {
	link, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if link.Scheme != "" || link.Host != "" {
		return ""
	}
	if link.Path != "" {
		name = path.Join(path.Dir(name), link.Path)
		if path.IsAbs(link.Path) || !filepath.IsLocal(filepath.FromSlash(name)) {
			return target + " leaves the repository"
		}
		disk := filepath.Join(root, filepath.FromSlash(name))
		info, err := os.Stat(disk)
		if err != nil {
			return target + " does not exist"
		}
		if link.Fragment == "" || info.IsDir() || path.Ext(name) != ".md" {
			return ""
		}
		other, err := os.ReadFile(disk)
		if err != nil {
			return err.Error()
		}
		text = string(other)
	}
	if link.Fragment != "" && !slices.Contains(anchors(text), link.Fragment) {
		return target + " names no heading"
	}
	return ""
}

// anchors returns the anchors of a text's headings.
func anchors(text string) []string {
	_, prose := split(text)
	heading := regexp.MustCompile(`(?m)^#{1,6}\s+(.+?)\s*$`)
	drop := regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	var all []string
	for _, m := range heading.FindAllStringSubmatch(prose, -1) {
		all = append(all, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// markdown lists the Markdown files of the repository, as paths within root.
func markdown(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(root, func(disk string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(disk) != ".md" {
			return nil
		}
		name, err := filepath.Rel(root, disk)
		all = append(all, filepath.ToSlash(name))
		return err
	}))
	return all
}
