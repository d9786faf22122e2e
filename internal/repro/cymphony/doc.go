// Package cymphony holds the engine against the five events of Cymphony's
// "Execution Plan", section Events.
package cymphony
