// Command tributary is the one binary: coordinator, scanner, query shell and
// demo.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set at link time.
var version = "dev"

// commands are the subcommands; each lives in a file of its own.
type commands struct {
	Coordinator coordinatorCmd `cmd:"" help:"Serve SQL over the tables of scanners."`
	Scanner     scannerCmd     `cmd:"" help:"Serve the partitions that this node owns."`
	Query       queryCmd       `cmd:"" help:"Run one statement, or a shell without one."`
	Demo        demoCmd        `cmd:"" help:"Run everything in one process on generated data."`
	User        userCmd        `cmd:"" help:"Read a password and print the user's line for --users-file."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(out *console) error {
	_, err := fmt.Fprintln(out.stdout, "tributary", version)
	return err
}

// console is where a command reads and writes.
type console struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// interactive says that stdin is a terminal.
	interactive bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stat, err := os.Stdin.Stat()
	terminal := err == nil && stat.Mode()&os.ModeCharDevice != 0
	code := run(ctx, os.Args[1:], &console{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, interactive: terminal})
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// run parses args and runs the command; it returns the exit code.
func run(ctx context.Context, args []string, out *console) (code int) {
	parser, err := kong.New(&commands{},
		kong.Name("tributary"),
		kong.Description("Arrow Flight SQL over partitions on remote scanners."),
		kong.DefaultEnvars("TRIBUTARY"),
		kong.Writers(out.stdout, out.stderr),
		kong.Exit(func(c int) { panic(exitCode(c)) }), // --help ends here
		kong.UsageOnError(),
	)
	if err != nil {
		_, _ = fmt.Fprintln(out.stderr, "tributary:", err)
		return exitError
	}
	defer func() {
		if r := recover(); r != nil {
			c, ok := r.(exitCode)
			if !ok {
				panic(r)
			}
			code = int(c)
		}
	}()
	parsed, err := parser.Parse(args)
	if err != nil {
		_, _ = fmt.Fprintln(out.stderr, "tributary:", err)
		return exitUsage
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(out); err != nil && !errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(out.stderr, "tributary:", err)
		return exitError
	}
	return exitOK
}

// exitCode carries kong's request to exit out of the parser.
type exitCode int
