package dataset

// position is a record's place: the number of its file, from 0, and its line (CSV) or row (Parquet,
// SQL), from 1. Later records have larger positions.
type position uint64

const (
	lineBits = 40
	maxFiles = 1 << (64 - lineBits)
)

func at(file int, line int64) position {
	return position(file)<<lineBits | position(line)&(1<<lineBits-1)
}

func (p position) file() int   { return int(p >> lineBits) }
func (p position) line() int64 { return int64(p & (1<<lineBits - 1)) }
