package memory

// byDeadline is a heap of holds, the earliest deadline first. Each hold knows
// its place, so that one in the middle leaves without a search. Deadlines mostly
// rise, and then a push is one comparison.
type byDeadline []*hold

// first returns the earliest, or nil.
func (q byDeadline) first() *hold {
	if len(q) == 0 {
		return nil
	}
	return q[0]
}

func (q *byDeadline) push(h *hold) {
	h.place = len(*q)
	*q = append(*q, h)
	q.up(h.place)
}

// remove takes out a hold of this heap.
func (q *byDeadline) remove(h *hold) {
	last := len(*q) - 1
	i := h.place
	q.swap(i, last)
	(*q)[last] = nil
	*q = (*q)[:last]
	if i < last {
		q.down(i)
		q.up(i)
	}
}

func (q byDeadline) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q byDeadline) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q[i].deadline.Before(q[parent].deadline) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q byDeadline) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(q) {
			return
		}
		if right := child + 1; right < len(q) && q[right].deadline.Before(q[child].deadline) {
			child = right
		}
		if !q[child].deadline.Before(q[i].deadline) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
