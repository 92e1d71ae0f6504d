// Package signalbox is the home of an embeddable router for decision models.
//
// The packages to import stand below it: systemone (the vocabulary), router
// (the engine), router/similarity (an embedded model) and httpapi (an HTTP
// interface for any mux).
package signalbox
