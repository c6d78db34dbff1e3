package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// Cost is roughly what a study needs, on one core of the machine on which the rates below were
// measured. It is for the party with the most work, or the party whose plan it is, and for the
// aggregator. Waiting is not included.
type Cost struct {
	PartySeconds      float64 `json:"party_seconds"` // to agree with the others, read records from CSV, project them, draw noise and write
	PartyMemory       int64   `json:"party_bytes"`
	Sent              int64   `json:"sent_bytes"`         // by the party: its release
	Agreed            int64   `json:"agreement_bytes"`    // read by the party from the others during the agreement
	AggregatorSeconds float64 `json:"aggregator_seconds"` // to receive, check and compute
	AggregatorMemory  int64   `json:"aggregator_bytes"`   // if its analyses use as much as they may by default
	AggregatorDisk    int64   `json:"aggregator_disk_bytes"`
}

// Times on one core in nanoseconds, and sizes in bytes. `go run -C research . cost` measures them,
// and tells how far a study's builders deviate from BuildTime.
const (
	readRecord = 900.0 // a CSV record: its id, and the check for duplicates
	readValue  = 66.0
	hashRecord = 100.0 // columns: the row of R of a record
	takeValue  = 1.0   // check, centre, narrow
	clipValue  = 13.0  // sums: compute the length and shorten the record
	sumEntry   = 0.8
	cellValue  = 0.9  // for each bit of a cell's number
	keepEntry  = 21.0 // records: store and sort
	writeByte  = 3.0  // hash, store, send
	readByte   = 6.0  // at the aggregator: receive, hash, store, check, merge
	passEntry  = 12.0 // of a matrix of records: all passes of k-means
	pairTime   = 3000.0
	sumsPair   = 20e3 // by sums: a correlation with its interval, in a table
	messages   = 4    // of a party, in an agreement with its release; all others verify their signatures
	message    = 700  // bytes of each

	partyBytes      = 60 << 20 // of an idle node
	aggregatorBytes = 50 << 20
	rowEntry        = 20  // bytes per entry of records: entries are held twice for a while, and some memory is free
	sumsWorkers     = 2   // goroutines of a party, each with its own sums
	recordBytes     = 100 // kept by a party per record: its id, digest and position
)

// DrawTime is roughly the time to draw the noise of an entry, in nanoseconds.
const DrawTime = 33.0

// AgreeTime is roughly a party's time per other party to seal and open what gives the seed.
// VerifyTime is the time to verify a signature. Both are in nanoseconds of one core.
const (
	AgreeTime  = 400e3
	VerifyTime = 70e3
)

// ReadTime returns roughly the time to read a record of so many columns from CSV, in nanoseconds of
// one core.
func ReadTime(columns int) float64 { return readRecord + readValue*float64(columns) }

// additionTime returns the time of one addition of a projection, by family.
func additionTime(f projection.Family) float64 {
	switch f {
	case projection.Rademacher:
		return 0.05
	case projection.Hadamard:
		return 0.2
	}
	return 2.75
}

// BuildTime returns roughly the time to add a record to a sketch, in nanoseconds of one core.
func BuildTime(p release.Plan) float64 {
	d := float64(len(p.Features))
	ns := takeValue * d
	switch side := p.Sketch().Side; {
	case side == sketch.Records:
		ns += float64(p.Spec().Cost(p.Spanned()).Additions)*additionTime(p.Spec().Family) + keepEntry*float64(p.Spec().K)
	case side == sketch.Columns:
		ns += hashRecord + float64(p.Spec().Cost(int(d)).Additions)*additionTime(p.Spec().Family)
	case side == sketch.Cells, side == sketch.Codes:
		rows, _ := p.Shape(1)
		ns += d * (clipValue + cellValue*math.Log2(float64(max(rows, 2))))
	default:
		rows, cols := p.Shape(1)
		ns += clipValue*d + sumEntry*float64(rows*cols)
	}
	return ns
}

