// Package control sizes the pools: their settings and how they stand (Pools), the
// control step that reads, decides and acts (Control), and what waiting costs
// each tenant (shares.go).
//
// Its tests are in server/app, through package app: pools, live, balance and upload (_test.go).
package control
