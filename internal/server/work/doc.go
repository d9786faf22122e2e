// Package work is a worker's cycle: the next task, the answer, giving a task back,
// and why there is nothing.
//
// Its tests are in server/app, through package app: work and people (_test.go).
package work
