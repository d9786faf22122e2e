// Package httpstep calls the software services of workflows over HTTP: one
// request with the columns of one item, one JSON answer that must fit a
// schema. It makes one try at a time and returns what came of it; whether and
// when there is another one, Retry decides, and waiting is the caller's.
//
// The address of a service comes from a user. So no private address is
// dialled unless the operator allows it, nothing is read without end, no
// redirect leads to another host, and no secret gets into a message.
package httpstep
