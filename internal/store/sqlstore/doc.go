// Package sqlstore is the part of a store that SQLite and PostgreSQL share:
// the schema and the queries, in SQL that both understand alike. A package per
// database opens it, says where the two differ (Dialect), and may replace what
// its database does better.
//
// It decides nothing about what may happen to a batch or an assignment: that
// is the engine's. It does refuse to write what does not fit what is there.
package sqlstore
