package study

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
)

// Limits on what a study may list.
const (
	MaxParties   = 64
	MaxColumns   = 10_000
	MaxValues    = 1_000 // of one categorical column
	MaxFeatures  = 65_536
	MaxSketches  = 16
	MaxAnalyses  = 64
	MaxAddrs     = 16
	MaxIDColumns = 8
	MaxAttempts  = 10
)

// version is the value of the first key of every study file that this program reads.
const version = "study/2"

// first is the version before it, whose defaults gave other answers. It is refused, not read.
const first = "study/1"

// Parse reads, completes and validates a study file. Its error is an Errors that
// lists everything wrong in the first of these stages that found anything: text,
// YAML, single values, and how the values fit together.
func Parse(source []byte) (*Study, error) {
	if e := checkSource(source); e != nil {
		return nil, Errors{e}
	}
	root, e := load(source)
	if e != nil {
		return nil, Errors{e}
	}
	r := &reader{at: map[string]place{}}
	r.survey(root, "", 0)
	if err := r.failure(); err != nil {
		return nil, err
	}
	s := r.study(root)
	if err := r.failure(); err != nil {
		return nil, err
	}
	r.complete(s)
	r.validate(s)
	if err := r.failure(); err != nil {
		return nil, err
	}
	slices.SortFunc(s.Parties, func(a, b Party) int { return a.ID.Compare(b.ID) })
	s.ID = sha256.Sum256(source)
	s.Source = slices.Clone(source)
	s.Meaning = meaning(s)
	return s, nil
}

// study reads the top level. Values that the file leaves out stay zero; complete
// fills them in.
func (r *reader) study(root *yaml.Node) *Study {
	s := &Study{}
	if root.Kind != yaml.MappingNode || len(root.Content) == 0 || root.Content[0].Value != "cosketch" {
		r.fail("", "not a study file").Hint = "its first key is cosketch: " + version
		return s
	}
	if root.Content[1].Value == first {
		r.fail("cosketch", "the file is of the first version, %s, whose defaults gave other answers", first).Hint = "draft the study anew with aggregator study new: this program reads " + version
		return s
	}
	if v := root.Content[1]; v.Kind != yaml.ScalarNode || v.Value != version {
		r.fail("cosketch", "%s is another format", describe(v)).Hint = "this program reads " + version
		return s
	}
	o := r.object(root, "", "cosketch", "name", "nonce", "aggregator", "parties", "partition", "quorum",
		"expires", "deadline", "late_until", "new_records_until", "max_attempts", "records", "columns", "bits", "sketches",
		"privacy", "sum", "colluding", "analyses", "later", "queries")
	o.require("name", "nonce", "aggregator", "parties", "partition", "expires", "deadline", "records",
		"columns", "sketches", "privacy", "analyses")

	s.Name = o.name("name")
	s.Nonce = o.nonce()
	if o.has("aggregator") {
		s.Aggregator = r.aggregator(o.values["aggregator"])
	}
	for _, it := range o.items("parties", MaxParties) {
		s.Parties = append(s.Parties, r.party(it))
	}
	s.Partition = choice(o, "partition", partitions, Partition(""))
	s.Quorum = o.integer("quorum")
	s.Expires = o.instant("expires")
	s.Deadline = o.instant("deadline")
	s.LateUntil = o.instant("late_until")
	s.NewRecords = o.instant("new_records_until")
	s.Attempts = o.integer("max_attempts")
	if o.has("records") {
		s.Records = r.records(o.values["records"])
	}
	for _, it := range o.items("columns", MaxColumns) {
		s.Columns = append(s.Columns, r.column(it))
	}
	s.Bits = o.bits()
	for _, it := range o.items("sketches", MaxSketches) {
		s.Sketches = append(s.Sketches, r.sketch(it))
	}
	if o.has("privacy") {
		s.Privacy = r.privacy(o.values["privacy"])
	}
	for _, it := range o.items("analyses", MaxAnalyses) {
		s.Analyses = append(s.Analyses, r.analysis(it))
	}
	for _, it := range o.items("later", MaxAnalyses) {
		if word := r.listed(it, analysisWords()); word != "" {
			s.Later = append(s.Later, AnalysisKind(word))
		}
	}
	if o.has("queries") {
		s.Queries = r.queries(o.values["queries"])
	}
	s.Sum = choice(o, "sum", sums, SumPlain)
	s.Colluding = o.integer("colluding")
	return s
}

// name reads the name of a study, party or column.
func (o object) name(key string) string {
	if !o.has(key) {
		return ""
	}
	before := o.r.failures
	s := o.text(key)
	if o.r.failures > before {
		return ""
	}
	if why := checkName(s); why != "" {
		o.fail(key, "%s", why)
	}
	return s
}

func (o object) nonce() (nonce [16]byte) {
	word := o.word("nonce", maxWord)
	if word == "" {
		return nonce
	}
	raw, err := hex.DecodeString(word)
	if err != nil || len(raw) != len(nonce) || strings.ToLower(word) != word {
		o.fail("nonce", "want 32 hexadecimal digits in lower case, have %s", excerpt(word)).Hint = "16 fresh random bytes: they make this study differ from any other with the same terms"
		return nonce
	}
	copy(nonce[:], raw)
	return nonce
}

