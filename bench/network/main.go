// Command network measures what a laptop's loopback hides: scans over slow links
// beside a serial pull of pages, many small queries at once, memory behind a
// client that hardly reads, and whether it grows in a soak. It prints tables and writes JSON; see bench/README.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/tributary-db/tributary/cmd/vqueue"
)

// options are the command line.
type options struct {
	tributary, memscanner, dir, json string
	rows                             int
	repeat                           int
	load, soak                       time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.tributary, "tributary", "bin/tributary", "the binary of Tributary")
	flag.StringVar(&o.memscanner, "memscanner", "bin/memscanner", "the binary of bench/memscanner")
	flag.StringVar(&o.dir, "dir", ".cache", "where the data is kept, and logs")
	flag.StringVar(&o.json, "json", ".cache/bench-network.json", "where the results go")
	flag.IntVar(&o.rows, "rows", vqueue.Default().Rows, "rows in the large table")
	flag.IntVar(&o.repeat, "repeat", 3, "how often each is run, after once to warm up")
	flag.DurationVar(&o.load, "load", 5*time.Second, "how long each load lasts")
	flag.DurationVar(&o.soak, "soak", 10*time.Minute, "how long the soak lasts, which only runs when it is named")
	only := flag.String("only", "links,load,memory", "which parts to run: these, or soak")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, *only); err != nil {
		fmt.Fprintln(os.Stderr, "network:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, only string) error {
	parts := []struct {
		name string
		run  func(context.Context, options) ([]result, error)
	}{{"links", links}, {"load", load}, {"memory", memoryUse}, {"soak", soak}}
	all := map[string][]result{}
	var failed []error
	for _, p := range parts {
		if !strings.Contains(only, p.name) {
			continue
		}
		results, err := p.run(ctx, o)
		show(p.name, results)
		all[p.name] = results
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
			break
		}
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(append(failed, os.WriteFile(o.json, text, 0o644))...)
}

// result is a line of a table: something measured, and what it is compared with.
type result struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Ratio is Value's to the other's, as Of says; 0 for none. Target is what it
	// should be.
	Ratio  float64 `json:"ratio,omitempty"`
	Of     string  `json:"of,omitempty"`
	Target string  `json:"target,omitempty"`
	// Verdict is what that says in a word, where a run ends with one.
	Verdict string `json:"verdict,omitempty"`
}

func show(title string, results []result) {
	fmt.Printf("\n%s\n", title)
	for _, r := range results {
		ratio := ""
		if r.Ratio != 0 {
			ratio = fmt.Sprintf("%10.2f %s", r.Ratio, r.Of)
		}
		if r.Target != "" {
			ratio += " (aim: " + r.Target + ")"
		}
		if r.Verdict != "" {
			ratio += " " + r.Verdict
		}
		fmt.Printf("  %-58s %12.2f %-8s%s\n", r.Name, r.Value, r.Unit, ratio)
	}
}

// layout is that of the demo with another number of rows.
func layout(rows int) vqueue.Layout {
	l := vqueue.Default()
	l.Hot = int(int64(l.Hot) * int64(rows) / int64(l.Rows))
	l.Rows = rows
	return l
}

// files writes the Parquet files of a table and returns their directory.
func (o options) files(rows int) (string, error) {
	dir := filepath.Join(o.dir, fmt.Sprintf("%s-%d", vqueue.Table, rows))
	_, err := layout(rows).Write(dir)
	return dir, err
}
