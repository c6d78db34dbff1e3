package analysis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
)

// streamed makes a run read its records through Scan, in blocks that are not rows.
func streamed(o analysis.Options) analysis.Options {
	o.Contributions = slices.Clone(o.Contributions)
	for n := range o.Contributions {
		c := &o.Contributions[n]
		held := c.Sketches
		c.Sketches = nil
		for _, s := range held {
			c.Sketches = append(c.Sketches, sketch.Sketch{Side: s.Side, Rows: s.Rows, Cols: s.Cols})
		}
		labels := c.Labels
		c.Scan = func(i int, take func([]int64)) error {
			var all []int64
			for row := range held[i].Rows {
				all = append(all, held[i].Row(row)...)
				if labels[i] != nil {
					all = append(all, int64(labels[i][row]))
				}
			}
			for block := range slices.Chunk(all, 7) {
				take(block)
			}
			return nil
		}
	}
	return o
}

// Records that are read from a disk while they are gathered give the same answers as records in
// memory, with and without labels, joined and not.
func TestRecordsAreStreamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	grouped := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise,
		"{kind: svm}, {kind: ridge-classification}, {kind: k-means, clusters: 3}, {kind: group-distance}, {kind: outliers, neighbors: 3}"))
	apart := parse(t, fmt.Sprintf(joined, "any", "  - {side: records, family: identity}\n", noPromise, "{kind: k-means, clusters: 2}"))
	var records []of
	for i := range 40 {
		records = append(records, of{[]float64{float64(i % 10), 3}, []float64{float64(i)}, []float64{float64(i % 2)}})
	}
	some, _ := split(rng, records, func(party string, i int) bool { return i > 3 || party != "west" })
	for name, sent := range map[string]shipped{
		"horizontal": ship(t, grouped, 5, diagnoses(rng, mostlyMixed(1))), "joined": ship(t, apart, 5, some),
	} {
		held, heldLabels := sent.run(t)
		sent.options = streamed(sent.options)
		got, labels := sent.run(t)
		if !reflect.DeepEqual(got, held) || !reflect.DeepEqual(labels, heldLabels) {
			t.Errorf("%s: other answers:\n%+v\n%+v", name, got, held)
		}
	}
}

// For records that are read from a disk, only the matrix in which they are gathered is in memory.
func TestMemoryOfRecords(t *testing.T) {
	const records, k = 10_000, 64
	s := parse(t, fmt.Sprintf(diagnosed, fmt.Sprintf("{side: records, family: rademacher, k: %d, labels: plain}", k), noPromise, "{kind: k-means, clusters: 3}"))
	row := make([]int64, k+1)
	c := analysis.Contribution{Records: records, Sketches: []sketch.Sketch{{Side: sketch.Records, Rows: records, Cols: k}}, Labels: [][]int{make([]int, records)}}
	rng := rand.New(rand.NewPCG(1, 2))
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, held := live(), int64(0)
	c.Scan = func(_ int, take func([]int64)) error {
		for range records {
			for i := range k {
				row[i] = rng.Int64N(1 << 20)
			}
			take(row)
		}
		held = live() - before
		return nil
	}
	result, _, err := analysis.Run(t.Context(), analysis.Options{Study: s, Attempt: 1, Contributions: []analysis.Contribution{c}})
	if err != nil || result.Analyses[0].Undefined != "" {
		t.Fatal(err, result.Analyses)
	}
	if most := int64(records * (8*k + 128)); held > most {
		t.Errorf("%d bytes are held of %d records, want at most %d", held, records, most)
	}
	if said, err := (analysis.Quotas{Memory: math.MaxInt64}).Needs(s, 0, records); err != nil || said < 2*8*k*records {
		t.Errorf("they are said to take %d bytes (%v)", said, err)
	}
}

// elsewhere is storage that counts what it gives. When a part of it is closed, what the part gave
// is overwritten.
type elsewhere struct {
	given int
	full  error
}

func (e *elsewhere) Bytes(n int) ([]byte, error) {
	e.given += n
	return make([]byte, n), e.full
}

func (e *elsewhere) Part() room.Part { return &passing{elsewhere: e} }

type passing struct {
	*elsewhere
	mine [][]byte
}

func (p *passing) Bytes(n int) ([]byte, error) {
	out, err := p.elsewhere.Bytes(n)
	p.mine = append(p.mine, out)
	return out, err
}

func (p *passing) Close() error {
	for _, data := range p.mine {
		for i := range data {
			data[i] = 0xff
		}
	}
	return nil
}

