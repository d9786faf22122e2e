// Package sqlite keeps everything in one SQLite file: the store of a server on
// one machine, which needs no set-up.
//
// Writes go through one connection, reads through others, which see the state
// after the last finished write. A lock file keeps a second server off the
// database. The queries are those of sqlstore.
package sqlite
