package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/seed/transcript"
)

// Limits on an entry's fields.
const (
	MaxDataset    = 256     // bytes of a dataset's name
	MaxSketch     = 1 << 16 // sketches of a study
	MaxQuery      = 1 << 15 // queries of a study
	MaxRound      = 16      // releases of a study: more than its maximal number of attempts
	MaxAttributes = 1 << 24 // attributes of a dataset
)

// Entry records one release: this party was about to add noise to one sketch of one study from one
// dataset.
type Entry struct {
	Sequence   uint64           // position in the chain, from 1; set by Append
	Previous   protocol.Digest  // hash of the previous entry, zero for the first; set by Append
	Salt       [32]byte         // fresh random bytes, so that the hash, which the aggregator countersigns, reveals nothing
	Dataset    string           // name in the site file, 1 to 256 bytes
	Study      protocol.StudyID // required
	Aggregator protocol.PeerID  // required: who receives the release and countersigns the ledger's head
	Sketch     int              // index in the study's list of sketches
	Query      int              // 0: the study's release; else the number of a later query, noised like that sketch
	Round      int              // number of earlier releases of the study: masked sums that were void; else 0
	Unit       dp.Unit          // required
	Mechanism  dp.Mechanism     // required
	Epsilon    dp.Epsilon       // of this release; 0 for mechanism none
	Delta      dp.Delta         // at which Epsilon holds; 0 unless gaussian
	Mu         dp.Mu            // gaussian: the exact loss; 0 otherwise
	Attributes int              // attributes of the dataset that the study uses; at least 1
	At         protocol.Instant // time of the debit, not negative
}

// Promised returns the entry with the fields of a guarantee filled in.
func (e Entry) Promised(g dp.Guarantee) Entry {
	e.Mechanism, e.Epsilon, e.Delta, e.Mu = g.Mechanism(), g.Epsilon(), g.Delta(), g.Mu()
	return e
}

// String names the entry without its salt.
func (e Entry) String() string {
	return fmt.Sprintf("ledger entry %d: %s from dataset %q", e.Sequence, e.released(), e.Dataset)
}

// released names what was released.
func (e Entry) released() string {
	if e.Query > 0 {
		return fmt.Sprintf("query %d of study %s", e.Query, e.Study.Short())
	}
	text := fmt.Sprintf("sketch %d of study %s", e.Sketch+1, e.Study.Short())
	if e.Round > 0 {
		text += fmt.Sprintf(", release %d", e.Round+1)
	}
	return text
}

const (
	hashLabel = "ledger entry"
	version   = "cosketch/1/ledger\x00"
)

// Hash identifies the entry and, through Previous, all entries before it.
func (e Entry) Hash() protocol.Digest { return protocol.Hash(hashLabel, e.encode()) }

// Encode returns the entry's only encoding, or an error if a field is out of range.
func (e Entry) Encode() ([]byte, error) {
	if err := e.validate(); err != nil {
		return nil, fmt.Errorf("encoding %v: %w", e, err)
	}
	return e.encode(), nil
}

func (e Entry) encode() []byte {
	b := append([]byte(nil), version...)
	b = binary.BigEndian.AppendUint64(b, e.Sequence)
	b = append(b, e.Previous[:]...)
	b = append(b, e.Salt[:]...)
	b = transcript.AppendField(b, []byte(e.Dataset))
	b = append(b, e.Study[:]...)
	b = append(b, e.Aggregator[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(e.later())<<16|uint32(e.Sketch))
	b = transcript.AppendField(b, []byte(e.Unit))
	b = transcript.AppendField(b, []byte(e.Mechanism))
	for _, f := range []float64{float64(e.Epsilon), float64(e.Delta), float64(e.Mu)} {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(f))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(e.Attributes))
	return binary.BigEndian.AppendUint64(b, uint64(e.At))
}

// roundBit distinguishes rounds from queries in the encoding.
const roundBit = 1 << 15

// later encodes which release it is after a study's first release of the sketch; 0 is the first.
func (e Entry) later() int {
	if e.Round != 0 {
		return roundBit | e.Round
	}
	return e.Query
}

