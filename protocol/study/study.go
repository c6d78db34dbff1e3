package study

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
)

// Study is a parsed and validated study file with every default filled in. It is
// immutable: file.Parse makes it, everybody else reads it.
type Study struct {
	ID      protocol.StudyID // SHA-256 of Source
	Meaning protocol.Digest  // SHA-256 of a deterministic encoding of what was parsed
	Source  []byte           // the file's bytes

	Name       string
	Purpose    string   // what it is for; "" where the file does not say
	Nonce      [16]byte // the same terms twice are two studies
	Aggregator Aggregator
	Parties    []Party // ordered by raw public key, whatever the file's order
	Partition  Partition
	Quorum     int              // at least 2 and more than half of the parties
	Expires    protocol.Instant // approval closes
	Deadline   protocol.Instant // upload closes
	LateUntil  protocol.Instant // late parties may join and releases still count until then; 0 in a study without late parties
	KeepUntil  protocol.Instant // then sketches are removed, at the aggregator and at the parties; 0: the file does not say
	NewRecords protocol.Instant // until then parties may keep the row keys of records-side sketches, to place new records; 0: not at all
	Attempts   int              // how often the parties try to agree on a seed, at most; default 3
	Records    Records
	Columns    []Column // in the file's order
	Bits       fixedpoint.Bits
	Sketches   []Sketch
	Privacy    Privacy
	Sum        Sum    // default SumPlain
	Sealed     Sealed // default SealedWhole, of more parties than MostWhole always SealedApart
	Rounds     int    // 2: of sketches that go by the first round, there is a second; default 1
	Colluding  int    // SumMasked: how many parties may collude with the aggregator or with each other, at least 1; else 0
	Analyses   []Analysis
	Recipients []string       // who gets results beside the parties, for people
	Queries    Queries        // what parties may ask about new records, each time as a release
	Later      []AnalysisKind // what may be asked afterwards; default: all that the sketches answer

	basis *protocol.Basis // what the second round goes by, once the interim is there: see By
}

// Aggregator is the operator's node.
type Aggregator struct {
	ID    protocol.PeerID
	HPKE  []byte   // MLKEM768-X25519 public key, to which files that travel by hand are sealed
	Addrs []string // multiaddrs at which it listens, without /p2p
	By    Office
}

// Party is one organisation's node.
type Party struct {
	Name    string
	ID      protocol.PeerID
	Records int64 // about how many it has, for forecasts alone; 0 where nobody said
	By      Office
}

// Office is who answers for a node, for people. Either is empty where the file does not say.
type Office struct {
	Controller string // the organisation's legal name
	Contact    string // whom to ask about the data, such as a mail address
}

// Partition says how the data are split.
type Partition string

const (
	Vertical   Partition = "vertical"   // same people, other columns
	Horizontal Partition = "horizontal" // same columns, other people
)

// Records is the record id rule.
type Records struct {
	ID         []string // columns of the party's file that identify a record, joined with length prefixes when several
	Normalize  []Normalization
	Duplicates Duplicates
	Missing    Missing
	Join       JoinRule // where sketches are joined; default JoinAll. Empty elsewhere
}

// JoinRule says which records of a joined sketch answers are about.
type JoinRule string

const (
	JoinAll JoinRule = "all" // those that every party in a result has
	JoinAny JoinRule = "any" // those that some party has; one that lacks a record counts as its columns' centres there
)

// Normalization is one step applied to an id field, in the listed order.
type Normalization string

const (
	NormalizeNFC      Normalization = "nfc"
	NormalizeTrim     Normalization = "trim"     // Unicode white space at both ends
	NormalizeCasefold Normalization = "casefold" // Unicode full case folding
	NormalizeDigits   Normalization = "digits"   // keep ASCII digits only
)

// Duplicates says what a second record with the same id is.
type Duplicates string

const (
	DuplicatesRefuse Duplicates = "refuse"
)

// Missing says what an absent value becomes.
type Missing string

