// Package work is a worker's cycle: the next task, the answer, giving a task back,
// and why there is nothing.
package work
