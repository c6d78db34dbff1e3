package node_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// All of the aggregator's memory at the end of a study holds no secret of the parties. The
// aggregator runs in a separate process: this one holds the parties' secrets.
func TestNothingLeaksIntoTheAggregatorsMemory(t *testing.T) {
	var cmd *exec.Cmd
	var id []byte
	var memory []byte
	serve := func(b *bench) (stop func()) {
		id = b.study.ID[:]
		cmd = exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), aggregatorEnv+"="+b.path("agg")+"\n"+b.addr)
		cmd.Stderr = os.Stderr
		check(t, cmd.Start())
		return func() {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
	_, needles := secretStudy(t, serve, func() { memory = memoryOf(t, cmd.Process.Pid) })
	if found := find(memory, needles); len(found) > 0 {
		t.Errorf("the aggregator's memory holds %v", found)
	}
	// The search is valid only if it finds what is there.
	if found := find(memory, map[string][]byte{"id": id}); len(found) != 1 {
		t.Errorf("%d bytes of memory do not hold the study's id", len(memory))
	}
}

// memoryOf reads the writable memory of a process: heap, stacks, data.
func memoryOf(t *testing.T, pid int) []byte {
	t.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	check(t, err)
	defer maps.Close()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skipf("the memory of a process cannot be read here: %v", err)
	}
	defer mem.Close()
	var all []byte
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uint64
		var access string
		if _, err := fmt.Sscanf(strings.Replace(lines.Text(), "-", " ", 1), "%x %x %s", &from, &to, &access); err != nil {
			t.Fatalf("memory map %q: %v", lines.Text(), err)
		}
		if !strings.HasPrefix(access, "rw") || to-from > 1<<30 {
			continue
		}
		// Untouched pages read as zeros; special ones cannot be read.
		piece := make([]byte, int(to-from))
		n, _ := mem.ReadAt(piece, int64(from))
		all = append(all, piece[:n]...)
	}
	if len(all) < 1<<20 {
		t.Fatalf("only %d bytes of memory were read", len(all))
	}
	return all
}
