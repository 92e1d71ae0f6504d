package router

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// rememberedVersion begins the value of a remembered answer. A value of another
// version counts as absent.
const rememberedVersion = 1

// appendRemembered writes the answer to q, given at an instant, as a value of a
// [Memory]. It returns nil for an answer that cannot be remembered: a refusal, or
// one that is not among q's options. Labels are left out: they are q's.
func appendRemembered(q *systemone.Question, a *systemone.Answer, at time.Time) []byte {
	choice := 0
	if a.Kind == systemone.Choice {
		for choice < len(q.Options) && q.Options[choice].Name != a.Choice {
			choice++
		}
		if choice == len(q.Options) {
			return nil
		}
	}
	b := make([]byte, 0, 2+4*8+2*binary.MaxVarintLen16+8*len(a.Probabilities))
	b = append(b, rememberedVersion, a.Kind[0])
	b = binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro()))
	b = appendFloat(appendFloat(appendFloat(b, a.Noul), a.Score), a.Confidence)
	b = binary.AppendUvarint(b, uint64(choice))
	b = binary.AppendUvarint(b, uint64(len(a.Probabilities)))
	for _, p := range a.Probabilities {
		b = appendFloat(b, p.P)
	}
	return b
}

// readRemembered is the reverse of appendRemembered. It returns false for a value that
// is no answer to q; the caller checks the answer itself.
func readRemembered(q *systemone.Question, b []byte) (a systemone.Answer, at time.Time, ok bool) {
	if len(b) < 2+4*8 || b[0] != rememberedVersion || q.Kind == "" || b[1] != q.Kind[0] {
		return a, at, false
	}
	at, b = time.UnixMicro(int64(binary.BigEndian.Uint64(b[2:]))), b[10:] //nolint:gosec // as it was written
	a = systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: floatAt(b, 0), Score: floatAt(b, 1), Confidence: floatAt(b, 2)}
	choice, b := uvarint(b[3*8:])
	n, b := uvarint(b)
	labels := len(q.Options) + len(q.Levels)
	if n != 0 && n != labels || len(b) != 8*n {
		return a, at, false
	}
	if q.Kind == systemone.Choice {
		if choice >= len(q.Options) {
			return a, at, false
		}
		a.Choice = q.Options[choice].Name
	}
	if q.Kind == systemone.Score {
		a.Legend = q.Levels
	}
	if n == 0 {
		return a, at, true
	}
	a.Probabilities = make([]systemone.Probability, n)
	for i := range n {
		a.Probabilities[i].P = floatAt(b, i)
		if q.Kind == systemone.Choice {
			a.Probabilities[i].Label = q.Options[i].Name
		} else {
			a.Probabilities[i].Label = strconv.Itoa(i)
		}
	}
	return a, at, true
}

func appendFloat(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(b, math.Float64bits(x))
}

// floatAt returns the i-th number of b, which must have it.
func floatAt(b []byte, i int) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b[8*i:])) }

// uvarint reads a small number and returns what follows. Anything else reads as the
// largest number.
func uvarint(b []byte) (int, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > math.MaxInt32 {
		return math.MaxInt32, nil
	}
	return int(n), b[size:]
}