func (o object) instant(key string) protocol.Instant {
	word := o.word(key, maxWord)
	if word == "" {
		return 0
	}
	t, err := protocol.ParseInstant(word)
	if err != nil {
		o.fail(key, "%v", err)
	}
	return t
}

func (o object) peerID(key string) (id protocol.PeerID) {
	word := o.word(key, maxWord)
	if word == "" {
		return id
	}
	id, err := protocol.ParsePeerID(word)
	if err != nil {
		o.fail(key, "%v", err)
	}
	return id
}

func (r *reader) aggregator(n *yaml.Node) Aggregator {
	o := r.object(n, "aggregator", "id", "hpke", "addrs")
	o.require("id", "hpke", "addrs")
	a := Aggregator{ID: o.peerID("id"), HPKE: o.hpke()}
	before := r.failures
	for _, it := range o.items("addrs", MaxAddrs) {
		addr := r.text(it)
		if !strings.HasPrefix(addr, "/") || strings.ContainsAny(addr, " \n") || strings.HasSuffix(addr, "/") {
			r.fail(it.path, "%s is not a multiaddr", excerpt(addr)).Hint = "like /dns4/agg.example.org/tcp/4001"
		} else if strings.Contains(addr+"/", "/p2p/") {
			r.fail(it.path, "%s names a peer id", excerpt(addr)).Hint = "leave /p2p/… out: aggregator.id says who answers"
		}
		a.Addrs = append(a.Addrs, addr)
	}
	if o.has("addrs") && len(a.Addrs) == 0 && r.failures == before {
		o.fail("addrs", "lists no address").Hint = "like [/dns4/agg.example.org/tcp/4001]"
	}
	return a
}

// hpke reads the aggregator's public key in standard base64, whose one spelling is
// checked by encoding it again.
func (o object) hpke() []byte {
	const longest = 4096
	word := o.word("hpke", longest)
	if word == "" {
		return nil
	}
	key, err := base64.StdEncoding.Strict().DecodeString(word)
	if err != nil || base64.StdEncoding.EncodeToString(key) != word {
		o.fail("hpke", "not base64").Hint = "copy the key that aggregator init prints"
		return nil
	}
	if _, err := hpke.MLKEM768X25519().NewPublicKey(key); err != nil {
		o.fail("hpke", "not an MLKEM768-X25519 public key").Hint = "copy the key that aggregator init prints"
		return nil
	}
	return key
}

func (r *reader) party(it item) Party {
	o := r.object(it.node, it.path, "name", "id", "records")
	o.require("name", "id")
	p := Party{Name: o.name("name"), ID: o.peerID("id")}
	if before := len(r.errs); o.has("records") {
		if p.Records = int64(o.integer("records")); len(r.errs) == before {
			r.within(it.path+".records", int(p.Records), leastRecords, mostRecords)
		}
	}
	return p
}

func (r *reader) records(n *yaml.Node) Records {
	o := r.object(n, "records", "id", "normalize", "duplicates", "missing", "join")
	o.require("id")
	rec := Records{
		Duplicates: choice(o, "duplicates", duplicates, DuplicatesRefuse),
		Missing:    choice(o, "missing", missings, MissingRefuse),
		Join:       choice(o, "join", joins, JoinRule("")),
	}
	for _, it := range o.items("id", MaxIDColumns) {
		rec.ID = append(rec.ID, r.value(it))
	}
	rec.Normalize = []Normalization{NormalizeNFC, NormalizeTrim}
	if o.has("normalize") {
		rec.Normalize = nil
		for _, it := range o.items("normalize", len(normalizings.has)) {
			if word := r.listed(it, normalizings); word != "" {
				rec.Normalize = append(rec.Normalize, Normalization(word))
			}
		}
	}
	return rec
}

// maxText is the longest free text, in characters.
const maxText = 200

// value reads free text of a list.
func (r *reader) value(it item) string {
	before := r.failures
	s := r.text(it)
	if r.failures > before {
		return ""
	}
	if why := checkValue(s, maxText); why != "" {
		r.fail(it.path, "%s", why)
	}
	return s
}

// listed reads a word of a vocabulary from a list; "" when it is not one.
func (r *reader) listed(it item, v vocabulary) string {
	word := r.word(it, maxWord)
	if word == "" {
		return ""
	}
	if e := v.check(word); e != nil {
		r.fail(it.path, "%s", e.Message).Hint = e.Hint
		return ""
	}
	return word
}

func (r *reader) privacy(n *yaml.Node) Privacy {
	o := r.object(n, "privacy", "unit", "neighbours", "mechanism", "epsilon", "delta")
	if !o.has("mechanism") {
		o.fail("mechanism", "is missing").Hint = "one of: " + strings.Join(mechanisms.has, ", ") + "; a study without noise says none"
	}
	return Privacy{
		Unit:      choice(o, "unit", units, dp.Unit("")),
		Mechanism: choice(o, "mechanism", mechanisms, dp.Mechanism("")),
		Epsilon:   dp.Epsilon(o.number("epsilon")),
		Delta:     dp.Delta(o.number("delta")),
		Replaced:  choice(o, "neighbours", neighbours, "zeroed") == "replaced",
	}
}
