package sqlstore

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// nanos is optional money as it is stored: NULL is nil.
func nanos(u *router.USD) *int64 {
	if u == nil {
		return nil
	}
	return new(int64(*u))
}

// money is what nanos stored.
func money(nanos *int64) *router.USD {
	if nanos == nil {
		return nil
	}
	return new(router.USD(*nanos))
}

// text is JSON as it is stored: NULL is nil.
func text(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	return new(string(raw))
}

// raw is what text stored.
func raw(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// encoded is a value as JSON text. It is for lists and for plain structures of
// this package, which have no way to fail.
func encoded(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// decoded is what encoded stored.
func decoded[T any](text string) (v T, err error) {
	err = json.Unmarshal([]byte(text), &v)
	return v, err
}

func scanInt(rows sqldb.Rows) (n int64, err error) {
	err = rows.Scan(&n)
	return n, err
}
