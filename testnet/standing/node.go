package standing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cosketch/cosketch/testnet/network"
)

// comeBack is the default delay before a node that ended is restarted.
const comeBack = 3 * time.Second

// A node that ends by itself mostFailures times within failuresWithin is not restarted.
const (
	mostFailures   = 5
	failuresWithin = time.Minute
)

// keeper keeps one node running.
type keeper struct {
	dir     Dir
	node    *network.Node
	serve   []string // command that serves
	restart bool
	away    time.Duration
	say     func(name, text string)
	doing   func(ctx context.Context, name string) string // returns what a party was doing, for the message about its end
}

func (d Dir) pidFile(name string) string { return filepath.Join(d.nodeDir(name), "pid") }

// pid reads a node's pid file; 0 if there is none.
func (d Dir) pid(name string) (int, error) {
	raw, err := os.ReadFile(d.pidFile(name))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the pid of %s: %w", name, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || pid < 2 {
		return 0, fmt.Errorf("%s does not contain a process number", d.pidFile(name))
	}
	return pid, nil
}

// keep runs the node until ctx ends, and restarts it whenever it ends by itself. It closes started
// once the node runs for the first time.
func (k *keeper) keep(ctx context.Context, started chan<- struct{}) error {
	var ends []time.Time
	for first := true; ; first = false {
		process, log, err := k.start()
		if err != nil {
			return err
		}
		if first {
			close(started)
		} else {
			k.say(k.node.Name, fmt.Sprintf("is back, process %d", process.PID()))
		}
		select {
		case <-ctx.Done():
			err := process.Stop()
			os.Remove(k.dir.pidFile(k.node.Name))
			log.Close()
			return err
		case <-process.Ended():
		}
		os.Remove(k.dir.pidFile(k.node.Name))
		log.Close()
		how := "ended"
		if err := process.Err(); err != nil {
			how = "ended by itself: " + err.Error()
			if process.Killed() {
				how = "was killed"
			}
		}
		at := ""
		if k.doing != nil {
			at = k.doing(ctx, k.node.Name)
		}
		ends = append(ends, time.Now())
		switch {
		case !k.restart:
			k.say(k.node.Name, how+at+"; not restarted (--no-restart)")
			<-ctx.Done()
			return nil
		case len(ends) >= mostFailures && time.Since(ends[len(ends)-mostFailures]) < failuresWithin:
			k.say(k.node.Name, fmt.Sprintf("%s%s, %d times in a minute; not restarted. Its log: %s", how, at, mostFailures, k.logFile()))
			<-ctx.Done()
			return nil
		}
		k.say(k.node.Name, fmt.Sprintf("%s%s; back in %v", how, at, k.away))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(k.away):
		}
	}
}

func (k *keeper) logFile() string { return filepath.Join(k.node.Dir(), "node.log") }

func (k *keeper) start() (*network.Started, *os.File, error) {
	log, err := os.OpenFile(k.logFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log of %s: %w", k.node.Name, err)
	}
	process, err := k.node.StartLogged(log, []string{openPages}, k.serve...)
	if err != nil {
		log.Close()
		return nil, nil, err
	}
	if err := os.WriteFile(k.dir.pidFile(k.node.Name), []byte(strconv.Itoa(process.PID())+"\n"), 0o600); err != nil {
		process.Kill()
		log.Close()
		return nil, nil, fmt.Errorf("writing the pid of %s: %w", k.node.Name, err)
	}
	return process, log, nil
}

// openPages makes the pages accessible to everybody on this machine, as the data are public.
const openPages = "AGGREGATOR_HTTP_TOKENS=unless_loopback"
