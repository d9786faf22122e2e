// Package app is what Throng does for its users: the use cases, and who may
// do what. It runs each pool's engine live (runner.go) and is the only room
// that knows both the engines and the store. The edges (API, web, CLI) call it
// and decide nothing.
//
// Every method that acts for somebody takes a Principal. What a principal may
// not see is "not found"; what he may see but not do is "forbidden".
package app
