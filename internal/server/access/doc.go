// Package access is who may do what: people with their roles, and one table that
// has a line for each method of each use case (table.go). A use case asks
// Principal.May or Principal.MayFor with the line of its method; nothing else
// decides.
//
// What a principal may not see is "not found"; what they may see but not do is
// "forbidden".
package access
