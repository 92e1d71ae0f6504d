//go:build !amd64 || purego

package similarity

// portable reports whether the embedded model computes without assembly here, which takes
// eight times as long.
func portable() bool { return true }
