package sqldb

import (
	"regexp"
	"sync"
)

// marked matches the name of a table or an index in a statement.
var marked = regexp.MustCompile(`\{([a-z_]{2,})\}`)

// Names translates the names of tables, so that they cannot collide with other
// tables of the database: {lines} in a statement becomes, for example,
// "signalbox"."lines". A statement that qualifies a column by its table must give
// the table an alias. Safe for concurrent use.
type Names struct {
	around string   // replacement for a name in braces; $1 is the name
	texts  sync.Map // translated statements by their originals
}

// NewNames returns names with the given texts before and after each of them.
func NewNames(before, after string) *Names { return &Names{around: before + "${1}" + after} }

// In returns a statement with its names translated. Results stay cached because the
// program has finitely many statements.
func (n *Names) In(statement string) string {
	if made, ok := n.texts.Load(statement); ok {
		text, _ := made.(string)
		return text
	}
	text := marked.ReplaceAllString(statement, n.around)
	n.texts.Store(statement, text)
	return text
}

// ValidName reports whether s may be the name of a schema or the prefix of table
// names: 1 to 48 lower-case letters, digits and underscores, no digit first. Such a
// name needs no escaping.
func ValidName(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 48
}
