package store

import "context"

// Health tells how the store fares.
type Health interface {
	// Probe keeps a row and takes it away again, in one transaction, and returns when that
	// is durable: so the store can be written, and has room for a small commit.
	Probe(ctx context.Context) error
}
