package main

import (
	"context"
	"fmt"
	"os"
)

func Example_run() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// billing (confidence 1.0), answered by embedded for $0
	// candidate embedded: last_resort
}
