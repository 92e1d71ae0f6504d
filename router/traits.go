package router

import (
	"math/bits"
	"slices"
)

// traits are the properties of an endpoint that filters without numbers refuse, one
// bit each, in the order of the filters. One AND finds what a plan refuses, and the
// lowest bit found belongs to the first filter.
type traits uint32

const (
	trainsPaidBit    = iota // collects data, and is priced
	trainsFreeBit           // collects data, and is free
	retainsBit              // no zero retention: one bit for each vendor group
	undistillableBit        = retainsBit + len(vendorGroups)
	quantizationBit         = undistillableBit + 1 // one bit for each word
	takesNoUserBit          = quantizationBit + len(quantizationWords)
	takesNoOthersBit        = takesNoUserBit + 1 // any parameter but the user; every endpoint has this bit
	limitedBit              = takesNoOthersBit + 1
	offBit                  = limitedBit + 1
	traitBits               = offBit + 1

	// lastResort is refused by no filter; it only moves an endpoint.
	lastResort traits = 1 << traitBits

	// everyEndpoint is a trait of every endpoint.
	everyEndpoint traits = 1 << takesNoOthersBit

	allGroups        traits = (1<<len(vendorGroups) - 1) << retainsBit
	allQuantizations traits = (1<<len(quantizationWords) - 1) << quantizationBit
)

func traitsOf(e *Endpoint, m *Model, quant uint16, group uint8) traits {
	t := everyEndpoint | traits(quant)<<quantizationBit
	set := func(bit int, is bool) {
		if is {
			t |= 1 << bit
		}
	}
	free, l := e.Pricing.free(), &e.Limits
	set(trainsPaidBit, e.CollectsData && !free)
	set(trainsFreeBit, e.CollectsData && free)
	set(retainsBit+int(group), !e.ZDR)
	set(undistillableBit, !m.Distillable)
	set(takesNoUserBit, !slices.Contains(e.Parameters, parameterUser))
	set(limitedBit, e.ContextLength > 0 || max(l.Questions, l.Options, l.Levels) > 0 || l.NoNulls || l.OptionNullsOnly)
	set(offBit, e.Off)
	set(traitBits, e.LastResort)
	return t
}

// traits returns those that the rule refuses.
func (r *Rule) traits() traits {
	var t traits
	if r.NoPaidTraining {
		t |= 1 << trainsPaidBit
	}
	if r.NoFreeTraining {
		t |= 1 << trainsFreeBit
	}
	if r.ZDR {
		t |= allGroups
	}
	for _, name := range r.ZDRGroups {
		if g := groupNamed(name, noGroup); g != noGroup {
			t |= 1 << (retainsBit + g)
		} else {
			t |= allGroups
		}
	}
	return t
}

// first returns the lowest bit and its filter.
func (t traits) first() (bit int, r Filter) {
	switch bit = bits.TrailingZeros32(uint32(t)); {
	case bit < retainsBit:
		r = FilterTraining
	case bit < undistillableBit:
		r = FilterZDR
	case bit < quantizationBit:
		r = FilterDistillable
	case bit < takesNoUserBit:
		r = FilterQuantization
	case bit < limitedBit:
		r = FilterParameters
	}
	return bit, r
}

// quantizationWords are all words of the interface; the index is the bit.
//
//nolint:gochecknoglobals // a constant table
var quantizationWords = [...]string{
	"unknown", "int4", "int8", "fp4", "mxfp4", "nvfp4", "fp6", "fp8", "mxfp8", "fp16", "bf16", "fp32",
}

// quantizations returns the bit of a word, 0 for an unknown word.
func quantizations(word string) uint16 {
	if word == "" {
		word = quantizationWords[0]
	}
	if i := slices.Index(quantizationWords[:], word); i >= 0 {
		return 1 << i
	}
	return 0
}

// accepted returns the bits that satisfy a request for a quantization: fp8 includes
// mxfp8, and fp4 includes mxfp4 and nvfp4.
func accepted(word string) uint16 {
	bits := quantizations(word)
	switch word {
	case "fp8":
		bits |= quantizations("mxfp8")
	case "fp4":
		bits |= quantizations("mxfp4") | quantizations("nvfp4")
	}
	return bits
}

// acceptedTraits are the quantization traits that satisfy a request for one of
// these words.
func acceptedTraits(words []string) traits {
	var t traits
	for _, word := range words {
		t |= traits(accepted(word)) << quantizationBit
	}
	return t
}

// vendorGroups are the groups of the ZDR switches; the last is all other vendors.
//
//nolint:gochecknoglobals // a constant table
var vendorGroups = [...]string{"anthropic", "openai", "google", "xai", "other"}

const (
	otherGroup = uint8(len(vendorGroups) - 1)
	noGroup    = uint8(len(vendorGroups))
)

// groupOf returns the index of an endpoint's group: the stated one, or that of the
// model's author.
func groupOf(stated string, m *Model) uint8 {
	if stated != "" {
		return groupNamed(stated, noGroup)
	}
	switch author := fold(m.Author()); author {
	case "anthropic", "openai", "google":
		return groupNamed(author, otherGroup)
	case "x-ai":
		return groupNamed("xai", otherGroup)
	}
	return otherGroup
}

func groupNamed(name string, otherwise uint8) uint8 {
	if i := slices.Index(vendorGroups[:], name); i >= 0 {
		return uint8(i) //nolint:gosec // a short table
	}
	return otherwise
}
