package systemone

import "encoding/json"

// Kind is the type of a question and of its answer.
type Kind string

// The three kinds of question.
const (
	Noul   Kind = "noul"   // the probability of yes
	Choice Kind = "choice" // one of several named options
	Score  Kind = "score"  // a position on an ordered scale
)

// Dialect says which form of a request is accepted. The zero value is Strict.
type Dialect uint8

const (
	// Strict is the documented interface: instructions are required, a noul's
	// criteria have both sides, a level is never null, a state is never null.
	Strict Dialect = iota
	// Native also accepts what clients of the native System One API send:
	// absent or null instructions, a null level, a null state, and a noul whose
	// criteria are missing a side.
	Native
)

// Request asks a model to judge a state. The zero value is not valid: see
// [Request.Validate].
type Request struct {
	Dialect   Dialect // not on the wire
	Model     string  // at most 256 characters, as in Models
	Models    []Entry // the models behind Model, in order, at most 64 with Model
	Preset    string
	State     json.RawMessage // string, object or array; null only in Native
	Questions []Question      // in the order of the request
	Provider  *Preferences    // nil when absent or null
	Routing   *Routing        // nil when absent or null
	SessionID string
	Trace     json.RawMessage // an object; nil when absent or null
	User      string
	// Refusals says that the caller's dialect has refusals, so that an answer may be
	// one. It is not on the wire.
	Refusals bool
}

// Question is one named, typed question. Kind decides which of the last four fields
// is used. A nil json.RawMessage is JSON null or an absent member.
type Question struct {
	Name         string
	Kind         Kind
	Instructions json.RawMessage   // string, object or array
	True, False  json.RawMessage   // Noul: guidance for yes and for no; both nil without criteria
	Options      []Option          // Choice: at least one, names differ
	Levels       []json.RawMessage // Score: at least one, lowest first
}

// Option is one possible answer of a choice.
type Option struct {
	Name     string
	Guidance json.RawMessage // string, object or array; nil is null
}

// Limits bounds the shape of a request. A zero field is its default.
type Limits struct {
	Questions int // default 1,000
	Options   int // per choice; default 255
	Levels    int // per score; default 255
}
