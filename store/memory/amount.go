package memory

import (
	"math"

	"github.com/signalbox/signalbox/router"
)

func plus(a, b router.Amount) router.Amount {
	return router.Amount{Credit: more(a.Credit, b.Credit), Total: more(a.Total, b.Total)}
}

func minus(a, b router.Amount) router.Amount {
	return router.Amount{Credit: a.Credit - b.Credit, Total: a.Total - b.Total}
}

// more returns a + b for amounts that are not negative, at most the largest USD.
func more(a, b router.USD) router.USD {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// less returns a - b for b >= 0, at least the smallest USD.
func less(a, b router.USD) router.USD {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}
