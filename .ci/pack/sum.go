package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// namespace is the purpose of a signature; one for another purpose is not valid.
const namespace = "cosketch-release"

// sum writes SHA256SUMS, and signs it if key is not empty. It signs with OpenSSH, because every
// organisation has it to verify.
func sum(dir, key string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	err = write(filepath.Join(dir, "SHA256SUMS"), func(w io.Writer) error {
		for _, f := range files { // sorted by name
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%x  %s\n", sha256.Sum256(text), f.Name())
		}
		return nil
	})
	if err != nil || key == "" {
		return err
	}
	if _, err := said(exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, filepath.Join(dir, "SHA256SUMS"))); err != nil {
		return fmt.Errorf("signing: %w", err)
	}
	return nil
}