// tooLittle returns the largest memory that does not hold so many records.
func tooLittle(t *testing.T, s *study.Study, records int64) int64 {
	t.Helper()
	whole, err := analysis.Quotas{Memory: math.MaxInt64}.Needs(s, 0, records)
	if err != nil {
		t.Fatal(err)
	}
	return whole - 1
}

// Records that are gathered beside the memory give the same answers, bit for bit, as records in
// memory: in studies that stack records, and in studies that join them.
func TestRecordsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	grouped := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: rademacher, k: 100, labels: plain}", noPromise,
		"{kind: svm}, {kind: ridge-classification}, {kind: k-means, clusters: 3}, {kind: neighbors, neighbors: 2}, {kind: outliers, neighbors: 3}"))
	apart := parse(t, fmt.Sprintf(joined, "any", "  - {side: records, family: rademacher, k: 100}\n", noPromise, "{kind: k-means, clusters: 2}"))
	var records []of
	for i := range 500 {
		records = append(records, of{[]float64{float64(i % 10), 3}, []float64{float64(i)}, []float64{float64(i % 2)}})
	}
	some, _ := split(rng, records, func(party string, i int) bool { return i > 100 || party != "west" })
	for name, sent := range map[string]shipped{
		"horizontal": ship(t, grouped, 5, diagnoses(rng, mostlyMixed(10))), "joined": ship(t, apart, 5, some),
	} {
		sent.options.Entropy = rand.NewChaCha8([32]byte{1})
		held, heldLabels := sent.run(t)
		given, all, most := &elsewhere{}, 0, 0
		for _, c := range sent.options.Contributions {
			all, most = all+int(c.Records), max(most, int(c.Records))
		}
		sent.options.Entropy = rand.NewChaCha8([32]byte{1})
		sent.options.Scratch, sent.options.Memory = given, tooLittle(t, sent.options.Study, int64(all))
		got, labels := sent.run(t)
		if !reflect.DeepEqual(got, held) || encoded(t, labels) != encoded(t, heldLabels) {
			t.Errorf("%s: other answers", name)
		}
		for i, a := range got.Analyses {
			if a.Undefined != "" {
				t.Errorf("%s: analysis %d: %s", name, i, a.Undefined)
			}
		}
		if given.given < 8*100*most {
			t.Errorf("%s: %d bytes lie apart, for %d records and more", name, given.given, most)
		}
		given.full = errors.New("full")
		var keeping *analysis.StoreError
		if _, _, err := analysis.Run(t.Context(), sent.options); !errors.As(err, &keeping) || !errors.Is(err, given.full) {
			t.Errorf("%s: no room anywhere: %v", name, err)
		}
	}
}

// remembered is a Memo in memory that fails at a chosen step.
type remembered struct {
	steps map[string][]byte
	left  int // steps until it fails; below zero: never
}

var errKilled = errors.New("killed")

func (m *remembered) Load(step string, read func(io.Reader) error) error {
	if found, kept := m.steps[step]; kept {
		return read(bytes.NewReader(found))
	}
	return nil
}

func (m *remembered) Save(step string, write func(io.Writer) error) error {
	if m.left == 0 {
		return errKilled
	}
	m.left--
	var found bytes.Buffer
	err := write(&found)
	m.steps[step] = found.Bytes()
	return err
}

// A run that is interrupted at any of its steps and restarted gives the same answers as an
// uninterrupted one, and does not repeat finished steps: for records that are gathered beside the
// memory.
func TestRunGoesOn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 6))
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: rademacher, k: 100, labels: plain}", noPromise,
		"{kind: k-means, clusters: 3}, {kind: ridge-classification}, {kind: neighbors, neighbors: 2}"))
	sent := ship(t, s, 5, diagnoses(rng, mostlyMixed(10)))
	var records int64
	for _, c := range sent.options.Contributions {
		records += c.Records
	}
	begin := func(m *remembered) (analysis.Result, []analysis.Labels, error) {
		o := sent.options
		o.Scratch, o.Memory, o.Memo, o.Entropy = &elsewhere{}, tooLittle(t, s, records), m, rand.NewChaCha8([32]byte{1})
		return analysis.Run(t.Context(), o)
	}
	want, wantLabels, err := begin(&remembered{map[string][]byte{}, -1})
	if err != nil {
		t.Fatal(err)
	}
	m := &remembered{map[string][]byte{}, 0}
	for broken := 0; ; broken++ {
		m.left = 1
		if broken == 0 {
			m.left = 0
		}
		got, labels, err := begin(m)
		if errors.Is(err, errKilled) {
			if len(m.steps) != broken {
				t.Fatalf("broken off %d times with %d steps", broken+1, len(m.steps))
			}
			continue
		}
		if err != nil || jsonOf(t, got) != jsonOf(t, want) || encoded(t, labels) != encoded(t, wantLabels) {
			t.Errorf("broken off %d times: other answers (%v)", broken, err)
		}
		if broken != 3 {
			t.Errorf("broken off %d times, of 3 analyses", broken)
		}
		break
	}
	// Steps that cannot be read are repeated.
	for step := range m.steps {
		m.steps[step] = m.steps[step][:len(m.steps[step])/2]
	}
	m.left = -1
	if got, labels, err := begin(m); err != nil || jsonOf(t, got) != jsonOf(t, want) || encoded(t, labels) != encoded(t, wantLabels) {
		t.Errorf("damaged steps: other answers (%v)", err)
	}
}

