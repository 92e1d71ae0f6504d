package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refusals reports where a file of httpapi decides a refusal: it makes a problem, or it
// uses the status of an error other than in a comparison.
func refusals(s source) []string {
	var wrong []string
	compared := map[ast.Expr]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			compared[n.X], compared[n.Y] = true, true
		case *ast.CaseClause:
			for _, e := range n.List {
				compared[e] = true
			}
		case *ast.CompositeLit:
			if id, ok := n.Type.(*ast.Ident); ok && id.Name == "problem" {
				wrong = append(wrong, s.name+": makes a problem")
			}
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok || id.Name != "http" || !strings.HasPrefix(n.Sel.Name, "Status") || compared[n] ||
				slices.Contains([]string{"StatusOK", "StatusCreated", "StatusNoContent"}, n.Sel.Name) {
				return true
			}
			wrong = append(wrong, fmt.Sprintf("%s: answers with http.%s", s.name, n.Sel.Name))
		}
		return true
	})
	return wrong
}

// TestOneTableDecidesRefusals: only httpapi/errors.go decides refusals, as its comment
// says.
func TestOneTableDecidesRefusals(t *testing.T) {
	var wrong, table []string
	for _, s := range production(t) {
		switch {
		case s.name == "httpapi/errors.go":
			table = refusals(s)
		case s.pkg == "httpapi":
			wrong = append(wrong, refusals(s)...)
		}
	}
	assert.Empty(t, wrong)
	require.NotEmpty(t, table, "the walk found no table")
}

func TestRefusalsAreFound(t *testing.T) {
	for _, c := range []struct {
		body string
		want int
	}{
		{`if x.status == http.StatusNotFound {}`, 0},
		{`switch x.status { case http.StatusNotFound: }`, 0},
		{`x.reply(http.StatusOK, nil)`, 0},
		{`x.reply(http.StatusTeapot, nil)`, 1},
		{`x.status = http.StatusNotFound`, 1},
		{`p := problem{404, "", "gone"}; _ = p`, 1},
	} {
		s := parse(t, "httpapi/x.go", "x.go", "package httpapi\nimport \"net/http\"\nfunc f(x *exchange) { "+c.body+" }")
		assert.Len(t, refusals(s), c.want, c.body)
	}
}
