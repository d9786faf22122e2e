// Package pages runs the commands of the documentation as they are written, in
// order, in a fresh home, and holds the figures that several pages tell against each
// other. It has no code of its own.
package pages
