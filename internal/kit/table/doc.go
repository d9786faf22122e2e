// Package table reads uploaded tables (CSV, TSV, JSON Lines, Parquet) row by
// row and writes the same formats, in memory that does not grow with the file.
//
// A row that cannot be read is an error about that row alone: the reader says
// where it is and what would be right, and goes on with the next row.
//
// A Layout says which columns a program looks for and what their cells become;
// what is wrong with a table comes as one list, each with its line and column.
//
// It knows nothing of tasks or answers, keeps no row, and opens no file: it is
// given an io.Reader, an io.ReaderAt or an io.Writer.
package table
