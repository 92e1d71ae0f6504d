package guardrails

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// said is the context of the current text, which distinguishes a card number from
// the number of an order.
type said struct {
	name     bool                // the text is the name of something, not a value
	number   bool                // it is a number of JSON
	question *systemone.Question // that it belongs to, apart from the instructions; or nil
	text     text
	of       span // the key that key was made of
	key      []byte
	asked    *systemone.Question // that words was made of
	words    []byte
}

// At most so many bytes of a name, and so many names on the way to a value, are
// looked at for words that explain it.
const (
	maxKey  = 128
	maxPath = 32
)

// keyWords returns the words of the name of the member that the current text is
// the value of, or lies in an array that is; of a member's name those of the
// object that it stands in.
func (z *scan) keyWords() []byte {
	frames := z.walk.frames
	for i := len(frames) - 1; i >= max(0, len(frames)-maxPath); i-- {
		if key := frames[i].key; key != (span{}) {
			if z.said.of != key {
				z.said.of, z.said.key = key, z.wordsOf(key)
			}
			return z.said.key
		}
	}
	return nil
}

// wordsOf returns the words of a member's name.
func (z *scan) wordsOf(key span) []byte {
	raw := z.walk.in[key.start:min(key.end, key.start+maxKey)]
	z.said.text.set(raw, bytes.IndexByte(raw, '\\') >= 0)
	return appendWords(nil, z.said.text.forms[0].b)
}

// questionWords returns the words of the question that the current text belongs
// to: of its name and of the beginning of its instructions.
func (z *scan) questionWords() []byte {
	q := z.said.question
	if q == nil {
		return nil
	}
	if z.said.asked != q {
		z.said.asked = q
		z.said.words = appendWords(nil, []byte(q.Name[:min(len(q.Name), maxKey)]))
		z.said.words = appendWords(z.said.words, q.Instructions[:min(len(q.Instructions), 4*maxKey)])
	}
	return z.said.words
}

// pathSaysCard reports whether a name on the way to the current text, or its
// question, tells that it is of cards.
func (z *scan) pathSaysCard() bool {
	frames := z.walk.frames
	for i := len(frames) - 1; i >= max(0, len(frames)-maxPath); i-- {
		f := &frames[i]
		if f.key == (span{}) {
			continue
		}
		if f.card == unknown {
			f.card = no
			if eachWord(z.wordsOf(f.key), saysCard) {
				f.card = yes
			}
		}
		if f.card == yes {
			return true
		}
	}
	return eachWord(z.questionWords(), saysCard)
}

// appendWords adds the words of b in small letters, each between spaces. A word
// ends where letters do, and before a capital that follows a small letter.
func appendWords(out, b []byte) []byte {
	out = append(out, ' ')
	small := false
	for _, c := range b {
		capital := c-'A' <= 25
		switch {
		case !isLetter(c) && c < utf8.RuneSelf:
			if out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		case capital && small:
			out = append(out, ' ', c|0x20)
		case capital:
			out = append(out, c|0x20)
		default:
			out = append(out, c)
		}
		small = !capital && (isLetter(c) || c >= utf8.RuneSelf)
	}
	return append(out, ' ')
}

// eachWord calls f with the words of what appendWords made until it returns true,
// and returns whether it did.
func eachWord(words []byte, f func(w string) bool) bool {
	for w := range strings.FieldsSeq(string(words)) {
		if f(w) {
			return true
		}
	}
	return false
}

// keySays asks f about the word that the name of the current text's member ends
// with: in user_input that is input, in order_number it is order, because number
// says nothing. Where no word is left, the object that it stands in has the name.
func (z *scan) keySays(f func(w string) bool) bool {
	frames := z.walk.frames
	for i, left := len(frames)-1, 3; i >= max(0, len(frames)-maxPath) && left > 0; i-- {
		if frames[i].key == (span{}) {
			continue
		}
		if w := lastWord(z.wordsOf(frames[i].key)); w != "" {
			return f(w)
		}
		left--
	}
	return false
}

// lastWord returns the last of some words that says something, "" if none does.
func lastWord(words []byte) string {
	for _, w := range slices.Backward(strings.Fields(string(words))) {
		if !fills(w) {
			return w
		}
	}
	return ""
}

// saysCard reports whether a word tells that numbers near it are those of
// payment cards.
func saysCard(w string) bool {
	switch w {
	case "card", "cards", "cc", "ccn", "ccnum", "ccnumber", "pan", "credit", "debit", "visa", "mastercard", "amex", "maestro", "diners", "jcb", "unionpay",
		"cvv", "cvc", "cardholder", "karte", "kreditkarte", "karten", "carte", "tarjeta", "carta", "cartao", "kaart", "kort", "karta",
		"карта", "карты", "карту", "картои":
		return true
	}
	return strings.HasPrefix(w, "cardn") || strings.HasPrefix(w, "creditc") || strings.HasPrefix(w, "debitc") ||
		strings.HasPrefix(w, "kartenn") || strings.HasPrefix(w, "kreditk")
}

