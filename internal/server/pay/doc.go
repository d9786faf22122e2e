// Package pay is what becomes of pay that waits for approval: requesters approve or refuse it, with
// a reason, workers appeal, and what nobody decides in time is decided by itself (ADR 46).
//
// The store keeps it, and moves its money; no engine knows of it. So nothing here waits for a pool,
// and no pool for anything here.
package pay
