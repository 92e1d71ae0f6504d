module github.com/signalbox/signalbox

go 1.26.0

// The library.
require (
	github.com/google/uuid v1.6.0
	github.com/shopspring/decimal v1.6.0
	golang.org/x/sync v0.24.0
	golang.org/x/sys v0.49.0
	golang.org/x/text v0.43.0
)

// examples/triage.
require (
	golang.org/x/net v0.62.0
	golang.org/x/term v0.47.0
)

// Tests, and the test kits that others import.
require (
	github.com/stretchr/testify v1.12.1
	go.uber.org/mock v0.6.0
	go.yaml.in/yaml/v3 v3.0.6
	pgregory.net/rapid v1.3.0
)
