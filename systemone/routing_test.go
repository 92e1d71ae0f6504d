package systemone_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/systemone"
)

func TestDecodeRouting(t *testing.T) {
	for text, want := range map[string]*systemone.Routing{
		`null`: nil,
		`{}`:   {},
		`{"max_cost":null,"deadline_ms":null,"split":null,"remember":null}`:       {},
		`{"max_cost":"0.05","deadline_ms":1,"split":"auto","remember":"off"}`:     {MaxCost: "0.05", DeadlineMS: 1, Split: systemone.SplitAuto, Remember: systemone.RememberOff},
		`{"max_cost":0.1,"deadline_ms":600000,"split":"never","remember":"read"}`: {MaxCost: "0.1", DeadlineMS: 600_000, Split: systemone.SplitNever, Remember: systemone.RememberRead},
		`{"max_cost":8999999999.999999999,"deadline_ms":1e3,"remember":"write"}`:  {MaxCost: "8999999999.999999999", DeadlineMS: 1000, Remember: systemone.RememberWrite},
		`{"max_cost":"1e-9"}`: {MaxCost: "0.000000001"},
		`{"max_cost":0}`:      {MaxCost: "0"},
		`{"max_cost":9e9}`:    {MaxCost: "9000000000"},
	} {
		assert.Equal(t, want, decode(t, with(`"routing":`+text)).Routing, text)
	}
	assert.Nil(t, decode(t, with(`"user":"u"`)).Routing)
}

func TestDecodeRefusesRouting(t *testing.T) {
	const (
		cost     = `routing.max_cost: must be an amount in USD from 0 to 9000000000 with at most nine decimals, such as "0.05"`
		deadline = "routing.deadline_ms: must be a whole number from 1 to 600000"
	)
	for text, want := range map[string]string{
		`[]`:                                "routing: must be an object",
		`{"maxCost":1}`:                     "routing.maxCost: is not a known member",
		`{"max_cost":-1}`:                   cost,
		`{"max_cost":"1,5"}`:                cost,
		`{"max_cost":true}`:                 cost,
		`{"max_cost":""}`:                   cost,
		`{"max_cost":0.0000000001}`:         cost,
		`{"max_cost":9000000000.000000001}`: cost,
		`{"max_cost":1e1000000000}`:         cost,
		`{"deadline_ms":0}`:                 deadline,
		`{"deadline_ms":600001}`:            deadline,
		`{"deadline_ms":1.5}`:               deadline,
		`{"deadline_ms":"1"}`:               deadline,
		`{"deadline_ms":-1}`:                deadline,
		`{"split":"always"}`:                "routing.split: must be one of auto, never",
		`{"remember":true}`:                 "routing.remember: must be one of off, read, write",
	} {
		_, err := systemone.Decoder{}.Decode([]byte(with(`"routing":` + text)))
		assert.Equal(t, []string{want}, issues(t, err), text)
	}
	byHand := byHand()
	byHand.Routing = &systemone.Routing{MaxCost: "-1", DeadlineMS: -1, Split: "x", Remember: "y"}
	assert.Equal(t, []string{cost, deadline, "routing.split: must be one of auto, never", "routing.remember: must be one of off, read, write"},
		issues(t, byHand.Validate(systemone.Limits{})))
}
