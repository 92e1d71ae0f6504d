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

// page reads offset and limit. The default limit is usual; the allowed limits are 1 to
// most.
func (p *parameters) page(usual, most int) page {
	return page{offset: p.whole("offset", 0, 0, 1<<31-1), limit: p.whole("limit", usual, 1, most)}
}

// listPage reads the page of a list of management records: 50 by default, 1 to 100
// allowed.
func (p *parameters) listPage() page { return p.page(50, 100) }

// cut returns the rows of list that are on the page.
func cut[T any](p page, list []T) []T {
	from := min(p.offset, len(list))
	return list[from:min(from+p.limit, len(list))]
}

// next returns the address of the page after p, or nil if p reaches the end of the
// list, which has total rows.
func (p page) next(r *http.Request, total int) *string {
	if p.offset+p.limit >= total {
		return nil
	}
	query := r.URL.Query()
	query.Set("offset", strconv.Itoa(p.offset+p.limit))
	query.Set("limit", strconv.Itoa(p.limit))
	return new(requestPath(r) + "?" + query.Encode())
}

// requestPath returns the path as the caller sent it, with the prefix that the
// embedding program has stripped, and without a final slash. It is "" if the sent path
// cannot be part of an address.
func requestPath(r *http.Request) string {
	p, _, _ := strings.Cut(r.RequestURI, "?")
	p = strings.TrimSuffix(p, "/")
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		return ""
	}
	return p
}
