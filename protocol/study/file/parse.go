package file

import (
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// version is the value of the first key of every study file that this program reads.
const version = "study/2"

// first is the version before it, whose defaults gave other answers. It is refused, not read.
const first = "study/1"

// Parse reads, completes and validates a study file. Its error is an Errors that
// lists everything wrong in the first of these stages that found anything: text,
// YAML, single values, and how the values fit together.
func Parse(source []byte) (*study.Study, error) {
	if e := checkSource(source); e != nil {
		return nil, schema.Errors{e}
	}
	root, e := schema.Document(source)
	if e != nil {
		return nil, schema.Errors{e}
	}
	if root == nil {
		return nil, schema.Errors{{Line: 1, Column: 1, Message: "the file is empty", Hint: "a study file begins with cosketch: " + version}}
	}
	r := &reader{}
	if !r.Survey(root, "") {
		return nil, r.Failure()
	}
	s := r.study(root)
	if err := r.Failure(); err != nil {
		return nil, err
	}
	r.complete(s)
	r.validate(s)
	if err := r.Failure(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Parties, func(a, b study.Party) int { return a.ID.Compare(b.ID) })
	s.ID = sha256.Sum256(source)
	s.Source = slices.Clone(source)
	s.Meaning = meaning(s)
	return s, nil
}

// study reads the top level. Values that the file leaves out stay zero; complete
// fills them in.
func (r *reader) study(root *yaml.Node) *study.Study {
	s := &study.Study{}
	if root.Kind != yaml.MappingNode || len(root.Content) == 0 || root.Content[0].Value != "cosketch" {
		r.Fail("", "not a study file").Hint = "its first key is cosketch: " + version
		return s
	}
	if root.Content[1].Value == first {
		r.Fail("cosketch", "the file is of the first version, %s, whose defaults gave other answers", first).Hint = "draft the study anew with aggregator study new: this program reads " + version
		return s
	}
	if v := root.Content[1]; v.Kind != yaml.ScalarNode || v.Value != version {
		r.Fail("cosketch", "%s is another format", schema.Describe(v)).Hint = "this program reads " + version
		return s
	}
	o := r.object(root, "", "cosketch", "name", "nonce", "aggregator", "parties", "partition", "quorum",
		"expires", "deadline", "late_until", "new_records_until", "max_attempts", "records", "columns", "bits", "sketches",
		"privacy", "sum", "colluding", "analyses", "later", "queries")
	o.Require("name", "nonce", "aggregator", "parties", "partition", "expires", "deadline", "records",
		"columns", "sketches", "privacy", "analyses")

	s.Name = o.name("name")
	s.Nonce = o.nonce()
	if o.Has("aggregator") {
		s.Aggregator = r.aggregator(o.Values["aggregator"])
	}
	for _, it := range o.Items("parties", study.MaxParties) {
		s.Parties = append(s.Parties, r.party(it))
	}
	s.Partition = schema.Choice(o.Object, "partition", partitions, study.Partition(""))
	s.Quorum = o.Whole("quorum")
	s.Expires = o.instant("expires")
	s.Deadline = o.instant("deadline")
	s.LateUntil = o.instant("late_until")
	s.NewRecords = o.instant("new_records_until")
	s.Attempts = o.Whole("max_attempts")
	if o.Has("records") {
		s.Records = r.records(o.Values["records"])
	}
	for _, it := range o.Items("columns", study.MaxColumns) {
		s.Columns = append(s.Columns, r.column(it))
	}
	s.Bits = o.bits()
	for _, it := range o.Items("sketches", study.MaxSketches) {
		s.Sketches = append(s.Sketches, r.sketch(it))
	}
	if o.Has("privacy") {
		s.Privacy = r.privacy(o.Values["privacy"])
	}
	for _, it := range o.Items("analyses", study.MaxAnalyses) {
		s.Analyses = append(s.Analyses, r.analysis(it))
	}
	for _, it := range o.Items("later", study.MaxAnalyses) {
		if word := analysisWords().Read(&r.Reader, it); word != "" {
			s.Later = append(s.Later, study.AnalysisKind(word))
		}
	}
	if o.Has("queries") {
		s.Queries = r.queries(o.Values["queries"])
	}
	s.Sum = schema.Choice(o.Object, "sum", sums, study.SumPlain)
	s.Colluding = o.Whole("colluding")
	return s
}

// name reads the name of a study, party or column.
func (o object) name(key string) string {
	if !o.Has(key) {
		return ""
	}
	before := o.Failures
	s := o.Text(key)
	if o.Failures > before {
		return ""
	}
	if why := checkName(s); why != "" {
		o.Fail(key, "%s", why)
	}
	return s
}

func (o object) nonce() (nonce [16]byte) {
	word := o.Word("nonce", schema.MaxWord)
	if word == "" {
		return nonce
	}
	raw, err := hex.DecodeString(word)
	if err != nil || len(raw) != len(nonce) || strings.ToLower(word) != word {
		o.Fail("nonce", "want 32 hexadecimal digits in lower case, have %s", schema.Excerpt(word)).Hint = "16 fresh random bytes: they make this study differ from any other with the same terms"
		return nonce
	}
	copy(nonce[:], raw)
	return nonce
}

func (o object) instant(key string) protocol.Instant {
	word := o.Word(key, schema.MaxWord)
	if word == "" {
		return 0
	}
	t, err := protocol.ParseInstant(word)
	if err != nil {
		o.Fail(key, "%v", err)
	}
	return t
}

func (o object) peerID(key string) (id protocol.PeerID) {
	word := o.Word(key, schema.MaxWord)
	if word == "" {
		return id
	}
	id, err := protocol.ParsePeerID(word)
	if err != nil {
		o.Fail(key, "%v", err)
	}
	return id
}

func (r *reader) aggregator(n *yaml.Node) study.Aggregator {
	o := r.object(n, "aggregator", "id", "hpke", "addrs")
	o.Require("id", "hpke", "addrs")
	a := study.Aggregator{ID: o.peerID("id"), HPKE: o.hpke()}
	before := r.Failures
	for _, it := range o.Items("addrs", study.MaxAddrs) {
		addr := r.Text(it)
		if !strings.HasPrefix(addr, "/") || strings.ContainsAny(addr, " \n") || strings.HasSuffix(addr, "/") {
			r.Fail(it.Path, "%s is not a multiaddr", schema.Excerpt(addr)).Hint = "like /dns4/agg.example.org/tcp/4001"
		} else if strings.Contains(addr+"/", "/p2p/") {
			r.Fail(it.Path, "%s names a peer id", schema.Excerpt(addr)).Hint = "leave /p2p/… out: aggregator.id says who answers"
		}
		a.Addrs = append(a.Addrs, addr)
	}
	if o.Has("addrs") && len(a.Addrs) == 0 && r.Failures == before {
		o.Fail("addrs", "lists no address").Hint = "like [/dns4/agg.example.org/tcp/4001]"
	}
	return a
}

// hpke reads the aggregator's public key in standard base64, whose one spelling is
// checked by encoding it again.
func (o object) hpke() []byte {
	const longest = 4096
	word := o.Word("hpke", longest)
	if word == "" {
		return nil
	}
	key, err := base64.StdEncoding.Strict().DecodeString(word)
	if err != nil || base64.StdEncoding.EncodeToString(key) != word {
		o.Fail("hpke", "not base64").Hint = "copy the key that aggregator init prints"
		return nil
	}
	if _, err := hpke.MLKEM768X25519().NewPublicKey(key); err != nil {
		o.Fail("hpke", "not an MLKEM768-X25519 public key").Hint = "copy the key that aggregator init prints"
		return nil
	}
	return key
}

func (r *reader) party(it schema.Item) study.Party {
	o := r.object(it.Node, it.Path, "name", "id", "records")
	o.Require("name", "id")
	p := study.Party{Name: o.name("name"), ID: o.peerID("id")}
	if before := len(r.Errs); o.Has("records") {
		if p.Records = int64(o.Whole("records")); len(r.Errs) == before {
			r.Within(it.Path+".records", int(p.Records), leastRecords, mostRecords)
		}
	}
	return p
}

func (r *reader) records(n *yaml.Node) study.Records {
	o := r.object(n, "records", "id", "normalize", "duplicates", "missing", "join")
	o.Require("id")
	rec := study.Records{
		Duplicates: schema.Choice(o.Object, "duplicates", duplicates, study.DuplicatesRefuse),
		Missing:    schema.Choice(o.Object, "missing", missings, study.MissingRefuse),
		Join:       schema.Choice(o.Object, "join", joins, study.JoinRule("")),
	}
	for _, it := range o.Items("id", study.MaxIDColumns) {
		rec.ID = append(rec.ID, r.value(it))
	}
	rec.Normalize = []study.Normalization{study.NormalizeNFC, study.NormalizeTrim}
	if o.Has("normalize") {
		rec.Normalize = nil
		for _, it := range o.Items("normalize", len(normalizings.Has)) {
			if word := normalizings.Read(&r.Reader, it); word != "" {
				rec.Normalize = append(rec.Normalize, study.Normalization(word))
			}
		}
	}
	return rec
}

// maxText is the longest free text, in characters.
const maxText = 200

// value reads free text of a list.
func (r *reader) value(it schema.Item) string {
	before := r.Failures
	s := r.Text(it)
	if r.Failures > before {
		return ""
	}
	if why := checkValue(s, maxText); why != "" {
		r.Fail(it.Path, "%s", why)
	}
	return s
}

func (r *reader) privacy(n *yaml.Node) study.Privacy {
	o := r.object(n, "privacy", "unit", "neighbours", "mechanism", "epsilon", "delta")
	if !o.Has("mechanism") {
		o.Fail("mechanism", "is missing").Hint = "one of: " + strings.Join(mechanisms.Has, ", ") + "; a study without noise says none"
	}
	return study.Privacy{
		Unit:      schema.Choice(o.Object, "unit", units, dp.Unit("")),
		Mechanism: schema.Choice(o.Object, "mechanism", mechanisms, dp.Mechanism("")),
		Epsilon:   dp.Epsilon(o.Number("epsilon")),
		Delta:     dp.Delta(o.Number("delta")),
		Replaced:  schema.Choice(o.Object, "neighbours", neighbours, "zeroed") == "replaced",
	}
}
