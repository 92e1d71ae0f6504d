package memory

// byDeadline is a heap of holds with the earliest deadline first. Each hold knows its index,
// so that it can be removed without a search. Deadlines mostly ascend; then a push is one
// comparison.
type byDeadline []*hold

// first returns the hold with the earliest deadline, or nil.
func (q *byDeadline) first() *hold {
	if len(*q) == 0 {
		return nil
	}
	return (*q)[0]
}

func (q *byDeadline) push(h *hold) {
	h.place = len(*q)
	*q = append(*q, h)
	q.up(h.place)
}

// remove removes a hold, which must be in this heap.
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

func (q *byDeadline) swap(i, j int) {
	holds := *q
	holds[i], holds[j] = holds[j], holds[i]
	holds[i].place, holds[j].place = i, j
}

func (q *byDeadline) up(i int) {
	holds := *q
	for i > 0 {
		parent := (i - 1) / 2
		if !holds[i].deadline.Before(holds[parent].deadline) {
			return
		}
		q.swap(i, parent)
		i = parent
	}
}

func (q *byDeadline) down(i int) {
	holds := *q
	for {
		child := 2*i + 1
		if child >= len(holds) {
			return
		}
		if right := child + 1; right < len(holds) && holds[right].deadline.Before(holds[child].deadline) {
			child = right
		}
		if !holds[child].deadline.Before(holds[i].deadline) {
			return
		}
		q.swap(i, child)
		i = child
	}
}
