package outcome

import (
	"encoding/json"
	"fmt"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// ParseResult decodes a result.json, as `party result` writes it.
func ParseResult(data []byte) (analysis.Result, error) {
	var result analysis.Result
	if err := json.Unmarshal(data, &result); err != nil {
		return analysis.Result{}, fmt.Errorf("reading a result: %w", err)
	}
	if result.Format != analysis.ResultFormat {
		return analysis.Result{}, fmt.Errorf("reading a result: format %q, want %q", result.Format, analysis.ResultFormat)
	}
	return result, nil
}
