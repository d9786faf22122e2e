// Package limits keeps what one person or tenant asks for from costing the others: it
// bounds how many transfers and event streams go on at a time and how often something
// is done under a key, and shares views among all who watch the same thing.
package limits
