package router

// Readout says how the answers of an endpoint tell what its model found.
type Readout string

// Every readout.
const (
	// ReadoutNative means that choices and scores come with a probability for each
	// option or level.
	ReadoutNative Readout = "native"
	// ReadoutDiscrete means that the endpoint names an option or a score alone.
	// Such an answer has no confidence.
	ReadoutDiscrete Readout = "discrete"
)

// Readout returns the readout that the endpoint's Tolerance declares.
func (e *Endpoint) Readout() Readout {
	if e.Tolerance.NoDistribution {
		return ReadoutDiscrete
	}
	return ReadoutNative
}