// saysID reports whether a word tells that the number that follows is of something
// else than a card: of an order, a parcel, an instant; also as in orderid or
// kundennummer.
func saysID(w string) bool {
	if names(w) {
		return true
	}
	for _, end := range [...]string{"id", "ids", "no", "nr", "num", "number", "nummer"} {
		if rest, ok := strings.CutSuffix(w, end); ok && rest != "" && (names(rest) || len(end) == len("number")) {
			return true
		}
	}
	return false
}

// names reports whether a word is the name of something that has a number.
func names(w string) bool {
	switch w {
	case "id", "ids", "identifier", "identifiers", "uid", "uuid", "guid", "oid", "pid", "rid", "sid", "tid", "gid", "cid", "ref", "refs", "reference", "order", "orders",
		"ticket", "tickets", "case", "cases", "invoice", "invoices", "receipt", "tracking", "parcel", "shipment", "shipping", "package", "delivery",
		"transaction", "transactions", "txn", "tx", "trx", "trace", "span", "session", "request", "req", "correlation", "event", "events",
		"batch", "job", "run", "task", "build", "version", "versions", "ver", "release", "revision", "rev", "commit", "serial", "sn", "imei", "iccid", "imsi", "meid",
		"ean", "upc", "gtin", "isbn", "issn", "barcode", "sku", "skus", "asin", "product", "products", "item", "items", "article", "lot",
		"account", "accounts", "acct", "customer", "customers", "client", "user", "users", "member", "contract", "policy", "claim", "booking", "reservation",
		"confirmation", "po", "rma", "timestamp", "timestamps", "ts", "time", "times", "date", "epoch", "at", "created", "updated", "seq", "sequence", "offset",
		"cursor", "hash", "nonce", "checksum", "crc", "digest", "device", "devices", "node", "host", "hosts", "hostname", "port", "iban",
		"license", "meter", "sensor", "snowflake", "tweet", "channel", "guild", "thread", "record", "row", "index", "counter", "count", "size", "bytes",
		"ns", "ms", "nanos", "micros", "millis", "duration", "elapsed", "latency", "uptime", "bestellung", "auftrag", "rechnung", "kunde", "vorgang",
		"commande", "facture", "pedido", "factura", "ordine", "zakaz":
		return true
	}
	return false
}

// saysOrder reports whether a word tells that the number that follows may be
// written in groups like a card number and is none.
func saysOrder(w string) bool {
	switch w {
	case "id", "ids", "order", "orders", "ref", "reference", "invoice", "ticket", "tracking", "serial", "license", "sku":
		return true
	}
	return false
}

// fills reports whether a word says nothing itself of the number that follows.
func fills(w string) bool {
	switch w {
	case "no", "nr", "num", "number", "numbers", "is", "was", "code", "the", "of", "my", "numero", "nummer", "value":
		return true
	}
	return false
}

// cardNear reports whether words around a number in b tell that it is of a card.
func (z *scan) cardNear(b []byte, s span) bool {
	near := appendWords(nil, cutWords(b, max(0, s.start-nearBytes), s.start))
	near = appendWords(near, cutWords(b, s.end, min(len(b), s.end+nearBytes)))
	return eachWord(near, saysCard) || z.pathSaysCard()
}

// sure notes the digits of a number that is recognized, so that they are also
// recognized where they have no context, and returns its place.
func (z *scan) sure(b []byte, s span) span {
	if z.known == nil {
		z.known = map[string]struct{}{}
	}
	z.known[digitsIn(b, s)] = struct{}{}
	return s
}

// doubtful returns the place of a number without context if the same digits were
// found elsewhere in the request. The first pass over the request cannot know that
// yet.
func (z *scan) doubtful(b []byte, s span) span {
	if _, ok := z.known[digitsIn(b, s)]; ok {
		return s
	}
	z.doubts = true
	return span{}
}

func digitsIn(b []byte, s span) string {
	digits := make([]byte, 0, s.end-s.start)
	for _, c := range b[s.start:s.end] {
		if isDigit(c) {
			digits = append(digits, c)
		}
	}
	return string(digits)
}

// cutWords returns a part of b without the halves of words at its ends.
func cutWords(b []byte, from, to int) []byte {
	for from < to && from > 0 && isLetter(b[from-1]) && isLetter(b[from]) {
		from++
	}
	for to > from && to < len(b) && isLetter(b[to]) && isLetter(b[to-1]) {
		to--
	}
	return b[from:to]
}

// idBefore reports whether what stands before i names something that is no card.
func idBefore(b []byte, i int) bool {
	switch at(b, i-1) {
	case '#':
		return true
	case '-', '_', '/':
		if wordBefore(b, i-1) > 0 {
			return true
		}
	}
	return saysID(lastWord(appendWords(nil, cutWords(b, max(0, i-nearBytes), i))))
}
