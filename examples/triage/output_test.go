package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func TestLinesHaveTheTwoForms(t *testing.T) {
	t.Parallel()
	done, err := outcome{id: "a<b", source: "f:1", result: &router.Result{
		Cost: 1_500_000,
		Response: systemone.Response{
			Answers: systemone.Answers{{Name: "angry", Kind: systemone.Noul, Noul: 0.125}}, Provider: "Here", Model: "m/n",
		},
	}}.line()
	require.NoError(t, err)
	assert.Equal(t, `{"id":"a\u003cb","source":"f:1","answers":{"angry":{"type":"noul","noul":0.125}},"provider":"Here","model":"m/n","cost":0.0015}`+"\n",
		string(done))
	broken, err := outcome{id: "2", source: "f:2", err: errors.New("broken\nin two lines")}.line()
	require.NoError(t, err)
	assert.Equal(t, `{"id":"2","source":"f:2","error":"broken in two lines"}`+"\n", string(broken))
}

func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	assert.Len(t, oneLine(errors.New(strings.Repeat("long ", 1000))), 300)
}

func TestCostsDoNotWrap(t *testing.T) {
	t.Parallel()
	program := triage{out: io.Discard}
	for range 2 {
		require.NoError(t, program.finish(outcome{result: &router.Result{Cost: math.MaxInt64 - 1}}))
	}
	assert.Equal(t, router.USD(math.MaxInt64), program.cost)
}

func TestNotesCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	program := triage{out: io.Discard, log: &log}
	o := outcome{source: "\x1b[2J\u202eevil", err: errEmpty}
	o.note("two\nlines \u0007 and \u6f22\u5b57")
	require.NoError(t, program.finish(o))
	assert.Equal(t, "triage: ?[2J?evil: two lines ? and \u6f22\u5b57\n", log.String())
}