// encoded returns documents as their parties get them.
func encoded(t *testing.T, labels []analysis.Labels) string {
	t.Helper()
	var out strings.Builder
	for _, l := range labels {
		if err := l.Encode(&out, " "); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A document written in pieces equals, byte for byte, the one written at once.
func TestEncodeLabels(t *testing.T) {
	many := make([]int, 10_000)
	texts := make([]string, len(many))
	numbers := make([]float64, len(many))
	for i := range many {
		many[i], texts[i], numbers[i] = i-5, fmt.Sprint("<", i, ">"), math.Exp(float64(i%1400-700))
	}
	for _, l := range []analysis.Labels{
		{}, {Columns: []analysis.RowColumn{}},
		{Format: "f", Study: "s", Party: `"[]`, Columns: []analysis.RowColumn{{Analysis: 1, Name: "a}"}, {Integers: many, Absent: many[:3]}, {Numbers: numbers[:4096]}, {Texts: texts, Own: many}}},
	} {
		if l.Columns == nil {
			l.Columns = []analysis.RowColumn{}
		}
		compact, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		spread, err := json.MarshalIndent(l, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for indent, want := range map[string][]byte{"": compact, " ": spread} {
			var got bytes.Buffer
			if err := l.Encode(&got, indent); err != nil || !bytes.Equal(got.Bytes(), want) {
				t.Errorf("indent %q: %.300s\nwant %.300s (%v)", indent, got.Bytes(), want, err)
			}
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// An analysis that needs more memory than allowed is undefined. It says how much it needs and which
// key allows more. Others are answered.
func TestAnalysesWithinMemory(t *testing.T) {
	s := parse(t, fmt.Sprintf(joined, "all", "  - {side: records, family: identity}\n  - {side: columns, family: sparse, k: 16, s: 1, helpers: {ones: 1}}\n", noPromise,
		"{kind: k-means, clusters: 2}, {kind: covariance}"))
	var records []of
	for i := range 60 {
		records = append(records, of{[]float64{float64(i % 10), 3}, []float64{float64(i)}, []float64{float64(i % 2)}})
	}
	data, _ := split(rand.New(rand.NewPCG(8, 8)), records, func(string, int) bool { return true })
	sent := ship(t, s, 5, data)
	sent.options.Memory = 1 << 16
	result, _ := sent.run(t)
	if why := result.Analyses[0].Undefined; !strings.Contains(why, "of memory at the aggregator, and it allows 1 MiB (analysis: memory_mib") {
		t.Errorf("k-means: %q", why)
	}
	if a := result.Analyses[1]; a.Undefined != "" || len(a.Pairs) == 0 {
		t.Errorf("covariance: %q", a.Undefined)
	}
}

// A party's share is the room for its records by the study file and an equal part of the rest,
// whoever else comes. A party that states few records cannot send many in place of others.
func TestShares(t *testing.T) {
	text := fmt.Sprintf(diagnosed, "{side: records, family: rademacher, k: 256, labels: plain}", noPromise, "{kind: k-means, clusters: 3}")
	s := parse(t, text)
	const each = 16*256 + 512           // of memory
	const gathered = 8*257 + 8*256 + 48 // of disk
	quotas := analysis.Quotas{Memory: 30_000 * each, Disk: 30_000 * gathered}
	shares, err := quotas.Shares(s)
	if err != nil || !slices.Equal(shares, []int64{10_000, 10_000, 10_000}) {
		t.Errorf("shares %v, error %v", shares, err)
	}
	if err := quotas.Admit(s, 1, 10_000); err != nil {
		t.Error(err)
	}
	var tooMany *analysis.QuotaError
	if err := quotas.Admit(s, 1, 10_001); !errors.As(err, &tooMany) || !strings.Contains(err.Error(), "whose share of the quota is 10000") {
		t.Errorf("10001 records: %v", err)
	}
	s.Parties[0].Records = 24_000
	if shares, err = quotas.Shares(s); err != nil || !slices.Equal(shares, []int64{26_000, 2000, 2000}) {
		t.Errorf("shares %v, error %v", shares, err)
	}
	if err := quotas.Check(s); err != nil {
		t.Error(err)
	}
	// More records are gathered on the disk, where each needs room for its integers, its label, its
	// coordinates and what k-means says of it. Then memory holds only the working space of passes,
	// however many records there are.
	s.Parties[1].Records = 6001
	quotas.Disk += gathered
	if err := quotas.Check(s); err != nil {
		t.Errorf("30001 records: %v", err)
	}
	quotas.Disk = 30_000 * gathered
	if err := quotas.Check(s); !errors.As(err, &tooMany) || !strings.Contains(err.Error(), "the study's releases take about 119 MiB of disk at the aggregator, and it allows 119 MiB (uploads: study_mib") {
		t.Errorf("30001 records on a small disk: %v", err)
	}
	quotas = analysis.Quotas{Memory: 256 << 20, Disk: 1 << 40}
	s.Parties[1].Records = 100_000_000
	if err := errors.Join(quotas.Check(s), quotas.Admit(s, 1, 100_000_000)); err != nil {
		t.Error(err)
	}
	few, err := quotas.Needs(s, 0, 100_000)
	if many, manyErr := quotas.Needs(s, 0, 100_000_000); err != nil || manyErr != nil || many != few || many < 128<<20 || many > 160<<20 {
		t.Errorf("a hundred thousand records take %d bytes of memory, a hundred million %d (%v, %v)", few, many, err, manyErr)
	}
	// A disk does not help an analysis that needs the products of all columns at once.
	whole := ofColumns(t, 2000, "{kind: regression, target: last}")
	if err := (analysis.Quotas{Memory: 256 << 20, Disk: 1 << 40}).Check(whole); !errors.As(err, &tooMany) || !strings.Contains(err.Error(), "(analysis: memory_mib") {
		t.Errorf("a regression on 2000 columns: %v", err)
	}
	if err := (analysis.Quotas{Memory: analysis.DefaultMemory, Disk: 1 << 40}).Check(whole); err != nil {
		t.Error(err)
	}
	// The same holds for a disk; and sums do not grow with records.
	onDisk := analysis.Quotas{Memory: 1 << 40, Disk: 3 * 100 * (256 + 1) * 8}
	s = parse(t, text)
	if shares, err = onDisk.Shares(s); err != nil || !slices.Equal(shares, []int64{100, 100, 100}) {
		t.Errorf("shares %v, error %v", shares, err)
	}
	wide := ofColumns(t, 10_000, "{kind: sums}")
	if shares, err := (analysis.Quotas{Memory: 1 << 30, Disk: 1 << 30}).Shares(wide); err != nil || shares != nil {
		t.Errorf("of columns: shares %v, error %v", shares, err)
	}
	for _, small := range []analysis.Quotas{{Memory: 1 << 20, Disk: 1 << 30}, {Memory: 1 << 30, Disk: 1 << 20}} {
		if err := small.Admit(wide, 0, 1); !errors.As(err, &tooMany) {
			t.Errorf("%+v: %v", small, err)
		}
	}
}

// Texts that parties seal to each other count towards the disk if they are stored beside the board.
func TestSealedTextsCount(t *testing.T) {
	const texts = 100 * 100 * 3 * (1232 + 7*32)
	for apart, parties := range map[bool]int{true: 100, false: 50} {
		s, err := protocoltest.NewStudy(protocoltest.Terms{Parties: parties, Masked: true})
		if err != nil {
			t.Fatal(err)
		}
		quotas := analysis.Quotas{Memory: 1 << 40, Disk: texts}
		var tooLarge *analysis.QuotaError
		check := quotas.Check(s)
		if apart != errors.As(check, &tooLarge) || apart && !strings.Contains(check.Error(), "the study's releases, and what 100 parties seal to each other in 3 attempts, take about 42 MiB of disk at the aggregator") {
			t.Errorf("%d parties: %v", parties, check)
		}
		if err := quotas.AdmitSealed(s); err != nil {
			t.Error(err)
		}
		quotas.Disk--
		if err := quotas.AdmitSealed(s); apart != errors.As(err, &tooLarge) {
			t.Errorf("%d parties: %v", parties, err)
		}
	}
}
