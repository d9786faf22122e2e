// Package web is the pages for people: workers, requesters and admins. They are
// made on the server and work without JavaScript, but for tasks in a
// requester's own HTML; small modules in static/ make them better.
//
// It decides nothing: what is done, and who may do it, is for the use cases (package
// app).
// All routes stand in routes.go with the role that each needs. A requester's
// HTML is only ever shown in a sandboxed frame on an opaque origin.
package web
