package dataset

import (
	"context"

	"github.com/cosketch/cosketch/protocol"
)

// input is one file or query being read. One goroutine at a time calls it.
type input interface {
	// next reads the next run of records, or returns io.EOF. It may use what an
	// earlier call returned, of this input or another, or nil.
	next(ctx context.Context, reuse rows) (rows, error)
	// finish is called after io.EOF and says what was read, or that it changed
	// meanwhile.
	finish() (*Origin, error)
	// progress returns how many bytes of the source were read.
	progress() int64
	Close() error
}

// rows is a run of consecutive records as they were read.
type rows interface {
	// parse adds the records to the block, up to the first error, which becomes the
	// block's. Several goroutines may parse rows of one input.
	parse(*block)
}

// Origin is one file or query that was read completely.
type Origin struct {
	Name   string // of the file or the database
	Format string // how it is written, in words
	// Dialect is a CSV file's, complete: what was fixed, and what was detected.
	Dialect Dialect
	// Digest is the SHA-256 of a CSV file's bytes: equal digests mean that the data
	// have not changed since. It is zero for Parquet, which is not read from end to
	// end, and for a query.
	Digest protocol.Digest
}
