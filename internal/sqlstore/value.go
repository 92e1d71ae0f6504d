package sqlstore

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// nanos returns optional money as it is stored: nil is NULL.
func nanos(u *router.USD) *int64 {
	if u == nil {
		return nil
	}
	return new(int64(*u))
}

// money is the inverse of nanos.
func money(nanos *int64) *router.USD {
	if nanos == nil {
		return nil
	}
	return new(router.USD(*nanos))
}

// text returns JSON as it is stored: nil is NULL.
func text(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	return new(string(raw))
}

// raw is the inverse of text.
func raw(text *string) json.RawMessage {
	if text == nil {
		return nil
	}
	return json.RawMessage(*text)
}

// encoded returns v as JSON text. v is a list or a plain structure of this package,
// which encoding/json always accepts.
func encoded(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// decoded is the inverse of encoded.
func decoded[T any](text string) (v T, err error) {
	err = json.Unmarshal([]byte(text), &v)
	return v, err
}

func scanInt(rows sqldb.Rows) (n int64, err error) {
	err = rows.Scan(&n)
	return n, err
}
