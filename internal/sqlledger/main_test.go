package sqlledger_test

import (
	"testing"

	"github.com/signalbox/signalbox/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
