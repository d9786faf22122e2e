// Package crowd holds the nouns that every other package uses: identifiers,
// money, states with the moves between them, error codes and the closed set of
// reasons for a refusal.
//
// It decides nothing, keeps nothing and does no I/O.
package crowd
