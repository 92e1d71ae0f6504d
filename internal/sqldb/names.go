package sqldb

import (
	"regexp"
	"sync"
)

// marked is a table's name, or an index's, as statements write it.
var marked = regexp.MustCompile(`\{([a-z_]{2,})\}`)

// Names says what tables are called in a database that may have others: {lines}
// in a statement stands for the table "lines". A statement that qualifies a
// column by its table gives the table an alias. It is safe for concurrent use.
type Names struct {
	around string   // a name, with $1 for the one in braces
	texts  sync.Map // by what they were made from
}

// NewNames returns names that have these texts around them.
func NewNames(before, after string) *Names { return &Names{around: before + "${1}" + after} }

// In returns a statement with the names of its tables. Results are cached for good,
// because the program has finitely many statements.
func (n *Names) In(statement string) string {
	if made, ok := n.texts.Load(statement); ok {
		text, _ := made.(string)
		return text
	}
	text := marked.ReplaceAllString(statement, n.around)
	n.texts.Store(statement, text)
	return text
}

// ValidName says whether s may name a schema, or stand before each table's name:
// lower-case letters, digits and underscores that do not begin with a digit, at
// most 48. So it needs no escaping anywhere.
func ValidName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 48
}
