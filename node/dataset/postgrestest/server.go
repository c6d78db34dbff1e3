//go:build unix

// Package postgrestest runs a PostgreSQL server for tests, if one is installed.
package postgrestest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
)

// Password is the password of the server's user. It must not appear in any error.
const Password = "s3cr3t-pw"

// Start starts a separate server on a loopback port, with its data in a new directory, and returns
// a data source name. The server is stopped when the test ends. The test is skipped if PostgreSQL
// is not installed.
func Start(t *testing.T) string {
	t.Helper()
	initdb, err := exec.LookPath("initdb")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		if len(found) == 0 {
			t.Skip("no PostgreSQL server is installed (Debian: apt-get install postgresql)")
		}
		initdb = slices.Max(found)
	}
	dir, err := os.MkdirTemp("", "cosketch-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	run := asUnprivileged(t, dir)

	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(Password), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	run(initdb, "--pgdata="+data, "--username=steward", "--auth=scram-sha-256", "--pwfile="+password, "--encoding=UTF8", "--locale=C", "--no-sync")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	// pg_ctl returns once the server accepts connections.
	ctl := filepath.Join(filepath.Dir(initdb), "pg_ctl")
	options := fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off", port)
	run(ctl, "start", "--wait", "--timeout=60", "--pgdata="+data, "--log="+filepath.Join(dir, "log"), "--options="+options)
	t.Cleanup(func() { run(ctl, "stop", "--pgdata="+data, "--mode=immediate") })
	return fmt.Sprintf("postgres://steward:%s@127.0.0.1:%d/postgres?sslmode=disable", Password, port)
}

// asUnprivileged returns a function that runs programs. If the test runs as root, which the server
// refuses, they run as an unprivileged user, and dir is given to that user.
func asUnprivileged(t *testing.T, dir string) func(program string, args ...string) {
	var attributes *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			owner, err = user.Lookup("nobody")
		}
		if err != nil {
			t.Skip("PostgreSQL does not run as root, and there is no user postgres or nobody")
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		attributes = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return func(program string, args ...string) {
		t.Helper()
		// The server inherits the output. It must be a file, or Run would wait for the server.
		output, err := os.CreateTemp("", "cosketch-postgres-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(output.Name())
		defer output.Close()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.SysProcAttr, cmd.Stdout, cmd.Stderr = dir, attributes, output, output
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(output.Name())
			t.Fatalf("%s: %v\n%s", filepath.Base(program), err, bytes.TrimSpace(said))
		}
	}
}
