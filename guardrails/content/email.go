package content

import (
	"bytes"
	"unicode/utf8"
)

// An address has at most 254 bytes (RFC 5321); characters beyond ASCII take more.
const maxEmailPart = 256

// emails adds the e-mail addresses in b: the text around an @ whose domain ends in a
// label of letters. It does not find quoted local parts and domains without a dot.
func emails(out []span, b []byte, m *meter) []span {
	floor := 0
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '@')
		if n < 0 || m.ended(i+n) {
			return out
		}
		m.chargeBuiltin(wordEffort)
		i += n + 1
		start := i - 1
		for lowest := max(floor, i-maxEmailPart); start > lowest; {
			size := wordBefore(b, start)
			if size == 0 && isLocalMark(b[start-1]) {
				size = 1
			}
			if size == 0 {
				break
			}
			start -= size
		}
		for start < i-1 && (b[start] == '.' || b[start] == '-' || b[start] == '\'') {
			start++
		}
		end := domainEnd(b, i)
		if start == i-1 || end == 0 || string(b[start:i-1]) == "git" && at(b, end) == ':' {
			floor = i
			continue
		}
		out = append(out, span{start, end})
		i, floor = end, end
	}
}

func isLocalMark(c byte) bool {
	switch c {
	case '.', '_', '%', '+', '-', '\'':
		return true
	}
	return false
}

// domainEnd returns where the domain that begins at i ends, or 0 if there is none.
func domainEnd(b []byte, i int) int {
	end := 0
	for start, labels := i, 0; ; labels++ {
		stop := start
		for stop < len(b) && stop-i < maxEmailPart {
			size := wordAt(b, stop)
			if size == 0 && b[stop] != '-' {
				break
			}
			stop += max(size, 1)
		}
		label := bytes.TrimRight(b[start:stop], "-")
		if len(label) == 0 || label[0] == '-' {
			return end
		}
		if labels > 0 && isTopLevel(label) {
			end = start + len(label)
		}
		if at(b, stop) != '.' || len(label) < stop-start {
			return end
		}
		start = stop + 1
	}
}

// isTopLevel reports whether a domain may end with label. It excludes file extensions,
// because files are named like icon@2x.png.
func isTopLevel(label []byte) bool {
	switch string(label) {
	case "png", "jpg", "jpeg", "gif", "webp", "svg":
		return false
	}
	if len(label) > 4 && string(label[:4]) == "xn--" {
		return true
	}
	for _, c := range label {
		if !isLetter(c) && c < utf8.RuneSelf {
			return false
		}
	}
	return len(label) >= 2
}
