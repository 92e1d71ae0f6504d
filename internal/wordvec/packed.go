package wordvec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrFormat is wrapped by every error of [Read]: the bytes are not a packed table, or are
// truncated or damaged.
var ErrFormat = errors.New("wordvec: not a valid packed table")

// magic is the start of a packed file and contains the version of the format.
//
// The rest is little endian: the number of words and of dimensions, and the common
// direction (float32 each). Then follow the words, from frequent to rare: length (one
// byte), text, scale (float32), and one int8 for each dimension.
const magic = "WVEC2\n"

const (
	headSize = len(magic) + 4 + 4
	maxDim   = 1 << 12
)

// Read returns the table in a packed file. The table refers to data, which must not be
// modified while the table is in use. Every error wraps [ErrFormat].
func Read(data []byte) (*Table, error) {
	if len(data) < headSize || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin with %.5s", ErrFormat, magic)
	}
	words := uint64(binary.LittleEndian.Uint32(data[len(magic):]))
	dim := uint64(binary.LittleEndian.Uint32(data[len(magic)+4:]))
	data = data[headSize:]
	if dim == 0 || dim > maxDim || uint64(len(data)) < 4*dim+words*(1+1+4+dim) {
		return nil, fmt.Errorf("%w: %d bytes do not hold %d words of %d dimensions", ErrFormat, len(data), words, dim)
	}
	t := &Table{
		dim: int(dim), common: make([]float32, dim),
		index: make(map[string]int, words), rows: make([]row, words),
	}
	for i := range t.common {
		t.common[i] = float(data[4*i:])
		if !finite(t.common[i]) {
			return nil, fmt.Errorf("%w: the common direction is not finite", ErrFormat)
		}
	}
	data = data[4*t.dim:]
	for i := range t.rows {
		var err error
		if data, err = t.readRow(i, data); err != nil {
			return nil, err
		}
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%w: %d bytes follow the words", ErrFormat, len(data))
	}
	return t, nil
}

// readRow reads the word with a rank and returns the data after it.
func (t *Table) readRow(rank int, data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("%w: it ends before word %d", ErrFormat, rank)
	}
	size := int(data[0])
	data = data[1:]
	if len(data) < size+4+t.dim {
		return nil, fmt.Errorf("%w: it ends within word %d", ErrFormat, rank)
	}
	word := string(data[:size])
	if _, twice := t.index[word]; twice || word == "" {
		return nil, fmt.Errorf("%w: word %d is empty or a duplicate", ErrFormat, rank)
	}
	scale := float(data[size:])
	if !finite(scale) || scale < 0 {
		return nil, fmt.Errorf("%w: the scale of word %d is negative or not finite", ErrFormat, rank)
	}
	data = data[size+4:]
	t.index[word] = rank
	t.rows[rank] = row{scale: scale, values: data[:t.dim:t.dim]}
	return data[t.dim:], nil
}

// Entry is a word with its vector, for [Pack].
type Entry struct {
	Word   string // 1 to 255 bytes, lower case
	Vector []float32
}

// Pack returns the packed file of entries, which must be ordered from frequent to rare
// words and have dim dimensions each. Each vector is rounded to int8 with its own scale.
// The common direction is computed from the background sentences.
//
// Pack validates nothing; [Read] does. The same input gives the same bytes on every
// platform.
func Pack(dim int, entries []Entry, background []string) []byte {
	t := &Table{dim: dim, index: make(map[string]int, len(entries))}
	for i, e := range entries {
		t.index[e.Word] = i
		t.rows = append(t.rows, quantise(e.Vector[:dim]))
	}
	out := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(entries))) //nolint:gosec // a length in memory
	out = binary.LittleEndian.AppendUint32(out, uint32(dim))                     //nolint:gosec // a length in memory
	for _, c := range t.direction(background) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(c))
	}
	for i, e := range entries {
		out = append(out, byte(len(e.Word))) //nolint:gosec // at most 255, as Word says
		out = append(out, e.Word...)
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(t.rows[i].scale))
		out = append(out, t.rows[i].values...)
	}
	return out
}

func quantise(vector []float32) row {
	var most float32
	for _, v := range vector {
		most = max(most, v, -v)
	}
	r := row{scale: most / math.MaxInt8, values: make([]byte, len(vector))}
	for i, v := range vector {
		if r.scale > 0 {
			r.values[i] = byte(int8(math.RoundToEven(float64(v / r.scale)))) //nolint:gosec // the bits of the int8
		}
	}
	return r
}

// direction returns the first principal direction of the vectors of texts, by power
// iteration. Twenty rounds suffice because one direction dominates.
func (t *Table) direction(texts []string) []float32 {
	var vectors [][]float32
	for _, text := range texts {
		if v := t.Encode(text); v != nil {
			vectors = append(vectors, v)
		}
	}
	now := make([]float32, t.dim)
	for i := range now {
		now[i] = 1
	}
	unit(now)
	for range 20 {
		next := make([]float32, t.dim)
		for _, v := range vectors {
			along := dot(v, now)
			for i, e := range v {
				next[i] += float32(along * e)
			}
		}
		if !unit(next) {
			return next // no vectors, so no direction
		}
		now = next
	}
	return now
}

func float(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func finite(f float32) bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }
