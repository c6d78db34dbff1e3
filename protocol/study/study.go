package study

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
)

// Study is a parsed and validated study file with every default filled in. It is immutable: only
// file.Parse makes it.
type Study struct {
	ID      protocol.StudyID // SHA-256 of Source
	Meaning protocol.Digest  // SHA-256 of a deterministic encoding of what was parsed
	Source  []byte           // the file's bytes

	Name       string
	Purpose    string   // purpose of the study; "" if the file does not give it
	Nonce      [16]byte // makes two studies with the same terms distinct
	Aggregator Aggregator
	Parties    []Party // ordered by raw public key, whatever the file's order
	Partition  Partition
	Quorum     int              // at least 2 and more than half of the parties
	Expires    protocol.Instant // approval closes
	Deadline   protocol.Instant // upload closes
	LateUntil  protocol.Instant // until then late parties may join and releases still count; 0 in a study without late parties
	KeepUntil  protocol.Instant // then the aggregator and the parties delete sketches; 0: the file does not say
	NewRecords protocol.Instant // until then parties may keep the row keys of records-side sketches, to sketch new records; 0: not at all
	Attempts   int              // most attempts of the parties to agree on a seed; default 3
	Records    Records
	Columns    []Column // in the file's order
	Bits       fixedpoint.Bits
	Sketches   []Sketch
	Privacy    Privacy
	Sum        Sum    // default SumPlain
	Sealed     Sealed // default SealedWhole; with more parties than MostWhole always SealedApart
	Rounds     int    // 2: some sketches depend on the first round and are made in a second; default 1
	Colluding  int    // SumMasked: how many parties may collude with the aggregator or with each other, at least 1; else 0
	Analyses   []Analysis
	Recipients []string       // who gets results besides the parties, for people
	Queries    Queries        // queries of parties about new records, each a release
	Later      []AnalysisKind // analyses that may be asked afterwards; default: all that the sketches answer

	basis *protocol.Basis // basis of the second round, once the interim is there: see By
}

// Aggregator is the operator's node.
type Aggregator struct {
	ID    protocol.PeerID
	HPKE  []byte   // MLKEM768-X25519 public key, to which files carried by hand are sealed
	Addrs []string // multiaddrs at which it listens, without /p2p
	By    Office
}

// Party is one organisation's node.
type Party struct {
	Name    string
	ID      protocol.PeerID
	Records int64 // approximate number of its records, only for forecasts; 0 if unknown
	By      Office
}

// Office says who is responsible for a node, for people. Fields are empty if the file does not say.
type Office struct {
	Controller string // the organisation's legal name
	Contact    string // contact for questions about the data, such as a mail address
}

// Partition says how the data are split.
type Partition string

const (
	Vertical   Partition = "vertical"   // same people, other columns
	Horizontal Partition = "horizontal" // same columns, other people
)

// Records is the record id rule.
type Records struct {
	ID         []string // columns of the party's file that identify a record, joined with length prefixes if several
	Normalize  []Normalization
	Duplicates Duplicates
	Missing    Missing
	Join       JoinRule // if sketches are joined; default JoinAll. Else empty
}

// JoinRule says which records of a joined sketch are included in answers.
type JoinRule string

const (
	JoinAll JoinRule = "all" // records that every party in a result has
	JoinAny JoinRule = "any" // records that some party has; where a party lacks the record, its columns' centres count
)

// Normalization is one step applied to an id field, in the listed order.
type Normalization string

const (
	NormalizeNFC      Normalization = "nfc"
	NormalizeTrim     Normalization = "trim"     // Unicode white space at both ends
	NormalizeCasefold Normalization = "casefold" // Unicode full case folding
	NormalizeDigits   Normalization = "digits"   // keep ASCII digits only
)

// Duplicates says how a second record with the same id is treated.
type Duplicates string

const (
	DuplicatesRefuse Duplicates = "refuse"
)

// Missing says how an absent value is treated.
type Missing string

const (
	MissingRefuse Missing = "refuse" // an error with its line
	MissingCentre Missing = "centre" // replaced by the public centre, or the middle of the bounds; counted
	MissingCount  Missing = "count"  // left out of moments, which count it with noise; elsewhere replaced by the public centre
	MissingSkip   Missing = "skip"   // the whole record is left out; counted; refused under unit attribute
)

// Stays reports whether a record with an absent value is kept.
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
	Source   string           // origin of bounds or centre and spread; free text, may be empty
	Values   []string         // Categorical: the public value list
	Owner    string           // vertical: the name of the party that holds it; horizontal: empty
	Label    bool             // role: label, the column that classifiers predict; on the records side it is at most released beside sketches (Sketch.Labels)
	Date     bool             // Numeric: bounds or centre are written as dates, so values are days since 1970-01-01, and answers are shown as dates
	Kurtosis float64          // assumed fourth standardised moment, for sampling terms of intervals, at least 1; default 3
}

// Title names the subject of answers: the column, or its transformed values, as in log(NAME). No
// column name contains parentheses.
func (c Column) Title() string { return c.Scale.Transform().Of(c.Name) }

// Sketch is one sketch that every party releases.
type Sketch struct {
	Side       sketch.Side
	Projection projection.Spec // K is the number of features for family identity; side moments: identity; side cells: hadamard, K is the number L of directions
	Share      float64         // this sketch's share of the budget, normalised: all shares, with those of labels, sum to 1
	Helpers    Helpers
	Public     bool    // matrix: public, the row key of R leaves with the release; records side
	Clip       float64 // l2 bound on a record's contribution, in units of 2^Bits; 0 unless Privacy.Unit is record
	Labels     Labels  // form of each record's label beside its row; records side
	LabelShare float64 // unit record: the randomised labels' share of the budget, in addition to Share; default: equal to it. Else 0
	Whole      bool    // clip: whole, so long that no record is clipped: columns have bounds
	OwnClip    bool    // side moments, clip: own: each party uses the clip that its noisy lengths suggest; Clip is then the smallest
	Moments    Moments // side moments
	// Standardise is standardise: own. In moments, numeric columns with bounds are first shifted
	// and scaled by each party's own noisy moments; in columns of vertical studies bits are, too.
	Standardise bool
	Subspace    int     // side cells: q, the number of eigenvectors of the summed moments on which cells are projected; 0: no projection
	Tables      []Table // side counts: what records are counted by
}

// Moments is what a moments sketch holds.
type Moments struct {
	Sums   int  // weight of sums, in units of the clip; default 3, or 2 if no mean is asked of it. 0: no products, and sums as exact as possible
	Fourth bool // also sums of fourth powers, from which the standard errors of variances in the population are estimated
}

// Helpers are derived columns of a columns-side sketch.
type Helpers struct {
	Ones    float64 // weight of the column of ones, up to 1; 0 leaves it out. Default: 0 if no analysis needs it, else 1, or 0.7 under unit record
	Squares bool    // also sketch the square of every value and one-hot entry (for estimator E1)
}

// Privacy is the joint guarantee of one party's releases in this study.
type Privacy struct {
	Unit      dp.Unit // empty for mechanism none
	Mechanism dp.Mechanism
	Epsilon   dp.Epsilon // 0 for mechanism none
	Delta     dp.Delta   // 0 unless the mechanism is gaussian
	Replaced  bool       // unit record: a record may be replaced by any other, not only by zeros (neighbours: replaced)
}
