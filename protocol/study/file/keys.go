package file

import (
	"crypto/hpke"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Keys returns the keys of a study file, for people.
func Keys() []schema.Row { return studyKeys().Rows() }

// studyKeys returns the keys of a study file, in the order of the meaning.
func studyKeys() schema.Keys[study.Study] {
	type S = study.Study
	return schema.Keys[S]{
		{
			Name: "cosketch", Required: true, Path: "cosketch", Doc: "the format; the first key",
			Form: schema.Custom("`"+version+"`", func(*schema.Reader, schema.Item, *S) {}).
				Encoded(func(e *schema.Encoder, path string, _ *S) { e.Text(path, version) }),
		},
		{Name: "name", Required: true, Path: "name", Doc: "for people; it is on every output", Form: schema.Text(func(s *S) *string { return &s.Name }, checkName)},
		{
			Name: "purpose", Path: "purpose", IfSet: true, Unset: "not told", Doc: "what the study is for, in a sentence or two that stewards sign",
			Form: schema.Text(func(s *S) *string { return &s.Purpose }, checkProse),
		},
		{
			Name: "nonce", Required: true, Path: "nonce", Doc: "drawn for this study: the same terms twice are two studies",
			Hint: "16 fresh random bytes: they make this study differ from any other with the same terms",
			Form: schema.Parsed(func(s *S) *[16]byte { return &s.Nonce }, "32 hexadecimal digits in lower case", parseNonce, func(nonce [16]byte) string { return string(nonce[:]) }),
		},
		{Name: "aggregator", Required: true, Doc: "the operator's node, as `aggregator init` prints it", Form: schema.Table(func(s *S) *study.Aggregator { return &s.Aggregator }, aggregatorKeys())},
		{
			Name: "parties", Required: true, Path: "parties", Doc: "who may take part",
			Form: schema.List(func(s *S) *[]study.Party { return &s.Parties }, schema.Table(schema.Itself[study.Party], partyKeys()), 0, study.MaxParties),
		},
		{
			Name: "partition", Required: true, Path: "partition", Doc: "vertical: same people, other columns; horizontal: same columns, other people",
			Form: schema.Word(func(s *S) *study.Partition { return &s.Partition }, partitions),
		},
		{
			Name: "quorum", Path: "quorum", Doc: "how many must approve, and be in a result", Unset: "all",
			Form: anyWhole(func(s *S) *int { return &s.Quorum }, "whole number, 2 to the number of parties, and more than half"),
		},
		{Name: "expires", Required: true, Path: "expires", Doc: "when approval closes", Form: instant(func(s *S) *protocol.Instant { return &s.Expires })},
		{Name: "deadline", Required: true, Path: "deadline", Doc: "when upload closes; after `expires`", Form: instant(func(s *S) *protocol.Instant { return &s.Deadline })},
		{
			Name: "late_until", Path: "late_until", Doc: "late parties and releases count until then; after `deadline`, not with `sum: masked`", Unset: "none do",
			Form: instant(func(s *S) *protocol.Instant { return &s.LateUntil }),
		},
		{
			Name: "new_records_until", Path: "new_records_until", IfSet: true, Unset: "not at all",
			Doc:  "horizontal, records side: parties may place new records until then; after the last date above",
			Form: instant(func(s *S) *protocol.Instant { return &s.NewRecords }),
		},
		{
			Name: "keep_until", Path: "keep_until", IfSet: true, Unset: "until somebody runs `purge`",
			Doc:  "then the aggregator and the parties remove the sketches; after the last date above. Results stay",
			Form: instant(func(s *S) *protocol.Instant { return &s.KeepUntil }),
		},
		{
			Name: "max_attempts", Path: "max_attempts", Default: "3", Doc: "how often the parties try to agree on the seed",
			Hint: "how often the parties try to agree on the seed before the study stops",
			Form: schema.Whole(func(s *S) *int { return &s.Attempts }, 1, study.MaxAttempts),
		},
		{Name: "records", Required: true, Doc: "how records are known", Form: schema.Table(func(s *S) *study.Records { return &s.Records }, recordsKeys())},
		{
			Name: "columns", Required: true, Path: "columns", Doc: "what is publicly known of each column",
			Form: schema.List(func(s *S) *[]study.Column { return &s.Columns }, columnForm(), 0, study.MaxColumns),
		},
		{
			Name: "bits", Path: "bits", Doc: "of fixed-point values; or `auto`, by the largest k", Unset: "auto", Hint: "auto chooses by the largest k",
			Form: schema.Or("auto", schema.Whole(func(s *S) *fixedpoint.Bits { return &s.Bits }, 1, fixedpoint.MaxBits), func(*S) {}),
		},
		{
			Name: "sketches", Required: true, Path: "sketches", Doc: "what every party releases",
			Form: schema.List(func(s *S) *[]study.Sketch { return &s.Sketches }, schema.Table(schema.Itself[study.Sketch], sketchKeys()), 0, study.MaxSketches),
		},
		{Name: "privacy", Required: true, Doc: "the promise of one party's releases, together", Form: schema.Table(func(s *S) *study.Privacy { return &s.Privacy }, privacyKeys())},
		{
			Name: "sum", Path: "sum", Default: string(study.SumPlain), Doc: "masked: the aggregator sees the sum of all parties alone",
			Form: schema.Word(func(s *S) *study.Sum { return &s.Sum }, sums),
		},
		{
			Name: "colluding", Path: "colluding", IfSet: true, Doc: "with `sum: masked`, and needed there: at most so many parties tell others what they know; less than `quorum`",
			Form: anyWhole(func(s *S) *int { return &s.Colluding }, "whole number, 1 to the number of parties less 2"),
		},
		{
			Name: "sealed", Path: "sealed", IfSet: true, Unset: "in the share, which all read", Doc: "apart: in the seed agreement each party reads what is sealed to it, and not what is sealed to others; above 64 parties always",
			Form: schema.Word(func(s *S) *study.Sealed { return &s.Sealed }, sealedTexts),
		},
		{
			Name: "rounds", Path: "rounds", IfSet: true, Unset: "1", Doc: "2: sketches of side codes, or with a sketch of side look those of moments, are made in a second round, in the light of the first; one approval is for both",
			Form: schema.Whole(func(s *S) *int { return &s.Rounds }, 1, 2),
		},
		{
			Name: "analyses", Required: true, Path: "analyses", Doc: "what is asked",
			Form: schema.List(func(s *S) *[]study.Analysis { return &s.Analyses }, analysisForm(), 0, study.MaxAnalyses),
		},
		{
			Name: "recipients", Path: "recipients", IfSet: true, Unset: "not told", Doc: "who gets results beside the parties and the operator, for people",
			Form: schema.List(func(s *S) *[]string { return &s.Recipients }, schema.Text(schema.Itself[string], checkProse), 0, study.MaxRecipients).Then(func(r *schema.Reader, at schema.Item, s *S) {
				if len(s.Recipients) == 0 {
					r.Fail(at.Path, "lists nobody").Hint = "leave it out where nobody else gets results"
				}
			}),
		},
		{
			Name: "later", Path: "later", Doc: "kinds that may be asked of the same releases afterwards", Unset: "all that they answer",
			Form: schema.List(func(s *S) *[]study.AnalysisKind { return &s.Later }, schema.Word(schema.Itself[study.AnalysisKind], analysisWords()).Is("a word of the kinds below"), 0, study.MaxAnalyses),
		},
		{
			Name: "queries", Doc: "lets parties ask which records of others are near new ones; each query is a release", Unset: "none",
			Form: schema.Made(queriesKeys(), func(_ *schema.Reader, _ schema.Item, s *S, q *study.Queries) { s.Queries = *q }).
				Encoded(func(e *schema.Encoder, _ string, s *S) {
					if s.Queries != (study.Queries{}) { // with paths of their own
						keys := queriesKeys()
						keys.Encode(e, &s.Queries)
					}
				}),
		},
	}
}

// anyWhole is the form of a whole number whose range depends on other keys.
func anyWhole[T any](of func(*T) *int, is string) schema.Form[T] {
	return schema.Whole(of, math.MinInt32, math.MaxInt32).Is(is)
}

// instant is the form of a time; 0 means none and encodes as nothing.
func instant[T any](of func(*T) *protocol.Instant) schema.Form[T] {
	return schema.Parsed(of, "time in UTC, like `2026-12-01T17:00:00Z`", protocol.ParseInstant, func(t protocol.Instant) string {
		if t == 0 {
			return ""
		}
		return t.String()
	})
}

// peer is the form of a peer id.
func peer[T any](of func(*T) *protocol.PeerID) schema.Form[T] {
	return schema.Parsed(of, "peer id", protocol.ParsePeerID, func(id protocol.PeerID) string { return string(id[:]) })
}

func parseNonce(word string) (nonce [16]byte, err error) {
	raw, err := hex.DecodeString(word)
	if err != nil || len(raw) != len(nonce) || strings.ToLower(word) != word {
		return nonce, fmt.Errorf("want 32 hexadecimal digits in lower case, have %s", schema.Excerpt(word))
	}
	copy(nonce[:], raw)
	return nonce, nil
}

// officeKeys returns the keys for who is responsible for a node, with paths that begin with path.
func officeKeys[T any](of func(*T) *study.Office, path string) schema.Keys[T] {
	return schema.Keys[T]{
		{Name: "controller", Path: path + ".controller", IfSet: true, Unset: "not told", Doc: "the organisation's legal name, for the sheet that is signed", Form: schema.Text(func(t *T) *string { return &of(t).Controller }, checkProse)},
		{Name: "contact", Path: path + ".contact", IfSet: true, Unset: "not told", Doc: "whom to ask there, such as a mail address", Form: schema.Text(func(t *T) *string { return &of(t).Contact }, checkProse)},
	}
}

func aggregatorKeys() schema.Keys[study.Aggregator] {
	type A = study.Aggregator
	return append(schema.Keys[A]{
		{Name: "id", Required: true, Path: "aggregator.id", Doc: "its peer id", Form: peer(func(a *A) *protocol.PeerID { return &a.ID })},
		{
			Name: "hpke", Required: true, Path: "aggregator.hpke", Doc: "its public key for files that are carried by hand", Hint: "copy the key that aggregator init prints",
			Form: schema.Custom("base64", func(r *schema.Reader, at schema.Item, a *A) {
				const longest = 4096
				if word := r.Word(at, longest); word != "" {
					key, err := parseHPKE(word)
					if err != nil {
						r.Fail(at.Path, "%v", err)
					}
					a.HPKE = key
				}
			}).Encoded(func(e *schema.Encoder, path string, a *A) { e.Text(path, string(a.HPKE)) }),
		},
		{
			Name: "addrs", Required: true, Path: "aggregator.addrs", Doc: "multiaddrs at which parties reach it, tried in this order of kinds: TCP, WebSocket, QUIC",
			Form: schema.List(func(a *A) *[]string { return &a.Addrs }, schema.Text(schema.Itself[string], nil).Then(checkAddr), 0, study.MaxAddrs).Then(func(r *schema.Reader, at schema.Item, a *A) {
				if len(a.Addrs) == 0 {
					r.Fail(at.Path, "lists no address").Hint = "like [/dns4/agg.example.org/tcp/4001]"
				}
			}),
		},
	}, officeKeys(func(a *A) *study.Office { return &a.By }, "aggregator")...)
}

// checkAddr refuses a text that is not a multiaddr, or that contains a peer id.
func checkAddr(r *schema.Reader, at schema.Item, addr *string) {
	if !strings.HasPrefix(*addr, "/") || strings.ContainsAny(*addr, " \n") || strings.HasSuffix(*addr, "/") {
		r.Fail(at.Path, "%s is not a multiaddr", schema.Excerpt(*addr)).Hint = "like /dns4/agg.example.org/tcp/4001"
	} else if strings.Contains(*addr+"/", "/p2p/") {
		r.Fail(at.Path, "%s names a peer id", schema.Excerpt(*addr)).Hint = "leave /p2p/… out: aggregator.id says who answers"
	}
}

// parseHPKE reads the aggregator's public key in standard base64. Only the canonical spelling is
// accepted: the key is encoded again and compared.
func parseHPKE(word string) ([]byte, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(word)
	if err != nil || base64.StdEncoding.EncodeToString(key) != word {
		return nil, errors.New("not base64")
	}
	if _, err := hpke.MLKEM768X25519().NewPublicKey(key); err != nil {
		return nil, errors.New("not an MLKEM768-X25519 public key")
	}
	return key, nil
}

const leastRecords, mostRecords = 2, 1<<31 - 1 // declared records of a party

func partyKeys() schema.Keys[study.Party] {
	type P = study.Party
	return append(schema.Keys[P]{
		{Name: "name", Required: true, Path: "party.name", Doc: "the organisation, for people", Form: schema.Text(func(p *P) *string { return &p.Name }, checkName)},
		{Name: "id", Required: true, Path: "party.id", Doc: "its peer id, as `party init` prints it", Form: peer(func(p *P) *protocol.PeerID { return &p.ID })},
		{
			Name: "records", Path: "party.records", IfSet: true, Doc: "about how many records it has, for forecasts alone", Unset: "not told; `plan` takes 10000, and a party its own",
			Form: schema.Whole(func(p *P) *int64 { return &p.Records }, leastRecords, mostRecords),
		},
	}, officeKeys(func(p *P) *study.Office { return &p.By }, "party")...)
}

func recordsKeys() schema.Keys[study.Records] {
	type R = study.Records
	return schema.Keys[R]{
		{
			Name: "id", Required: true, Path: "records.id", Doc: "columns that identify a record, together",
			Form: schema.List(func(s *R) *[]string { return &s.ID }, freeText(), 0, study.MaxIDColumns),
		},
		{
			Name: "normalize", Path: "records.normalize", Default: "[nfc, trim]", Doc: "steps applied to ids, in order",
			Form: schema.List(func(s *R) *[]study.Normalization { return &s.Normalize }, schema.Word(schema.Itself[study.Normalization], normalizings), 0, len(normalizings.Has)),
		},
		{
			Name: "duplicates", Path: "records.duplicates", Default: string(study.DuplicatesRefuse), Doc: "what two records with one id are: an error",
			Form: schema.Word(func(s *R) *study.Duplicates { return &s.Duplicates }, duplicates),
		},
		{
			Name: "missing", Path: "records.missing", Default: string(study.MissingRefuse),
			Doc:  "what an empty value is: an error (`refuse`); left out of moments, which count it, a cell of its own in counts, and the centre elsewhere (`count`); the centre (`centre`); or a reason to leave out the record (`skip`, without noise)",
			Form: schema.Word(func(s *R) *study.Missing { return &s.Missing }, missings),
		},
		{
			Name: "join", Path: "records.join", IfSet: true, Unset: "all", Doc: "records side of a vertical study: answers are about records of every party, or of some",
			Form: schema.Word(func(s *R) *study.JoinRule { return &s.Join }, joins),
		},
	}
}

// maxText is the longest free text, in characters.
const maxText = 200

// freeText is the form of an entry of a list, a column's source or the like.
func freeText() schema.Form[string] {
	return schema.Text(schema.Itself[string], func(s string) string { return checkValue(s, maxText) })
}

func privacyKeys() schema.Keys[study.Privacy] {
	type P = study.Privacy
	return schema.Keys[P]{
		{
			Name: "unit", Path: "privacy.unit", Doc: "what one change is: one value of a record, or a whole record. Needed, but with mechanism none not allowed",
			Form: schema.Word(func(p *P) *dp.Unit { return &p.Unit }, units),
		},
		{
			Name: "mechanism", Required: true, Path: "privacy.mechanism", Doc: "none has to be spelled out",
			Hint: "one of: " + strings.Join(mechanisms.Has, ", ") + "; a study without noise says none",
			Form: schema.Word(func(p *P) *dp.Mechanism { return &p.Mechanism }, mechanisms),
		},
		{
			Name: "epsilon", Path: "privacy.epsilon", Doc: "the ε of all of one party's releases. Needed, but with mechanism none not allowed",
			Hint: "1 is strong, 8 is weak; a study without a promise says mechanism: none",
			Form: schema.Between(func(p *P) *dp.Epsilon { return &p.Epsilon }, minEpsilon, maxEpsilon),
		},
		{
			Name: "delta", Path: "privacy.delta", Doc: "gaussian, and needed there: the δ, such as 1e-6, well below one over the number of records",
			Hint: "well below one over the number of records, like 1e-6",
			Form: schema.Between(func(p *P) *dp.Delta { return &p.Delta }, minDelta, maxDelta),
		},
		{
			Name: "neighbours", Path: "privacy.neighbours", IfSet: true, Unset: "zeroed", Doc: "unit record: a record becomes zeros, or another's",
			Form: schema.Either(func(p *P) *bool { return &p.Replaced }, "kind of neighbours", "zeroed", "replaced"),
		},
	}
}

func queriesKeys() schema.Keys[study.Queries] {
	type Q = study.Queries
	return schema.Keys[Q]{
		{
			Name: "releases", Required: true, Path: "queries.releases", Doc: "at most so many of each party",
			Hint: "how many times each party may ask, each time for a release's ε; a study without queries leaves the key out",
			Form: schema.Whole(func(q *Q) *int { return &q.Releases }, 1, study.MaxQueries),
		},
		{
			Name: "records", Path: "queries.records", Doc: "at most so many in each", Unset: "1000, or what one message holds",
			Form: anyWhole(func(q *Q) *int { return &q.Records }, "whole number, 1 to what one message of 4 MB holds"),
		},
		{
			Name: "neighbors", Path: "queries.neighbors", Default: "10", Doc: "so many are told of each record",
			Form: schema.Whole(func(q *Q) *int { return &q.Neighbors }, 1, maxQueryNeighbors),
		},
	}
}
