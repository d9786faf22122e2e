// Package api is the JSON API under /v1: what programs use. Requests and
// responses are Go types, from which the OpenAPI document and the page at /docs
// are made; what they mean is decided in the use cases (package app).
//
// Names carry units where a number has one: reward_micros, lease_seconds.
// Times are RFC 3339. Errors are problem+json with a code of package crowd and
// the field or line that is wrong.
package api
