// Package processtest lets a test binary be the server: packages whose tests
// start one with package process call Main from TestMain.
package processtest

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/internal/cli"
)

// asProgram, in the environment, makes a test binary the program.
const asProgram = "THRONG_TEST_AS_PROGRAM"

// cpuProfile, in the environment, makes each such program write a CPU profile to
// that path, followed by a dot and its process number, when it ends by itself.
const cpuProfile = "THRONG_TEST_CPUPROFILE"

// Main runs the tests, or, when the binary was started by a test through
// package process, the command that it was told.
func Main(m interface{ Run() int }) {
	if os.Getenv(asProgram) == "" {
		_ = os.Setenv(asProgram, "1") // for the children
		os.Exit(m.Run())
	}
	os.Exit(program())
}

// program runs the command that the arguments name, and returns the exit code.
func program() int {
	if path := os.Getenv(cpuProfile); path != "" {
		f, err := os.Create(fmt.Sprintf("%s.%d", path, os.Getpid()))
		if err != nil || pprof.StartCPUProfile(f) != nil {
			return 1
		}
		defer pprof.StopCPUProfile()
	}
	var root struct {
		Serve cli.Serve `cmd:""`
		Bench cli.Bench `cmd:""`
	}
	c := &cli.Context{Ctx: context.Background(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: "test"}
	if err := kong.Parse(&root, kong.Bind(c)).Run(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
