//go:build amd64 && !purego

package similarity

import "golang.org/x/sys/cpu"

// portable reports whether the embedded model computes without assembly here, which takes
// eight times as long.
func portable() bool { return !cpu.X86.HasAVX2 || !cpu.X86.HasFMA }
