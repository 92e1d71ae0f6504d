package router

import "testing"

// A walk that has spent what it held does not keep another walk of the call from the
// rest, although it has not ended yet.
func TestSpentIsNotHeldAsWell(t *testing.T) {
	t.Parallel()
	fee := Amount{Credit: 1, Total: 1}
	s := &reservation{ceiling: &Budget{Max: 2}}
	first, second := share{of: s}, share{of: s}
	if refused, err := first.hold(t.Context(), nil, "", fee); refused != nil || err != nil {
		t.Fatal(refused, err)
	}
	first.spend(fee)
	if refused, err := second.hold(t.Context(), nil, "", fee); refused != nil || err != nil {
		t.Error("of 2, 1 is spent: ", refused, err)
	}
	first.giveBack()
	second.giveBack()
	if s.spent != fee || s.taken != (Amount{}) {
		t.Error(s.spent, s.taken)
	}
}
