// Package control sizes the pools: their settings and how they stand (Pools), the
// control step that reads, decides and acts (Control), and what waiting costs
// each tenant (shares.go).
//
// Locks: that of a step comes before those of accounts (a step moves people and
// charges tenants); ChangeSettings of package live comes before that of the
// controllers.
package control
