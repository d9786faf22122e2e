// Package bench measures a real server process from outside: full cycles a
// second against a bare server that does the least that is needed, and what a
// million tasks cost. Each figure comes with what it was compared with in the
// same run. It measures; it never passes or fails.
package bench
