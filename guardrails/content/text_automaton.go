package content

// automaton finds many words in one pass over a text (Aho and Corasick, 1975). The words
// are lower-case ASCII. Capitals in the text match small letters.
type automaton struct {
	class [256]uint8
	next  []uint16 // index: state<<classBits|class; the high bit marks a state in which words end
	ends  [][]int  // for each state, the words that end there
	sizes []int
}

const (
	classBits = 6
	wordsEnd  = 1 << 15
)

func newAutomaton(words []string) *automaton {
	a := &automaton{}
	classes := uint8(1)
	for _, w := range words {
		a.sizes = append(a.sizes, len(w))
		for i := range len(w) {
			if c := w[i]; a.class[c] == 0 {
				a.class[c] = classes
				if 'a' <= c && c <= 'z' {
					a.class[c-'a'+'A'] = classes
				}
				classes++
			}
		}
	}
	for _, c := range []byte("_-\t\r\n") { // characters that separate words
		if a.class[' '] != 0 && a.class[c] == 0 {
			a.class[c] = a.class[' ']
		}
	}
	a.grow()
	for n, w := range words {
		state := 0
		for i := range len(w) {
			slot := state<<classBits | int(a.class[w[i]])
			if a.next[slot] == 0 {
				a.next[slot] = uint16(a.grow()) //nolint:gosec // a few thousand states at most
			}
			state = int(a.next[slot])
		}
		a.ends[state] = append(a.ends[state], n)
	}
	a.link()
	return a
}

// grow adds a state and returns it.
func (a *automaton) grow() int {
	a.next = append(a.next, make([]uint16, 1<<classBits)...)
	a.ends = append(a.ends, nil)
	return len(a.ends) - 1
}

// link turns the trie of words into an automaton: where a word cannot continue, it goes
// to the longest suffix of the input that begins another word.
func (a *automaton) link() {
	fail := make([]int, len(a.ends))
	queue := []int{0}
	for head := 0; head < len(queue); head++ {
		state := queue[head]
		a.ends[state] = append(a.ends[state], a.ends[fail[state]]...)
		for c := range 1 << classBits {
			slot, other := state<<classBits|c, fail[state]<<classBits|c
			child := int(a.next[slot])
			switch {
			case child == 0 && state != 0:
				a.next[slot] = a.next[other]
			case child != 0:
				if state != 0 {
					fail[child] = int(a.next[other])
				}
				queue = append(queue, child)
			}
		}
	}
	for i, state := range a.next {
		if len(a.ends[state]) > 0 {
			a.next[i] |= wordsEnd
		}
	}
}

func (a *automaton) length(word int) int { return a.sizes[word] }

// each calls found with each word in b and the index after it, in the order of these
// indexes.
func (a *automaton) each(b []byte, found func(word, end int)) {
	state := 0
	for i, c := range b {
		next := a.next[state<<classBits|int(a.class[c])]
		state = int(next &^ wordsEnd)
		if next&wordsEnd != 0 {
			for _, w := range a.ends[state] {
				found(w, i+1)
			}
		}
	}
}
