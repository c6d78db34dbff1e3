package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

type clippedCounts struct {
	Clipped []int64 `json:"clipped"` // by sketch
}

// ClippedJSON encodes the counts, or returns nil if the study's unit clips nothing.
func ClippedJSON(s *study.Study, sketches []int64) ([]byte, error) {
	if s.Privacy.Unit != dp.Record {
		return nil, nil
	}
	return json.Marshal(clippedCounts{sketches})
}

// ReadClipped returns the counts by sketch, or nil if none were kept.
func ReadClipped(files store.ReleaseDir) ([]int64, error) {
	file, err := files.Open(filename.Clipped)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var counts clippedCounts
	if err := json.NewDecoder(io.LimitReader(file, 1<<16)).Decode(&counts); err != nil {
		return nil, fmt.Errorf("reading how many records were clipped: %w", err)
	}
	return counts.Clipped, nil
}
