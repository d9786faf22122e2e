// Package pay is what becomes of pay that waits for approval: requesters approve or refuse it, with
// a reason, workers appeal, and what nobody decides in time is decided by itself (ADR 46).
//
// The store keeps it, and moves its money; no engine knows of it. So no pool waits for anything here, and
// nothing here for a pool but what an answer says that is being revised: of that pay is decided before or after.
package pay
