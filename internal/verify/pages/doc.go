// Package pages runs the commands of the documentation as they are written, in
// order, in a fresh home. It has no code of its own.
package pages
