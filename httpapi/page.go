package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
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

// pageOf reads offset and limit from a query. Other names are ignored; one of
// these that is given twice is a mistake.
func pageOf(query url.Values) (page, error) { return pageWithin(query, defaultPage, maxPage) }

// pageWithin is pageOf with other bounds of limit.
func pageWithin(query url.Values, usual, most int) (page, error) {
	p := page{limit: usual}
	for _, part := range []struct {
		name     string
		to       *int
		from, up int
	}{
		{"offset", &p.offset, 0, 1<<31 - 1},
		{"limit", &p.limit, 1, most},
	} {
		values := query[part.name]
		if len(values) == 0 {
			continue
		}
		n, err := strconv.Atoi(values[0])
		if err != nil || len(values) > 1 || n < part.from || n > part.up {
			return page{}, badRequest(part.name, fmt.Sprintf("must be one whole number from %d to %d", part.from, part.up))
		}
		*part.to = n
	}
	return p, nil
}

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
// embedding program has stripped; "" where there is none that could be part of
// an address.
func requestPath(r *http.Request) string {
	p, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		return ""
	}
	return p
}
