package systemonehttp

import (
	"slices"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Profile describes how one upstream's System One differs from the others. It is
// plain data: take a ready one, such as [TypeSafe] or [Canonical], and change it.
// The zero value is Canonical with a required key.
type Profile struct {
	Name string // for configuration, e.g. typesafe

	// Path is appended to the base URL; default /systemone. "{model}" in it is
	// replaced by the upstream's name of the model.
	Path string

	Auth        Auth   // default Bearer
	KeyHeader   string // the header of the key, for KeyInHeader
	KeyOptional bool   // the upstream may also be asked without a key

	// Envelope wraps replies; the zero value is none.
	Envelope Envelope
	// SilenceRefuses says that a question without an answer was refused. Without it
	// a missing answer is a bad reply.
	SilenceRefuses bool
	// PlainNames, when not 0, says that a question's name must consist of A-Z a-z
	// 0-9 . _ - and have at most that many characters. A request with other names
	// is sent with replaced names, which lose nothing because models do not read
	// names.
	PlainNames int

	// NoSoleOption says that the upstream refuses a choice with one option and a
	// score with one level. They have only one possible answer, so the client
	// answers them itself.
	NoSoleOption bool

	// Options are the further members of a body that the upstream knows and that a
	// caller may set through provider.options. Members of the request itself can
	// never be set. Do not list members that carry content, because content
	// policies scan only the state and the questions.
	Options []string
	// User is the member for the keyed hash of the caller's user; "" is none.
	User string
	// RequestID is the header for the router's request id; "" is none.
	RequestID string
	// ReplyID are the headers with the id of a reply whose body has none; the first
	// that is present counts.
	ReplyID []string

	// InputTokens and OutputTokens are further names of the counts of usage, after
	// input_tokens and output_tokens. They must not need escapes in JSON.
	InputTokens, OutputTokens []string

	// Errors are errors whose class differs from that of their status. They are
	// checked before the rules common to all upstreams, which detect unknown models
	// and requests that are too large by their error codes.
	Errors []ErrorRule

	// The remaining fields describe the upstream's endpoints for catalogs.
	// [Client.Endpoint] copies them; the client itself does not use them.
	Limits        router.EndpointLimits
	ContextLength int
	Counting      router.Counting
	// NoOwnKeys says that a caller's own key cannot work, because BaseURL names the
	// operator's account or keys are not checked. It is the value for
	// [router.ProviderInfo]'s NoOwnCredentials.
	NoOwnKeys bool
	// Tolerance states how coarse the upstream's probabilities are.
	Tolerance systemone.Tolerance
}

// Auth says how the key is sent to an upstream.
type Auth string

// Every value of Auth.
const (
	Bearer      Auth = "bearer" // Authorization: Bearer KEY
	KeyInHeader Auth = "header" // the key alone, in the header KeyHeader
	Basic       Auth = "basic"  // Authorization: Basic; the key is user:password or its base64 form
	NoAuth      Auth = "none"   // no key at all
)

// Envelope names the members of an object that wraps replies.
type Envelope struct {
	Result  string // contains the reply; "" is no envelope
	Success string // false in this member is a failure, even with status 200; "" checks none
}

// ErrorRule gives an error its class. Empty fields match anything; text is compared
// without case.
type ErrorRule struct {
	Status  int          // the HTTP status; 0 is any
	Code    string       // the error's whole code, type or error_type
	Message string       // a substring of the error's message
	Class   router.Class // one of the classes of attempts
}

// Endpoint is [Client.Endpoint] for an upstream without a client, such as one whose
// key is missing and whose endpoint is switched off.
func (p Profile) Endpoint(slug, model, upstreamModel string) router.Endpoint {
	e := router.Endpoint{
		Provider:      slug,
		Model:         model,
		UpstreamModel: upstreamModel,
		ContextLength: p.ContextLength,
		Limits:        p.Limits,
		Tolerance:     p.Tolerance,
		Counting:      p.Counting,
	}
	if p.User != "" {
		e.Parameters = []string{"user"}
	}
	return e
}

// ProfileByName returns the ready profile of that name, and whether it exists.
func ProfileByName(name string) (Profile, bool) {
	all := Profiles()
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return all[i], true
}

func (p Profile) rules() []upstream.Rule {
	rules := make([]upstream.Rule, 0, len(p.Errors))
	for _, r := range p.Errors {
		rules = append(rules, upstream.Rule(r))
	}
	return append(rules, upstream.CommonRules()...)
}
