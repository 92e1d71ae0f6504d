package systemonehttp

import (
	"slices"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Profile says how one upstream's System One differs from the others. It is
// plain data: take a ready one, such as [TypeSafe] or [Canonical], and change it.
// The zero value is Canonical with a key that is required.
type Profile struct {
	Name string // for configuration, e.g. typesafe

	// Path follows the base URL; default /systemone. "{model}" in it stands
	// for the upstream's name of the model.
	Path string

	Auth        Auth   // default Bearer
	KeyHeader   string // the header of the key, for KeyInHeader
	KeyOptional bool   // the upstream may also be asked without a key

	// Envelope wraps replies; the zero value is none.
	Envelope Envelope
	// SilenceRefuses says that a question without an answer was refused. Else
	// its absence is a bad reply.
	SilenceRefuses bool
	// PlainNames, when not 0, says that a question's name may have that many
	// of A-Z a-z 0-9 . _ - at most. A request with other names is sent under
	// names of our own; models do not read names, so nothing is lost.
	PlainNames int

	// NoSoleOption says that the upstream refuses a choice with one option and
	// a score with one level. They have one possible answer, which the client
	// then gives itself.
	NoSoleOption bool

	// Options are the further members of a body that the upstream knows and
	// that a caller may set through provider.options. Members of the request
	// itself can never be set. Nothing that carries content belongs here: what
	// policies scan is the state and the questions.
	Options []string
	// User is the member that takes the keyed hash of the caller's user; "" is
	// none.
	User string
	// RequestID is the header that takes our request id; "" is none.
	RequestID string
	// ReplyID are the headers that name a reply when its body does not; the
	// first one that is there counts.
	ReplyID []string

	// InputTokens and OutputTokens are names that the counts of usage may have
	// besides input_tokens and output_tokens, which go first. They need no escapes
	// in JSON.
	InputTokens, OutputTokens []string

	// Errors are errors that mean something else than their status says. They
	// go before those that are common to all upstreams: unknown models and
	// requests that are too large, told by their error codes.
	Errors []ErrorRule

	// The rest is for catalogs: what an endpoint of this upstream can take and
	// how exact it is. [Client.Endpoint] hands it on; the client itself does not
	// look at it.
	Limits        router.EndpointLimits
	ContextLength int
	Counting      router.Counting
	// NoOwnKeys says that a caller's own key cannot work: BaseURL names the
	// operator's account, or keys are not checked. It is for
	// [router.ProviderInfo], as its NoOwnCredentials.
	NoOwnKeys bool
	Tolerance systemone.Tolerance
}

// Auth is how the key is shown to an upstream.
type Auth string

// The ways to show a key.
const (
	Bearer      Auth = "bearer" // Authorization: Bearer KEY
	KeyInHeader Auth = "header" // the key alone, in the header KeyHeader
	Basic       Auth = "basic"  // Authorization: Basic; the key is user:password or its base64 form
	NoAuth      Auth = "none"   // no key at all
)

// Envelope names the members of an object that replies are wrapped in.
type Envelope struct {
	Result  string // holds the reply; "" is no envelope
	Success string // false there is a failure, also with status 200; "" is not looked at
}

// ErrorRule gives an error its class. Empty fields match anything; text
// compares without case.
type ErrorRule struct {
	Status  int          // the HTTP status; 0 is any
	Code    string       // the error's whole code, type or error_type
	Message string       // a part of the error's message
	Class   router.Class // one of the classes of attempts
}

// Endpoint is [Client.Endpoint] for an upstream that has no client, as where its
// key is missing and the endpoint is switched off.
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

// ProfileByName returns the ready profile of that name.
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
