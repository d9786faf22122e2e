// Throng hands human tasks to people. This is only the wiring: the command line
// is in internal/cli.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/throng-dev/throng/internal/cli"
)

// version is set when a release is built; else the build says what it knows.
var version = ""

func main() {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, version))
}
