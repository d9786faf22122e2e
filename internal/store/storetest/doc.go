// Package storetest is the suite that every store must pass: Run has a subtest
// for each method of store.Store, found by reflection, with the wrong tenant in
// it wherever a tenant is named, and a few that take several methods together.
//
// It knows nothing of any database.
package storetest