// DecodeEntry reads only what Encode can write: whatever it accepts encodes to the same bytes
// again.
func DecodeEntry(encoded []byte) (Entry, error) {
	r := reader{rest: encoded}
	if string(r.take(len(version))) != version {
		return Entry{}, errors.New("decoding a ledger entry: it does not begin with cosketch/1/ledger")
	}
	var e Entry
	e.Sequence = r.uint64()
	copy(e.Previous[:], r.take(len(e.Previous)))
	copy(e.Salt[:], r.take(len(e.Salt)))
	e.Dataset = string(r.bytes())
	copy(e.Study[:], r.take(len(e.Study)))
	copy(e.Aggregator[:], r.take(len(e.Aggregator)))
	which := r.uint32()
	e.Sketch = int(which & (MaxSketch - 1))
	if later := int(which >> 16); later&roundBit != 0 {
		if e.Round = later &^ roundBit; e.Round == 0 {
			return Entry{}, errors.New("decoding a ledger entry: a later round without its number")
		}
	} else {
		e.Query = later
	}
	e.Unit = dp.Unit(r.bytes())
	e.Mechanism = dp.Mechanism(r.bytes())
	e.Epsilon = dp.Epsilon(math.Float64frombits(r.uint64()))
	e.Delta = dp.Delta(math.Float64frombits(r.uint64()))
	e.Mu = dp.Mu(math.Float64frombits(r.uint64()))
	e.Attributes = int(r.uint32())
	e.At = protocol.Instant(r.uint64())
	if r.short {
		return Entry{}, fmt.Errorf("decoding a ledger entry: %d bytes are too few", len(encoded))
	}
	if len(r.rest) > 0 {
		return Entry{}, fmt.Errorf("decoding a ledger entry: %d bytes too many", len(r.rest))
	}
	if err := e.validate(); err != nil {
		return Entry{}, fmt.Errorf("decoding %v: %w", e, err)
	}
	return e, nil
}

// reader cuts fields off the front of rest. Once it is short it returns zeros.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if r.short = r.short || n > len(r.rest); r.short {
		return nil
	}
	field := r.rest[:n]
	r.rest = r.rest[n:]
	return field
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// bytes reads at most one byte more than the longest field, which validate refuses.
func (r *reader) bytes() []byte { return r.take(int(min(r.uint32(), MaxDataset+1))) }

func (e Entry) validate() error {
	switch {
	case e.Sequence == 0:
		return errors.New("sequence 0: the first is 1")
	case e.Dataset == "" || len(e.Dataset) > MaxDataset || !utf8.ValidString(e.Dataset):
		return fmt.Errorf("dataset %.40q: want a UTF-8 name of 1 to %d bytes", e.Dataset, MaxDataset)
	case e.Aggregator == protocol.PeerID{}:
		return errors.New("no aggregator")
	case e.Sketch < 0 || e.Sketch >= MaxSketch:
		return fmt.Errorf("sketch %d: want 0 to %d", e.Sketch, MaxSketch-1)
	case e.Query < 0 || e.Query >= MaxQuery:
		return fmt.Errorf("query %d: want 0 to %d", e.Query, MaxQuery-1)
	case e.Round != 0 && e.Query != 0:
		return errors.New("both a round of a release and a query")
	case e.Round < 0 || e.Round >= MaxRound:
		return fmt.Errorf("round %d: want 0 to %d", e.Round, MaxRound-1)
	case e.Unit != dp.Attribute && e.Unit != dp.Record:
		return fmt.Errorf("unit %.40q: want attribute or record", string(e.Unit))
	case e.Attributes < 1 || e.Attributes > MaxAttributes:
		return fmt.Errorf("%d attributes: want 1 to %d", e.Attributes, MaxAttributes)
	case e.At < 0:
		return fmt.Errorf("time %d: before 1970", int64(e.At))
	}
	return e.validatePromise()
}

// validatePromise checks that ε, δ and μ are set exactly when the mechanism has them, and +0
// otherwise.
func (e Entry) validatePromise() error {
	var epsilon, delta, mu bool
	switch e.Mechanism {
	case dp.None:
	case dp.Laplace, dp.RandomisedResponse:
		epsilon = true
	case dp.Gaussian:
		epsilon, delta, mu = true, true, true
	default:
		return fmt.Errorf("mechanism %.40q: want gaussian, laplace, randomised-response or none", string(e.Mechanism))
	}
	if !fits(float64(e.Epsilon), epsilon) || !fits(float64(e.Delta), delta) || !fits(float64(e.Mu), mu) || e.Delta >= 1 {
		return fmt.Errorf("epsilon %g, delta %g and mu %g do not fit mechanism %s", float64(e.Epsilon), float64(e.Delta), float64(e.Mu), e.Mechanism)
	}
	return nil
}

// fits reports whether f is positive and finite where wanted, and +0 otherwise.
func fits(f float64, wanted bool) bool {
	if wanted {
		return f > 0 && !math.IsInf(f, 1)
	}
	return math.Float64bits(f) == 0
}
