package router

import "github.com/signalbox/signalbox/systemone"

// Shape is what routing needs to know of a request's size. [ShapeOf] computes it.
type Shape struct {
	Questions, Options, Levels     int   // Options and Levels are the largest of any question
	Nulls                          bool  // anything is null
	OtherNulls                     bool  // anything but an option's guidance is
	StateTokens                    int64 // estimate
	PromptTokens, CompletionTokens int64 // estimate, for prices
	Parameters                     []string
}

// parameterUser is the one parameter of a decision that may go upstream.
const parameterUser = "user"

// bytesPerToken is the bytes of JSON text for one estimated token: common
// tokenizers average four bytes a token on English text.
const bytesPerToken = 4

// ShapeOf measures a request. Tokens are estimates, because every upstream has its
// own tokenizer: one for every four bytes of JSON, rounded up. StateTokens counts
// the state; PromptTokens counts state, names, instructions and criteria.
// CompletionTokens has one token for each label that gets a probability.
func ShapeOf(r *systemone.Request) Shape {
	s := Shape{Questions: len(r.Questions), OtherNulls: isNull(r.State), StateTokens: tokens(len(r.State))}
	size := len(r.State)
	for i := range r.Questions {
		size += s.question(&r.Questions[i])
	}
	s.Nulls = s.Nulls || s.OtherNulls
	s.PromptTokens = tokens(size)
	if r.User != "" {
		s.Parameters = []string{parameterUser}
	}
	return s
}

// question adds one question and returns its size in bytes.
func (s *Shape) question(q *systemone.Question) int {
	size := len(q.Name) + len(q.Instructions)
	s.OtherNulls = s.OtherNulls || isNull(q.Instructions)
	switch q.Kind {
	case systemone.Noul:
		size += len(q.True) + len(q.False)
		s.CompletionTokens++
		s.OtherNulls = s.OtherNulls || isNull(q.True) != isNull(q.False)
	case systemone.Choice:
		for i := range q.Options {
			size += len(q.Options[i].Name) + len(q.Options[i].Guidance)
			s.Nulls = s.Nulls || isNull(q.Options[i].Guidance)
		}
		s.Options = max(s.Options, len(q.Options))
		s.CompletionTokens += int64(len(q.Options))
	case systemone.Score:
		for _, level := range q.Levels {
			size += len(level)
			s.OtherNulls = s.OtherNulls || isNull(level)
		}
		s.Levels = max(s.Levels, len(q.Levels))
		s.CompletionTokens += int64(len(q.Levels))
	}
	return size
}

func tokens(size int) int64 { return int64((size + bytesPerToken - 1) / bytesPerToken) }
