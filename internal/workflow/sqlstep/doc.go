// Package sqlstep answers the SQL queries of workflows: one SELECT over the
// inputs of a step, in an engine of its own that is made for the query, lives in
// memory, and sees nothing else. docs/sql-steps.md is its page for users.
//
// A query runs over all rows (Run), or item by item (Open and Stream.Row) if the
// answer over all rows is that for each item together; Check says which, and
// what is wrong with a query, with its place in it.
//
// The engine is SQLite in memory, each with a connection of its own on a driver
// that only this package has. What keeps a query within its bounds:
//
//   - an authorizer lets it read its inputs and call listed functions, nothing else;
//   - its text is split into tokens first, so that it is one SELECT, without
//     parameters, that may stand in parentheses;
//   - functions whose time grows with the product of their arguments' lengths
//     are of this package, or refused: nothing interrupts SQLite within a call;
//   - rows come out through a function of this package, so a query is one call, which a
//     context can end; a watch ends it when its time or its memory is over;
//   - the inputs fill a database of a bounded number of pages, a value has a
//     bounded length, and what would be temporary files is kept in memory.
package sqlstep
