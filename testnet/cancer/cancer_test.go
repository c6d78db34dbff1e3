package cancer

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// TestDigest checks that the embedded bytes have the digest in the attribution.
func TestDigest(t *testing.T) {
	sum := sha256.Sum256([]byte(source))
	attribution, err := os.ReadFile("ATTRIBUTION.md")
	if err != nil {
		t.Fatal(err)
	}
	if digest := hex.EncodeToString(sum[:]); !strings.Contains(string(attribution), digest) {
		t.Errorf("breast_cancer.csv has digest %s, which ATTRIBUTION.md does not name", digest)
	}
}

func TestLoad(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	malignant := 0
	for _, m := range table.Malignant {
		if m {
			malignant++
		}
	}
	if malignant != 212 || len(table.Values) != 569 {
		t.Errorf("%d of %d malignant, want 212 of 569", malignant, len(table.Values))
	}
	for column, want := range map[int]string{0: "mean radius", 13: "area error", 29: "worst fractal dimension"} {
		if table.Names[column] != want {
			t.Errorf("column %d is %q, want %q", column, table.Names[column], want)
		}
	}
	if got := table.Values[0][3]; got != 1001 {
		t.Errorf("mean area of the first patient is %v, want 1001", got)
	}
}
