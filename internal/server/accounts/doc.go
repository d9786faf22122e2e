// Package accounts is who may sign in, with what, and for whom: people with their
// sessions and tokens (Accounts), tenants with their money (Tenants, Funds),
// invitations (Invitations) and qualification tests (Tests).
//
// Its tests are in server/app, through package app: people, reentry, invite,
// letter, qualify, money, boundaries, access and tenant (_test.go).
package accounts
