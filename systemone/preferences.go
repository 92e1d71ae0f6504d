package systemone

import (
	"encoding/json"

	"github.com/shopspring/decimal"
)

// Preferences says how a request wants to be routed. The zero value states no
// preference. Null members count as absent.
type Preferences struct {
	AllowFallbacks         *bool // nil is true
	DataCollection         DataCollection
	EnforceDistillableText bool
	Ignore, Only, Order    []string // provider slugs, with or without a variant, or display names
	MaxPrice               MaxPrice
	Options                []ProviderOptions // in the order of the request
	PreferredMaxLatency    Cutoffs           // seconds
	PreferredMinThroughput Cutoffs           // tokens per second
	Quantizations          []string
	RequireParameters      bool
	Sort                   Sort
	ZDR                    bool
}

// DataCollection says whether providers that collect data may be used.
type DataCollection string

// The values of [Preferences.DataCollection]; "" is the same as allow.
const (
	DataCollectionAllow DataCollection = "allow"
	DataCollectionDeny  DataCollection = "deny"
)

// MaxPrice caps list prices in USD; nil is no cap. A price equal to its cap is
// allowed. Prompt and Completion are per million tokens.
type MaxPrice struct {
	Prompt, Completion, Request, Image, Audio *decimal.Decimal
}

// ProviderOptions are free-form options for one provider, an object.
type ProviderOptions struct {
	Provider string
	Options  json.RawMessage
}

// Cutoffs are thresholds per percentile; nil is none. In JSON a plain number is
// P50.
type Cutoffs struct{ P50, P75, P90, P99 *float64 }

// Sort orders endpoints instead of balancing load between them.
type Sort struct {
	By        SortBy
	Partition Partition
}

// SortBy is the figure by which endpoints are sorted; "" is none.
type SortBy string

// The values of [Sort.By].
const (
	SortPrice      SortBy = "price"
	SortThroughput SortBy = "throughput"
	SortLatency    SortBy = "latency"
	SortExacto     SortBy = "exacto"
)

// Partition says whether fallback models stay behind the models before them; "" is
// [PartitionModel].
type Partition string

// The values of [Sort.Partition].
const (
	PartitionModel Partition = "model"
	PartitionNone  Partition = "none"
)