// cost adds up the costs of the sketches.
func (o Options) cost(sketches []Sketch) (out Cost, err error) {
	s := o.Study
	parties := []int{o.Party}
	if o.Party == study.Everyone {
		parties = parties[:0]
		for i := range s.Parties {
			parties = append(parties, i)
		}
	}
	for _, party := range parties {
		one, err := o.partyCost(party, sketches)
		if err != nil {
			return out, err
		}
		out.PartySeconds, out.PartyMemory, out.Sent = max(out.PartySeconds, one.PartySeconds), max(out.PartyMemory, one.PartyMemory), max(out.Sent, one.Sent)
	}
	var records int64
	for i := range s.Parties {
		records += o.records(i)
	}
	quotas := analysis.Quotas{Memory: analysis.DefaultMemory}
	out.AggregatorMemory = aggregatorBytes
	n := len(s.Parties)
	posted := int64(n) * messages * message
	texts := int64(n) * int64(n-1) * int64(agree.SealedSize)
	if out.Agreed = posted + texts; s.Apart() {
		texts = int64(n) * int64(n-1) * int64(agree.TextSize(n))
		out.Agreed = posted + texts/int64(n)
	}
	out.AggregatorSeconds = float64(n)*messages*VerifyTime/1e9 + float64(posted+texts)*readByte/1e9
	out.AggregatorDisk = posted + texts
	for i, sk := range sketches {
		memory, err := quotas.Needs(s, i, records)
		if err != nil {
			return out, err
		}
		disk, err := quotas.ScratchDisk(s, i, records)
		if err != nil {
			return out, err
		}
		var sent int64
		for _, p := range sk.Parties {
			sent += p.Bytes
		}
		out.AggregatorSeconds += float64(sent) * readByte / 1e9
		if sk.Side == sketch.Records {
			out.AggregatorSeconds += float64(records) * float64(sk.K) * passEntry / 1e9
		} else {
			pairs, each := float64(sk.Features)*float64(sk.Features)/2, pairTime+0.3*float64(sk.K)
			if sk.Side == sketch.Moments {
				each = sumsPair
			}
			of := slices.DeleteFunc(slices.Clone(sk.Analyses), func(a Analysis) bool { return a.Kind == study.Mean })
			out.AggregatorSeconds += pairs * each / 1e9 * float64(len(of))
		}
		out.AggregatorMemory = max(out.AggregatorMemory, aggregatorBytes+memory)
		out.AggregatorDisk += sent + disk
	}
	return out, nil
}

func (o Options) partyCost(party int, sketches []Sketch) (out Cost, err error) {
	records := float64(o.records(party))
	columns := 0
	for _, c := range o.Study.Columns {
		if c.Owner == "" || c.Owner == o.Study.Parties[party].Name {
			columns++
		}
	}
	ns := records*ReadTime(columns) + float64(len(o.Study.Parties)-1)*(AgreeTime+messages*VerifyTime)
	out.PartyMemory = partyBytes
	for i, sk := range sketches {
		plan, err := release.For(o.Study, party, i)
		if err != nil {
			return out, err
		}
		rows, cols := plan.Shape(int64(records))
		entries := float64(rows) * float64(cols)
		ns += records*BuildTime(plan) + entries*DrawTime + float64(sk.Parties[party].Bytes)*writeByte
		out.Sent += sk.Parties[party].Bytes
		if sk.Side == sketch.Records {
			out.PartyMemory += int64(rowEntry*entries) + int64(records)*recordBytes
		} else {
			out.PartyMemory += int64(8 * entries * float64((sumsWorkers+1)*plan.Sums()+2)) // the workers' sums and their total, the release and its bytes
		}
	}
	out.PartySeconds = ns / 1e9
	return out, nil
}

// Says returns the cost as a sentence for people.
func (c Cost) Says() string {
	return fmt.Sprintf("It takes a party about %s of one core and %s of memory, and the aggregator %s, %s of memory and %s of disk.",
		seconds(c.PartySeconds), block.Bytes(c.PartyMemory), seconds(c.AggregatorSeconds), block.Bytes(c.AggregatorMemory), block.Bytes(c.AggregatorDisk))
}

// seconds returns a duration in words for people.
func seconds(s float64) string {
	for _, of := range []struct {
		least, each float64
		name        string
	}{{3 * 86400, 86400, "days"}, {3 * 3600, 3600, "hours"}, {180, 60, "minutes"}} {
		if s >= of.least {
			return fmt.Sprintf("%.0f %s", s/of.each, of.name)
		}
	}
	if s < 1 {
		return "a second"
	}
	return fmt.Sprintf("%.0f seconds", math.Ceil(s))
}

// beyond warns of more records than a sketch's exact sums can hold, and names the number of bits
// that suffices.
func (o Options) beyond() (out []Warning) {
	for i := range o.Study.Sketches {
		limit := o.Study.RecordLimit(i)
		for party, p := range o.Study.Parties {
			records := o.records(party)
			if records <= limit {
				continue
			}
			w := Warning{Text: fmt.Sprintf("sketch %d is exact for at most %d records of a party, and %s has %d: its data will be refused", i+1, limit, p.Name, records)}
			if bits := o.bitsFor(i, records); bits > 0 {
				w.Change = []string{fmt.Sprintf("bits: %d", bits)}
			}
			out = append(out, w)
			break
		}
	}
	return out
}

// bitsFor returns the finest resolution at which a sketch can hold so many records; 0 if there is
// none.
func (o Options) bitsFor(sketch int, records int64) fixedpoint.Bits {
	coarser := *o.Study
	for coarser.Bits--; coarser.Bits > 0; coarser.Bits-- {
		if coarser.RecordLimit(sketch) >= records {
			return coarser.Bits
		}
	}
	return 0
}
