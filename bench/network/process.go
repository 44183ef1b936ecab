package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-db/tributary/cmd/vqueue"
)

// process is a server that runs until stop.
type process struct {
	cmd  *exec.Cmd
	addr string
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
}

// resetPeakRSS lets peakRSS count from now.
func (p *process) resetPeakRSS() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peakRSS is the most memory that the process has had since resetPeakRSS, in bytes.
func (p *process) peakRSS() (int64, error) { return p.memory("VmHWM:") }

// memory is one of the kernel's figures of the process, in bytes.
func (p *process) memory(label string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), label)
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10, err
}

// startTributary starts a subcommand on a free port and waits until it answers.
func (o options) startTributary(name string, args ...string) (*process, error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := lis.Addr().String()
	if err := lis.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(o.dir, "bench-network-"+name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(o.tributary, append(args, "--listen", addr, "--http", "")...), addr: addr}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			return p, conn.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.stop()
	return nil, fmt.Errorf("%s does not answer, see %s", name, log.Name())
}

// startMemory starts a memscanner with the whole table; it returns the addresses of
// its scanner and of its pages.
func (o options) startMemory() (p *process, scanner, pages string, err error) {
	p = &process{cmd: exec.Command(o.memscanner, "--rows", fmt.Sprint(o.rows))}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, "", "", err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, "", "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 4 {
		p.stop()
		return nil, "", "", fmt.Errorf("memscanner said %q: %w", line, err)
	}
	return p, words[1], words[3], nil
}

// cluster is a coordinator and three scanners over files.
type cluster struct {
	coordinator *process
	scanners    []*process
}

func (c *cluster) stop() {
	for _, p := range append(c.scanners, c.coordinator) {
		if p != nil {
			p.stop()
		}
	}
}

// startCluster serves the large table, and one of a thousand rows a partition as
// "small".
func (o options) startCluster(ctx context.Context, scannerArgs, coordinatorArgs []string) (*cluster, error) {
	dirs := map[string]string{}
	for name, rows := range map[string]int{vqueue.Table: o.rows, "small": smallRows} {
		var err error
		if dirs[name], err = o.files(rows); err != nil {
			return nil, err
		}
	}
	c := &cluster{}
	args := append([]string{"coordinator"}, coordinatorArgs...)
	for i := range 3 {
		own := append([]string{"scanner", "--name", fmt.Sprintf("s%d", i)}, scannerArgs...)
		for name, dir := range dirs {
			for p := i; p < vqueue.Default().Partitions; p += 3 {
				own = append(own, "--table", name+"="+filepath.Join(dir, vqueue.FileName(p)))
			}
		}
		s, err := o.startTributary(fmt.Sprintf("scanner%d", i), own...)
		if err != nil {
			c.stop()
			return nil, err
		}
		c.scanners = append(c.scanners, s)
		args = append(args, "--scanner", s.addr)
	}
	var err error
	if c.coordinator, err = o.startTributary("coordinator", args...); err == nil {
		err = ready(ctx, c.coordinator.addr, "SELECT COUNT(*) FROM small")
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

const smallRows = 24_000