const (
	MissingRefuse Missing = "refuse" // an error with its line
	MissingCentre Missing = "centre" // the public centre, or the middle of the bounds; counted
	MissingCount  Missing = "count"  // left out of moments, which count them with noise; elsewhere the public centre
	MissingSkip   Missing = "skip"   // the whole record is left out; counted; refused under unit attribute
)

// Stays reports whether a record stays that lacks a value.
func (m Missing) Stays() bool { return m == MissingCentre || m == MissingCount }

// ColumnKind is a column's type.
type ColumnKind string

const (
	Numeric     ColumnKind = "numeric"
	Binary      ColumnKind = "binary"      // 0 or 1
	Categorical ColumnKind = "categorical" // one-hot by Values
)

// Column is one public column description.
type Column struct {
	Name     string
	Kind     ColumnKind
	Scale    fixedpoint.Scale // Numeric: transform, and bounds or centre and spread. Binary and Categorical: bounds 0, 1
	Source   string           // where bounds or centre and spread came from; free text, may be empty
	Values   []string         // Categorical: the public value list
	Owner    string           // vertical: the name of the party that holds it; horizontal: empty
	Label    bool             // role: label, the column that classifiers predict; beside records-side sketches at most (Sketch.Labels)
	Date     bool             // Numeric: bounds or centre are written as dates, so values are days since 1970-01-01, and answers are shown as dates
	Kurtosis float64          // fourth standardised moment assumed for sampling terms of intervals, at least 1; default 3
}

// Title names what answers are about: the column, or its transformed values, as in log(NAME).
// No name of a column has parentheses.
func (c Column) Title() string { return c.Scale.Transform().Of(c.Name) }

// Sketch is one sketch that every party releases.
type Sketch struct {
	Side       sketch.Side
	Projection projection.Spec // K is the number of features for family identity; side moments: identity; side cells: hadamard, K the directions L
	Share      float64         // this sketch's share of the budget, normalised: shares add up to 1, with those of labels
	Helpers    Helpers
	Public     bool    // matrix: public, the row key of R leaves with the release; records side
	Clip       float64 // l2 bound on a record's contribution, in units of 2^Bits; 0 unless Privacy.Unit is record
	Labels     Labels  // what of each record's label travels beside its row; records side
	LabelShare float64 // unit record: the randomised labels' share of the budget, beside Share; default: as much. Else 0
	Whole      bool    // clip: whole, so long that no record is cut: columns have bounds
	OwnClip    bool    // side moments, clip: own: each party takes the clip that its noisy lengths suggest; Clip is then the least
	Moments    Moments // side moments
	// Standardise is standardise: own. In moments, numeric columns with bounds are moved and scaled by each
	// party's own noisy moments first; in columns of vertical studies bits are moved, too.
	Standardise bool
	Subspace    int     // side cells: q, the eigenvectors of the summed moments that cells are projected on; 0: they are not projected
	Tables      []Table // side counts: what records are counted by
}

// Moments is what a moments sketch holds.
type Moments struct {
	Sums   int  // weight of sums, in units of the clip; default 3, or 2 where no mean is asked of it. 0: there are no products, and sums are as exact as they can be
	Fourth bool // also sums of fourth powers, which tell how far variances err as those of people like these
}

// Helpers are derived columns of a columns-side sketch.
type Helpers struct {
	Ones    float64 // weight of the column of ones, up to 1; 0 leaves it out. Default: 0 where no analysis needs it, else 1, or 0.7 under unit record
	Squares bool    // also sketch the square of every value and one-hot entry (estimator E1)
}

// Privacy is the promise of one party's releases in this study together.
type Privacy struct {
	Unit      dp.Unit // empty for mechanism none
	Mechanism dp.Mechanism
	Epsilon   dp.Epsilon // 0 for mechanism none
	Delta     dp.Delta   // 0 unless the mechanism is gaussian
	Replaced  bool       // unit record: a record may be replaced by another, not by zeros alone (neighbours: replaced)
}
