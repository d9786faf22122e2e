// Package accounts is who may sign in, with what, and for whom: people with their
// sessions and tokens (Accounts), tenants with their money (Tenants, Funds),
// invitations (Invitations) and qualification tests (Tests).
//
// Locks: that of the people comes before those of package recruit. The funds are
// held last: nothing else is locked while they are, but for the loop of a pool.
package accounts
