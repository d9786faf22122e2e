// Package runs is the use case of workflows: it checks them, makes and loads runs,
// lets the orchestrator carry them out live, and shows how they stand.
//
// Its tests are in server/app, through package app: flows, queries and letter (_test.go).
package runs
