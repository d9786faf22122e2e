// Package postgres is the store in a PostgreSQL database.
//
// The schema and the queries are those of package sqlstore. This package opens
// the database, and says what differs: rows that are about to be changed are
// locked, and a transaction that reads a state sees one.
package postgres
