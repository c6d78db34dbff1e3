package estimate

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

// Numbers are the same on every machine only if no compiler fuses a product into a sum. The test
// inspects the output for arm64, which has fused operations and always uses them, of the packages
// that compute results, encode values, and derive what nodes check each other's numbers by. Quantiles
// are excluded: they come from elsewhere and are rounded. Building for another machine takes a while,
// so it runs only on request.
func TestNothingIsFused(t *testing.T) {
	full.Only(t, "builds for arm64")
	fused := regexp.MustCompile(`\((\S+\.go:\d+)\)\t(FN?M(?:ADD|SUB)[DS])`)
	for _, pkg := range []string{".", "../decompose", "../fixedpoint", "../../protocol/sum", "../../protocol/release", "../../protocol/study"} {
		build := exec.Command("go", "build", "-gcflags=-S", pkg)
		build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		listing, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, listing)
		}
		if !bytes.Contains(listing, []byte("FMULD")) {
			t.Fatalf("%s: no product in the listing", pkg)
		}
		for _, found := range fused.FindAllSubmatch(listing, -1) {
			if !bytes.Contains(found[1], []byte("gonum.org")) {
				t.Errorf("%s: %s", found[1], found[2])
			}
		}
	}
}

// A quantile keeps 33 bits, and does not depend on the dropped ones.
func TestStable(t *testing.T) {
	for _, x := range []float64{1.959963984540054, 3.3e-7, 1e20, 1 / 3.} {
		got := stable(x)
		if math.Abs(got/x-1) > 1.2e-10 {
			t.Errorf("%v becomes %v", x, got)
		}
		if above, below := stable(math.Nextafter(x, math.Inf(1))), stable(math.Nextafter(x, 0)); above != got || below != got {
			t.Errorf("neighbours of %v become %v and %v, it %v", x, above, below, got)
		}
	}
}
