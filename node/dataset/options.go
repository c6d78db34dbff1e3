package dataset

import "runtime"

// Options tunes a Reader. The zero value is ready to use.
type Options struct {
	// BatchRecords is the largest number of records in a batch. Default: 16384. Records are read in
	// blocks of about 512 KiB of integers, or less with many workers, and no batch spans two
	// blocks.
	BatchRecords int
	// MaxRecordBytes bounds one record of a CSV file, and thereby the damage of an unclosed quote.
	// Default: 16 MiB.
	MaxRecordBytes int64
	// Workers is how many goroutines parse values, besides the one that reads. It does not change
	// the result. Default: one per processor.
	Workers int
	// SpillDir is where keyed hashes of ids are stored if there are too many to hold in memory.
	// Nobody else may be able to read it. Default: os.TempDir.
	SpillDir string
	// AllowEmpty accepts a source with a header and no records, for callers that read several
	// sources separately. Default: it is an error.
	AllowEmpty bool
	// HeldIDs is how many hashes are held in memory, 24 bytes each, twice. Default: 2¹⁹, 24 MiB.
	HeldIDs int

	assumeEncoding bool // use Windows-1252 if a CSV file is not UTF-8 and no encoding is given
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

// blockValues returns how many integers a block holds: as many as fit into a processor's
// second-level cache, together with their source, until they are used, and at most 2²² in all
// blocks.
func (o Options) blockValues() int {
	return max(1<<14, min(1<<16, 1<<22/(o.Workers+2)))
}

// hintLimit says where the limit of records comes from.
const hintLimit = "party study explain tells how many the study can take"
