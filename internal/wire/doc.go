// Package wire holds the JSON types of the API under /v1, once: the server's
// api encodes and decodes them, makes the OpenAPI document from their tags, and
// the client and the command line read and write the same types.
//
// Names carry units where a number has one: reward_micros, lease_seconds. Times
// are RFC 3339. A field that is left out is the zero value; where zero and
// "not said" differ, the field is a pointer.
package wire
