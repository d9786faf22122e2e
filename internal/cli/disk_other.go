//go:build !unix

package cli

// freeBytes would return what room there is on the disk of a folder.
func freeBytes(string) (uint64, bool) { return 0, false }
