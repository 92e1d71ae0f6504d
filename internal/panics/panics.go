// Package panics keeps a panic of code that the embedding program brings, such as
// a store, from ending the process.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Catch calls f and returns its error. A panic of f is returned as an error with
// the value and the stack. Goroutines need it most: nothing else recovers there.
func Catch(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n\n%s", v, debug.Stack())
		}
	}()
	return f()
}
