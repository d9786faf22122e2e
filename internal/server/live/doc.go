// Package live runs the engines of the pools on the real clock.
//
// Each pool has one engine, and one goroutine that owns it: the loop. Commands
// come to the loop over a channel, are applied one after the other, and change
// memory at once. What they changed is made durable by a second goroutine, the
// committer: it writes many commands in one transaction (a group commit). While
// one transaction is on its way the loop goes on, and what it applies meanwhile
// joins the next one. Whoever sent a command gets the answer only after the
// commit that holds it, so everything acknowledged is durable.
//
//	Do ──▶ in ──▶ loop: apply to the engine ──▶ group ──▶ committer: Store.Commit
//	 ▲                                                          │
//	 └──────────── done ◀── loop: finish, or fail ◀─────────────┘
//
// When a commit fails, nothing of it and of what came after was acknowledged.
// The loop fails all those commands, throws the engine away and, after a second,
// restores it from what the store has. Until then commands are refused.
//
// A worker for whom nothing is ready waits in the engine's queue, and the loop
// keeps their open request (a waiter). They are served by whichever command
// makes something ready, again only once that is durable.
//
// No lock is held while the store works, but that of ChangeSettings: where it
// stands among the locks of the other packages is in package app.
package live
