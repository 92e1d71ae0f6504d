package content

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// surroundings are the context of the current text. They distinguish, for example, a card
// number from an order number.
type surroundings struct {
	name     bool                // the text is a name, not a value
	number   bool                // the text is a JSON number
	question *systemone.Question // the question whose options or levels contain the text, or nil
	text     text                // working space for the names on the path to the current text
	of       span                // name of the member that key is derived from
	key      hints
	asked    *systemone.Question // question that words is derived from
	words    hints
}

// hints are what the name of a member, or a question, says about the numbers in its
// value. They are cached, because a text of 4 MiB may contain half a million numbers.
type hints struct {
	card, version, phone, ssn bool // one of the words is of that kind
	id, order                 bool // the last word that is not a filler is of that kind
}

// hintsOf derives hints from the output of appendWords.
func (z *scan) hintsOf(words []byte) hints {
	z.meter.chargeBuiltin(len(words) * wordsEffort)
	var t hints
	last := ""
	for w := range strings.FieldsSeq(string(words)) {
		t.card = t.card || saysCard(w)
		t.version = t.version || slices.Contains(versionWords(), strings.TrimSuffix(w, "s"))
		if !isFiller(w) {
			last = w
		}
	}
	t.id, t.order = saysID(last), saysOrder(last)
	t.phone = !t.id && containsWord(words, phoneWords())
	t.ssn = !t.id && containsWord(words, ssnWords())
	return t
}

// containsWord reports whether the output of appendWords contains one of list.
func containsWord(words []byte, list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return bytes.Contains(words, []byte(" "+w+" ")) })
}

// Limits of the search for context: bytes of a name, and names on the path to a value.
const (
	maxKey  = 128
	maxPath = 32
)

// keyHints returns the hints of the innermost member that contains the current text. For
// a name that is the member whose value is the object with that name. If a name ends with
// a filler, the last word comes from the enclosing object.
func (z *scan) keyHints() hints {
	frames := z.walk.frames
	for i := len(frames) - 1; i >= max(0, len(frames)-maxPath); i-- {
		if key := frames[i].key; key != (span{}) {
			if z.around.of != key {
				z.around.of, z.around.key = key, z.hintsOf(z.wordsOf(key))
				w := z.lastWord(i)
				z.around.key.id, z.around.key.order = saysID(w), saysOrder(w)
			}
			return z.around.key
		}
	}
	return hints{}
}

// lastWord returns the last word in the name of frame i that is not a filler: input for
// user_input, order for order_number. If the name has only fillers, it continues with the
// enclosing object.
func (z *scan) lastWord(i int) string {
	frames := z.walk.frames
	for lowest, left := max(0, i+1-maxPath), 3; i >= lowest && left > 0; i-- {
		if frames[i].key == (span{}) {
			continue
		}
		if w := lastWord(z.wordsOf(frames[i].key)); w != "" {
			return w
		}
		left--
	}
	return ""
}

// wordsOf returns the words in a member's name.
func (z *scan) wordsOf(key span) []byte {
	raw := z.walk.in[key.start:min(key.end, key.start+maxKey)]
	z.around.text.set(raw, bytes.IndexByte(raw, '\\') >= 0)
	return appendWords(nil, z.around.text.forms[0].b)
}

// questionHints returns the hints of the question that contains the current text, or
// none. They are derived from its name and the beginning of its instructions.
func (z *scan) questionHints() hints {
	q := z.around.question
	if q == nil {
		return hints{}
	}
	if z.around.asked != q {
		words := appendWords(nil, []byte(q.Name[:min(len(q.Name), maxKey)]))
		words = appendWords(words, q.Instructions[:min(len(q.Instructions), 4*maxKey)])
		z.around.asked, z.around.words = q, z.hintsOf(words)
	}
	return z.around.words
}

// pathSaysCard reports whether a name on the path to the current text, or its question,
// mentions cards.
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
	return z.questionHints().card
}

// appendWords appends the words of b in lower case, each between spaces. A word ends at a
// character that is no letter, and before a capital that follows a small letter.
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

// eachWord calls f with each word in the output of appendWords until f returns true. It
// reports whether f did.
func eachWord(words []byte, f func(w string) bool) bool {
	for w := range strings.FieldsSeq(string(words)) {
		if f(w) {
			return true
		}
	}
	return false
}

// lastWord returns the last word that is not a filler, or "".
func lastWord(words []byte) string {
	for _, w := range slices.Backward(strings.Fields(string(words))) {
		if !isFiller(w) {
			return w
		}
	}
	return ""
}

// saysCard reports whether a word suggests that numbers near it are card numbers.
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

// saysID reports whether a word suggests that the number after it identifies something
// other than a card, such as an order, a parcel or an instant. Compounds such as orderid
// and kundennummer count, too.
func saysID(w string) bool {
	if isNumbered(w) {
		return true
	}
	for _, end := range [...]string{"id", "ids", "no", "nr", "num", "number", "nummer"} {
		if rest, ok := strings.CutSuffix(w, end); ok && rest != "" && (isNumbered(rest) || len(end) == len("number")) {
			return true
		}
	}
	return false
}

// isNumbered reports whether a word names a thing that has a number.
func isNumbered(w string) bool {
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

// saysOrder reports whether a word suggests that a number in groups after it is not a
// card number.
func saysOrder(w string) bool {
	switch w {
	case "id", "ids", "order", "orders", "ref", "reference", "invoice", "ticket", "tracking", "serial", "license", "sku":
		return true
	}
	return false
}

// isFiller reports whether a word says nothing about the number after it.
func isFiller(w string) bool {
	switch w {
	case "no", "nr", "num", "number", "numbers", "is", "was", "code", "the", "of", "my", "numero", "nummer", "value":
		return true
	}
	return false
}

// cardNear reports whether words around a number in b suggest that it is a card number.
func (z *scan) cardNear(b []byte, s span) bool {
	near := appendWords(nil, cutWords(b, max(0, s.start-nearBytes), s.start))
	near = appendWords(near, cutWords(b, s.end, min(len(b), s.end+nearBytes)))
	return eachWord(near, saysCard) || z.pathSaysCard()
}

// confirm records the digits of a number that context identified, so that the same digits
// are found where they have no context. It returns s.
func (z *scan) confirm(b []byte, s span) span {
	z.meter.chargeBuiltin(findEffort)
	if z.known == nil {
		z.known = map[string]struct{}{}
	}
	z.known[digitsIn(b, s)] = struct{}{}
	return s
}

// confirmed returns s if the digits of this number without context were confirmed
// elsewhere in the request. In the first pass they may be confirmed later, so it also
// requests a second pass.
func (z *scan) confirmed(b []byte, s span) span {
	z.meter.chargeBuiltin(findEffort)
	if _, ok := z.known[digitsIn(b, s)]; ok {
		return s
	}
	z.unconfirmed = true
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

// cutWords returns a part of b without partial words at its ends.
func cutWords(b []byte, from, to int) []byte {
	for from < to && from > 0 && isLetter(b[from-1]) && isLetter(b[from]) {
		from++
	}
	for to > from && to < len(b) && isLetter(b[to]) && isLetter(b[to-1]) {
		to--
	}
	return b[from:to]
}

// idBefore reports whether the text before i suggests an id rather than a card number.
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
