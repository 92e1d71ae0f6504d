package httpapi

import (
	"net/http"
	"path"
	"strconv"
	"strings"
)

// The bounds of a page of models.
const (
	defaultPage = 500
	maxPage     = 1000
)

// page is a part of a list.
type page struct{ offset, limit int }

// page reads offset and limit: usual unless the caller asks for 1 to most.
func (p *parameters) page(usual, most int) page {
	return page{offset: p.whole("offset", 0, 0, 1<<31-1), limit: p.whole("limit", usual, 1, most)}
}

// listPage is the page of a list of management records: 50 unless asked for 1
// to 100.
func (p *parameters) listPage() page { return p.page(50, 100) }

// cut returns the part of list that is on the page.
func cut[T any](p page, list []T) []T {
	from := min(p.offset, len(list))
	return list[from:min(from+p.limit, len(list))]
}

// next is the address of the page after p, or nil when p reaches the end of
// total rows.
func (p page) next(r *http.Request, total int) *string {
	if p.offset+p.limit >= total {
		return nil
	}
	query := r.URL.Query()
	query.Set("offset", strconv.Itoa(p.offset+p.limit))
	query.Set("limit", strconv.Itoa(p.limit))
	return new(requestPath(r) + "?" + query.Encode())
}

// requestPath is the path as the caller sent it, with the prefix that the
// embedding program has stripped and without a slash at its end; "" where there is none that could be part of
// an address.
func requestPath(r *http.Request) string {
	p, _, _ := strings.Cut(r.RequestURI, "?")
	p = strings.TrimSuffix(p, "/")
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		return ""
	}
	return p
}
