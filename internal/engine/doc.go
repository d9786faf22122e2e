// Package engine is the state machine of one pool: which task is in whose
// hands, which answers count, what is paid, when a task has its label.
//
// It is pure. A command and a time go in; what changed comes out (Changes), to
// be made durable before anybody is told. It does no I/O, reads no clock, owns
// no goroutine and draws no random number, so the live server and the
// simulator drive the same code under two clocks.
//
// A job runs by five events, those of Cymphony's execution plan (event.go):
// a worker is ready, an answer is ready to aggregate, try to aggregate, change
// a task's number, remove a task. Each command puts events into a queue, which
// is worked off in order before the command returns.
//
// Commands are the exported methods that take a time, or change a setting.
// They are not safe for concurrent use: each engine has one driver. A command
// that returns an error has changed nothing.
package engine
