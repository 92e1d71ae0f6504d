package uselite

import (
	"encoding/binary"
	"math"
)

// Weights are the float32 parameters of a model, in the order of the packed file. Only
// the tool that makes packed files needs them.
type Weights struct {
	Pieces    []string  // each 1 to 255 bytes; id is the index
	Scores    []float32 // one for each piece
	Embedding Matrix    // at least one row for each piece
	Timing    []float32 // frequencies; half as many as the embedding has columns
	Norms     [4]Norm   // layer 0: attention, feed forward; layer 1 the same
	Linears   [10]Linear
}

// Matrix is a matrix in row-major order.
type Matrix struct {
	Cols   int
	Values []float32
}

// Norm holds the learned scale and bias of a layer normalisation.
type Norm struct{ Scale, Bias []float32 }

// Linear is a matrix with one row for each output, and a bias for each.
type Linear struct {
	Weights Matrix
	Bias    []float32
}

// Pack returns the packed file of w, with each row of a matrix rounded to int8 with its
// own scale. It validates nothing; [Read] does. The same weights give the same bytes on
// every platform.
func (w *Weights) Pack() []byte {
	p := packer{bytes: []byte(magic)}
	p.number(len(w.Pieces))
	for i, piece := range w.Pieces {
		p.bytes = append(p.bytes, byte(len(piece))) //nolint:gosec // at most 255, as Pieces says
		p.bytes = append(p.bytes, piece...)
		p.float(w.Scores[i])
	}
	p.matrix(w.Embedding)
	p.vector(w.Timing)
	for _, n := range w.Norms {
		p.vector(n.Scale)
		p.vector(n.Bias)
	}
	for _, l := range w.Linears {
		p.matrix(l.Weights)
		p.vector(l.Bias)
	}
	return p.bytes
}

type packer struct{ bytes []byte }

func (p *packer) number(n int) {
	p.bytes = binary.LittleEndian.AppendUint32(p.bytes, uint32(n)) //nolint:gosec // lengths of slices in memory
}

func (p *packer) float(f float32) {
	p.bytes = binary.LittleEndian.AppendUint32(p.bytes, math.Float32bits(f))
}

func (p *packer) vector(v []float32) {
	p.number(len(v))
	for _, f := range v {
		p.float(f)
	}
}

func (p *packer) matrix(m Matrix) {
	p.number(m.Cols)
	p.number(len(m.Values) / m.Cols)
	for from := 0; from < len(m.Values); from += m.Cols {
		row := m.Values[from : from+m.Cols]
		var most float32
		for _, v := range row {
			most = max(most, v, -v)
		}
		scale := most / math.MaxInt8
		p.float(scale)
		for _, v := range row {
			q := 0.0
			if scale > 0 {
				q = math.RoundToEven(float64(v / scale))
			}
			p.bytes = append(p.bytes, byte(int8(q))) //nolint:gosec // the bits of the int8
		}
	}
}
