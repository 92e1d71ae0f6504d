package router

// LegReason is why a leg of a call was asked.
type LegReason string

// The reasons of legs.
const (
	// LegFirst is the leg of all the questions of a call, at the first group of
	// models that answers.
	LegFirst LegReason = "first"
	// LegEscalated is a leg of a later group, which a condition on the answers so
	// far made due.
	LegEscalated LegReason = "escalated"
	// LegSplit is one of the sheets into which questions or options were cut that
	// no endpoint takes together.
	LegSplit LegReason = "split"
	// LegRefused asks elsewhere the questions that an upstream refused.
	LegRefused LegReason = "refused"
)
