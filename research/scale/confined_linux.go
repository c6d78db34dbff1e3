package scale

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// confined is a control group with a memory limit for all its processes together, including page
// cache. Beyond the limit the system reclaims memory or kills a process.
type confined struct{ dir, events string }

// confine creates one. It needs root and a system with memory control groups.
func confine(bytes int64) (*confined, error) {
	const root = "/sys/fs/cgroup"
	name := fmt.Sprintf("cosketch-apart-%d", os.Getpid())
	c, limit := &confined{filepath.Join(root, "memory", name), "memory.oom_control"}, "memory.limit_in_bytes"
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		c, limit = &confined{filepath.Join(root, name), "memory.events"}, "memory.max"
	}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making a memory control group (needs root, and a system with control groups): %w", err)
	}
	if err := c.write(limit, bytes); err != nil {
		return nil, errors.Join(err, c.end())
	}
	return c, nil
}

func (c *confined) write(file string, n int64) error {
	if err := os.WriteFile(filepath.Join(c.dir, file), strconv.AppendInt(nil, n, 10), 0o644); err != nil {
		return fmt.Errorf("limiting memory: %w", err)
	}
	return nil
}

// take moves a process into the group.
func (c *confined) take(pid int) error { return c.write("cgroup.procs", int64(pid)) }

// killed returns how many of its processes the system killed for exceeding the limit.
func (c *confined) killed() (n int64, err error) {
	raw, err := os.ReadFile(filepath.Join(c.dir, c.events))
	if err != nil {
		return 0, fmt.Errorf("reading a memory control group: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			return strconv.ParseInt(strings.TrimSpace(count), 10, 64)
		}
	}
	return 0, fmt.Errorf("%s does not say how many processes were killed", c.events)
}

// end removes the group. It retries, since its processes take a moment to end.
func (c *confined) end() (err error) {
	for range 50 {
		if err = os.Remove(c.dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("removing a memory control group: %w", err)
}
