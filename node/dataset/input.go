package dataset

import (
	"context"

	"github.com/cosketch/cosketch/protocol"
)

// input is one file or query being read. It is not safe for concurrent use.
type input interface {
	// next reads the next run of records, or returns io.EOF. It may reuse rows that an earlier call
	// returned, on this input or another; reuse may be nil.
	next(ctx context.Context, reuse rows) (rows, error)
	// finish is called after io.EOF. It returns what was read, or an error if the source changed
	// meanwhile.
	finish() (*Origin, error)
	// progress returns how many bytes of the source were read.
	progress() int64
	Close() error
}

// rows is a run of consecutive records as they were read.
type rows interface {
	// parse adds the records to the block, up to the first error, which it stores in the block.
	// Several goroutines may parse rows of one input.
	parse(*block)
}

// Origin is one file or query that was read completely.
type Origin struct {
	Name   string // of the file or the database
	Format string // description of the format
	// Dialect is the complete dialect of a CSV file: what was given, and what was detected.
	Dialect Dialect
	// Digest is the SHA-256 of a CSV file's bytes; equal digests mean that the data have not
	// changed. It is zero for queries, and for Parquet, which is not read from end to end.
	Digest protocol.Digest
}
