package split

import "github.com/signalbox/signalbox/systemone"

// Count returns how many sheets, of all rounds, the questions take at an endpoint that
// [New] can cut them for.
func Count(questions []systemone.Question, most Limits) (sheets int) {
	left := make([]int, len(questions)) // entrants of each choice that is cut; 1 for another question, 0 once it has its answer
	for i := range questions {
		left[i] = 1
		if n := len(questions[i].Options); questions[i].Kind == systemone.Choice && most.Options > 1 && n > most.Options {
			left[i] = n
		}
	}
	for {
		due := 0
		for i, n := range left {
			switch n {
			case 0:
				continue
			case 1:
				due, left[i] = due+1, 0
				continue
			}
			chunks := parts(n, most.Options)
			if due += min(chunks, n-chunks); chunks == 1 {
				chunks = 0
			}
			left[i] = chunks
		}
		switch {
		case due == 0:
			return sheets
		case most.Questions <= 0:
			sheets++
		default:
			sheets += parts(due, most.Questions)
		}
	}
}
