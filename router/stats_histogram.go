package router

import (
	"math/bits"
	"sync/atomic"
)

// A histogram is log-linear: whole numbers below 32 have a cell each, and above
// that every power of two is divided into 16 cells. The middle of a cell is
// therefore within 1/32 of every number counted in it. The last cell counts
// everything from 2^35 on, which is 9.5 hours in microseconds.
const (
	histogramCells = 512
	subCells       = 16
	subBits        = 4
)

// histogram counts whole numbers. It is safe for concurrent use and its zero
// value is ready.
type histogram struct {
	cells [histogramCells]atomic.Uint32
	// used has a bit for every cell that is not empty, because few are in use.
	used [histogramCells / 64]atomic.Uint64
}

func (h *histogram) add(v uint64) {
	cell := cellOf(v)
	if h.cells[cell].Add(1) == 1 {
		h.used[cell/64].Or(1 << (cell % 64))
	}
}

func cellOf(v uint64) int {
	if v < subCells {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return min(shift<<subBits+int(v>>shift), histogramCells-1) //nolint:gosec // v>>shift is below 32
}

// cellMiddle returns the middle of a cell's range.
func cellMiddle(cell int) float64 {
	if cell < 2*subCells {
		return float64(cell)
	}
	shift := cell>>subBits - 1
	low := uint64(subCells+cell%subCells) << shift
	return float64(low) + float64(uint64(1)<<shift-1)/2
}

// tallied is a sum of histograms.
type tallied struct {
	cells [histogramCells]uint64
	total uint64
}

func (t *tallied) merge(h *histogram) {
	for i := range h.used {
		for bitmap := h.used[i].Load(); bitmap != 0; bitmap &= bitmap - 1 {
			cell := i*64 + bits.TrailingZeros64(bitmap)
			n := uint64(h.cells[cell].Load())
			t.cells[cell] += n
			t.total += n
		}
	}
}

// atMost returns the percentile by nearest rank: the given percent of the counted
// numbers do not exceed it. At least one number must be counted.
func (t *tallied) atMost(percent uint64) float64 {
	rank := (t.total*percent + 99) / 100
	var seen uint64
	for i, n := range t.cells {
		if seen += n; seen >= rank {
			return cellMiddle(i)
		}
	}
	return cellMiddle(histogramCells - 1)
}

// atLeast returns what the given percent of the counted numbers reach. At least one
// number must be counted.
func (t *tallied) atLeast(percent uint64) float64 {
	rank := (t.total*percent + 99) / 100
	var seen uint64
	for i := histogramCells - 1; i >= 0; i-- {
		if seen += t.cells[i]; seen >= rank {
			return cellMiddle(i)
		}
	}
	return 0
}
