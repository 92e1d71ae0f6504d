package systemone

// Entry is one member of the list that Model and Models make: a model to ask. On
// the wire it is a text where only Model is set, and an object otherwise.
//
// An entry with When begins a group. The entries without When behind it belong to
// its group and are asked where the models before them fail.
type Entry struct {
	Model string // at most 256 characters
	// When says which answers make the group due. Nil is no condition.
	When  *Condition
	Scope Scope // what the group is asked; only with When
	// Required says that the request fails where the group is due and cannot
	// answer. Without it the answers so far stay. Only with When.
	Required bool
	// ShopRefusals says that questions which a model refuses are asked of the
	// entries that follow.
	ShopRefusals bool
	// Calibration names the calibration that the bounds of When were chosen for;
	// "" is none. On the wire it is a member of when.
	Calibration string
}

// Texts returns entries without conditions, one for each model.
func Texts(models ...string) []Entry {
	if len(models) == 0 {
		return nil
	}
	list := make([]Entry, len(models))
	for i, model := range models {
		list[i].Model = model
	}
	return list
}

// Scope says which questions a group is asked.
type Scope string

// The values of [Entry.Scope]; "" is [ScopeMatched].
const (
	ScopeMatched Scope = "matched" // those that the condition names
	ScopeAll     Scope = "all"     // every question of the request
)

// Routing says what a request may cost and how it may be asked. The zero value
// states nothing.
type Routing struct {
	// MaxCost is decimal text in USD that all attempts of the request together may
	// cost, or "" for no limit.
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
// upper limit; "" is that limit.
type Remember string

// The values of [Routing.Remember].
const (
	RememberOff   Remember = "off"   // neither used nor kept
	RememberRead  Remember = "read"  // used
	RememberWrite Remember = "write" // used and kept
)
