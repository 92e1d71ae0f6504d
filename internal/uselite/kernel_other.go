//go:build !amd64 || purego

package uselite

// fastest is the best product for this processor.
func fastest() product { return multiplyPortable }
