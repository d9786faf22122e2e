// Package limits keeps what one person or tenant asks for from costing the others: it
// bounds how many transfers and event streams go on at a time, and shares views among
// all who watch the same thing.
package limits
