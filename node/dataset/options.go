package dataset

import "runtime"

// Options tunes a Reader. The zero value is ready to use.
type Options struct {
	// BatchRecords is the largest number of records in a batch. Default: 16384. Records
	// are read in blocks of about 512 KiB of integers, or less where many goroutines
	// parse, and no batch spans two.
	BatchRecords int
	// MaxRecordBytes bounds one record of a CSV file, and so the damage of a quote
	// that is never closed. Default: 16 MiB.
	MaxRecordBytes int64
	// Workers is how many goroutines parse values, beside one that reads. It does
	// not change what is read. Default: one per processor.
	Workers int
	// SpillDir is where keyed hashes of ids wait to be compared when there are too
	// many to hold; nobody else may be able to read it. Default: os.TempDir.
	SpillDir string
	// AllowEmpty takes a source that has a header and no records, as one of several
	// that are read by themselves may be. Default: it is an error.
	AllowEmpty bool
	// HeldIDs is how many of them are held in memory, in 24 bytes each, twice.
	// Default: 2¹⁹, 24 MiB.
	HeldIDs int

	assumeEncoding bool // Windows-1252 where a CSV file is not UTF-8 and no encoding is fixed
}

func (o Options) withDefaults() Options {
	if o.BatchRecords <= 0 {
		o.BatchRecords = 1 << 14
	}
	if o.MaxRecordBytes <= 0 {
		o.MaxRecordBytes = 16 << 20
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.HeldIDs <= 0 {
		o.HeldIDs = 1 << 19
	}
	return o
}

// blockValues returns how many integers a block is to hold: as many as stay in a
// processor's second-level cache, beside what they are made of, until they are used, and
// 2²² in all blocks together.
func (o Options) blockValues() int {
	return max(1<<14, min(1<<16, 1<<22/(o.Workers+2)))
}

// hintLimit says where a limit of records comes from.
const hintLimit = "party study explain tells how many the study can take"
