package main

import (
	"context"
	"os"
)

func Example_run() {
	if err := run(context.Background(), os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// spent $0.05, held $0.02
	// four more: router: limit 0 leaves only 0.03 USD
	// three more: <nil>
	//
	// the file begins: {"verb":"reserve…
}
