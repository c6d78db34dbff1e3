package study_test

import (
	"regexp"
	"strings"
	"testing"

	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// If all columns of moments have a centre and spread, there is nothing to standardise: the study is
// refused when it is read.
func TestNothingToStandardise(t *testing.T) {
	standardised := edit(t, file(t, "wards"), "{side: moments, clip: 2", "{side: moments, standardise: own, clip: 2")
	if _, err := studyfile.Parse([]byte(standardised)); err != nil {
		t.Fatalf("numeric columns with bounds: %v", err)
	}
	centred := regexp.MustCompile(`bounds: \[[^\]]*\]`).ReplaceAllString(standardised, "centre: 40, spread: 20, source: guideline 2024")
	if _, err := studyfile.Parse([]byte(centred)); err == nil || !strings.Contains(err.Error(), "has no column to move") {
		t.Errorf("columns with centres: %v", err)
	}
}
