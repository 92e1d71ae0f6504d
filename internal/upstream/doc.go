// Package upstream is the common part of the HTTP clients of upstream services. It
// sends requests, limits how much of a reply is read, and gives failures their
// classes.
//
// The one thing to know first: an upstream is hostile input. Its address is fixed
// when a client is made and no request can change it. Redirects are never followed,
// every body is read up to a limit, and no error contains an upstream's text.
//
// Addresses come from the operator, so plain http and loopback are allowed. There
// is no guard against private addresses, because the author of the configuration
// can already reach them.
package upstream
