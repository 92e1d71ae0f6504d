package systemone

// Routing says what a request may cost and how it may be asked. The zero value
// states nothing.
type Routing struct {
	// MaxCost is what all attempts of the request may cost together: decimal text in
	// USD with at most nine decimals, or "" for no limit.
	MaxCost    string
	DeadlineMS int // milliseconds, 1 to 600,000; 0 is none
	Split      Split
	Remember   Remember
}

// Split says whether a request that no endpoint can take whole is divided.
type Split string

// The values of [Routing.Split]; "" is [SplitAuto].
const (
	SplitAuto  Split = "auto"
	SplitNever Split = "never"
)

// Remember says how remembered answers are used. The program's configuration is the
// upper limit, and "" is that limit.
type Remember string

// The values of [Routing.Remember].
const (
	RememberOff   Remember = "off"   // neither used nor kept
	RememberRead  Remember = "read"  // used
	RememberWrite Remember = "write" // used and kept
)
