package router

import (
	"math/bits"
	"slices"
)

// sorter sorts numbers, and keeps the memory for it.
type sorter struct{ buckets []int32 }

// few numbers are sorted without buckets.
const few = 16

// sort writes the numbers, of so many bits at most, to sorted in order. By their
// highest bits prices and figures mostly fall into as many buckets as there are
// numbers, which leaves next to nothing to sort.
func (s *sorter) sort(sorted, numbers []uint64, width int) {
	if len(numbers) <= few {
		copy(sorted, numbers)
	} else {
		s.scatter(sorted, numbers, width)
	}
	insert(sorted)
}

// scatter puts the numbers into buckets by their highest bits, and sorts full
// ones.
func (s *sorter) scatter(sorted, numbers []uint64, width int) {
	digit := min(bits.Len(uint(len(numbers))), width)
	shift := (width - digit) % wordBits
	s.buckets = slices.Grow(s.buckets[:0], 1<<digit)[:1<<digit]
	buckets := s.buckets
	clear(buckets)
	for _, n := range numbers {
		buckets[n>>shift]++
	}
	var begin, most int32
	for i, n := range buckets {
		buckets[i] = begin
		begin += n
		most = max(most, n)
	}
	for _, n := range numbers {
		at := &buckets[n>>shift]
		sorted[*at] = n
		*at++
	}
	if most <= few {
		return
	}
	begin = 0
	for _, end := range buckets { // where the next one begins
		if end-begin > few {
			slices.Sort(sorted[begin:end])
		}
		begin = end
	}
}

// insert sorts numbers that are nearly in order.
func insert(numbers []uint64) {
	for i := 1; i < len(numbers); i++ {
		n, j := numbers[i], i
		for ; j > 0 && numbers[j-1] > n; j-- {
			numbers[j] = numbers[j-1]
		}
		numbers[j] = n
	}
}
