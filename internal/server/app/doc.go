// Package app puts the use cases together: it makes each with what it stands on,
// passes the changes of the pools on to them, and starts and stops everything
// that goes on in the background (jobs). The edges (API, web, metrics) call its
// fields and decide nothing; who may call what is in package access.
//
// Where two locks meet, they are taken in this order. Each is documented where it
// is declared; the order is said here only:
//
//	control.Control.step           one control step at a time
//	recruit.poolCalls.mu           a pool's open call
//	batches.Batches.drafts         changes of a draft, for each its own
//	accounts.Accounts.people       changes of people
//	accounts.Funds                 what is checked is spent
//	control.Control.deciding       what the controllers decide by
//	the rest                       held for moments, with nothing waited for
//
// live.Pools.ChangeSettings (changes of pools' and tenants' settings) is taken by
// who holds none of these; under it, only the last two are taken.
package app
