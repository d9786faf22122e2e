// Package recruit brings people to the pools: who is on call and on duty (OnCall),
// calls to people who are off duty (Calls), what a worker sees and sets of that
// (Duty), moves between pools (Transfers), and the messages that go out (Outbox).
//
// Locks: that of a pool's call (poolCalls) is held while the call changes, also
// while the store keeps that and while the pool is asked, so it comes before
// those of OnCall, Transfers and Outbox. These three are held for moments only,
// and nothing is waited for under them, because the loops of the pools take them.
//
// Its tests are in server/app, through package app: live, pools, opened and
// outbox (_test.go).
package recruit
