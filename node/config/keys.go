package config

import (
	"log/slog"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
)

// The keys of both configuration files. Only this table says what they may hold, mean and default
// to. Reading, the environment, advanced config show, the files that init writes and
// docs/reference.md are derived from it.

// PartyKeys are the keys of a party's site file.
func PartyKeys() []schema.Row { return partyKeys().Rows() }

// AggregatorKeys are the keys of an aggregator's configuration file.
func AggregatorKeys() []schema.Row { return aggregatorKeys().Rows() }

func partyKeys() schema.Keys[Party] {
	return schema.Keys[Party]{
		{Name: "datasets", Example: "patients", Form: schema.Named("names", schema.Entry(datasetKeys()), putDataset),
			Doc: "Where the data are. The ledger keeps each dataset's budget under its name. party data add writes an entry, and party advanced budget cap its caps."},
		{Name: "studies", Example: strings.Repeat("0123456789abcdef", 4), Form: schema.Named("ids of studies", schema.Entry(studyKeys()), putStudy),
			Doc: "Which dataset answers which study. party data use writes an entry."}, // after datasets, to which they refer
		{Name: "approval", Doc: "Four eyes: who must agree to a study beside the steward who approves it.",
			Form: schema.Table(schema.Itself[Party], schema.Keys[Party]{
				{Name: "second", Doc: "any one of these, by party advanced study cosign with a key of their own (party advanced steward init)",
					Form:  schema.List(func(p *Party) *[]protocol.PeerID { return &p.Second }, peer(), 1, most).Is("list of peer ids"),
					Unset: "nobody", Example: "[12D3KooWBtg3aaRMjxwedh83aGiUkwSxDwUZkzuJcfaqUmo7R3pq]"},
			})},
		{Name: "network", Doc: "How aggregators are reached.",
			Form: schema.Table(func(p *Party) *Network { return &p.Network }, schema.Keys[Network]{
				{Name: "roots", Doc: "who certifies HTTPS here, where a proxy opens it; `HTTPS_PROXY` is heeded", Unset: "the system's", Example: "proxy-ca.pem",
					Form: schema.Custom("path of a file in PEM form", readRoots)},
			})},
		{Name: "metrics", Doc: "Where `/healthz`, `/readyz` and `/metrics` are answered while the party serves: an address of the loopback interface, such as 127.0.0.1:7481.",
			Default: "off", Form: schema.Custom("HOST:PORT, or `off`", readMetrics)},
		logKey(func(p *Party) *Log { return &p.Log }),
	}
}

func datasetKeys() schema.Keys[Dataset] {
	return schema.Keys[Dataset]{
		{Name: "source", Doc: "CSV (also gzip or zstd), .parquet or .xlsx; relative to this file; or a pattern: `visits/*.csv`", Example: "patients.csv",
			Form: schema.OneOrMore(func(d *Dataset) *[]string { return &d.Source.Files }, text(), most).Is("path, or a list of paths")},
		{Name: "csv", Doc: "what to fix about CSV files, and about numbers and dates that a workbook has as text",
			Form: schema.Table(func(d *Dataset) *dataset.Dialect { return &d.Source.CSV }, dialectKeys()).Then(func(r *schema.Reader, at schema.Item, d *Dataset) {
				if err := d.Source.CSV.Check(); err != nil {
					r.Fail(at.Path, "%v", err)
				}
			})},
		{Name: "sheet", Doc: "the sheet of .xlsx files", Unset: "the first", Example: "visits",
			Form: schema.Text(func(d *Dataset) *string { return &d.Source.Sheet }, nil).Is("name")},
		{Name: "missing", Doc: "words for a missing value, in every column but those of the id", Example: "[k.A., NA]", Unset: "an empty value alone is missing",
			Form: schema.List(func(d *Dataset) *[]string { return &d.Source.Words.Missing }, text(), 1, most)},
		{Name: "values", Doc: "by column, what is read in the place of a value: a number, one of the study's values, or nothing", Example: "{smoker: {yes: 1, no: 0}}",
			Form: schema.Named("columns", schema.Named("values", replacementForm(), putInstead).Is("values: VALUE"), putValues).Is("columns: {VALUE: VALUE}")},
		{Name: "sql", Doc: "a database, in the place of source; its columns are found by name", AlternativeTo: "register",
			Form: schema.Made(sqlKeys(), func(r *schema.Reader, at schema.Item, d *Dataset, q *dataset.SQL) { d.Source.SQL = checkSQL(r, at, q) })},
		{Name: "command", Doc: "a program, in the place of source, that writes the data as CSV to standard output: its words, which no shell sees. It has the node's rights, and is run in this file's directory whenever the data are read", AlternativeTo: "exported", Example: "[duckdb, -csv, clinic.duckdb, SELECT * FROM visits]",
			Form: schema.List(func(d *Dataset) *[]string { return d.command() }, text(), 1, most).Is("list of words")},
		{Name: "elsewhere", Doc: "in the place of source: where data are that this node does not read, in words. Their workers make parts by party advanced part; needs release: ask", AlternativeTo: "lake", Example: "national lake, by month",
			Form: schema.Text(func(d *Dataset) *string { return &d.Source.Elsewhere }, nil)},
		{Name: "id", Doc: "columns of the file that identify a record", Unset: "those that the study names", Example: "[patient]",
			Form: schema.List(func(d *Dataset) *[]string { return &d.ID }, text(), 1, most)},
		{Name: "apart_from", Doc: "datasets of other people, although record ids or the place look alike, and why", Example: "{staff: numbers of another register}",
			Form: schema.Named("names", text(), putApart).Is("names: REASON")},
		{Name: "caps", Doc: "the most that all studies together may spend; a unit without one is counted, not limited; without any, nothing is released with noise",
			Form: schema.Table(func(d *Dataset) *Caps { return &d.Caps }, schema.Keys[Caps]{
				{Name: "record", Doc: "under unit record", Example: "{epsilon: 2, delta: 1e-6}", Form: budget(func(c *Caps) *Budget { return &c.Record })},
				{Name: "attribute", Doc: "under unit attribute", Example: "{epsilon: 1}", Form: budget(func(c *Caps) *Budget { return &c.Attribute })},
			})},
	}
}

func dialectKeys() schema.Keys[dataset.Dialect] {
	type dialect = dataset.Dialect
	return schema.Keys[dialect]{
		{Name: "delimiter", Unset: "detected", Example: "semicolon",
			Form: schema.Word(func(d *dialect) *dataset.Delimiter { return &d.Delimiter }, schema.WordsOf("delimiter", dataset.Delimiters()...))},
		{Name: "decimal", Unset: "detected", Example: "comma",
			Form: schema.Word(func(d *dialect) *dataset.Decimal { return &d.Decimal }, schema.WordsOf("decimal mark", dataset.Decimals()...))},
		{Name: "thousands", Doc: "what stands between groups of three digits; never detected", Unset: "nothing", Example: "point",
			Form: schema.Word(func(d *dialect) *dataset.Thousands { return &d.Thousands }, schema.WordsOf("mark of thousands", dataset.AllThousands()...))},
		{Name: "encoding", Unset: "utf-8", Example: "windows-1252",
			Form: schema.Word(func(d *dialect) *dataset.Encoding { return &d.Encoding }, schema.WordsOf("encoding", dataset.Encodings()...))},
		{Name: "date", Doc: "YYYY-MM-DD is always understood: days since 1970-01-01", Example: "DD.MM.YYYY",
			Form: schema.Word(func(d *dialect) *dataset.DateForm { return &d.Date }, schema.WordsOf("form of dates", dataset.DateForms()...))},
	}
}

func sqlKeys() schema.Keys[dataset.SQL] {
	type query = dataset.SQL
	return schema.Keys[query]{
		{Name: "driver", Doc: "needed", Example: "postgres",
			Form: schema.Word(func(q *query) *dataset.Driver { return &q.Driver }, schema.WordsOf("driver", dataset.Drivers()...))},
		{Name: "database", Doc: "with driver sqlite: its file", Form: schema.Text(func(q *query) *string { return &q.Database }, nil).Is("path")},
		{Name: "dsn_env", Doc: "with driver postgres: the environment variable that holds the data source name", Example: "REGISTER_DSN",
			Form: schema.Text(func(q *query) *string { return &q.DSN.Env }, nil).Is("name")},
		{Name: "dsn_file", Doc: "in its place: the file that holds it, which only its owner may read", Form: schema.Text(func(q *query) *string { return &q.DSN.File }, nil).Is("path")},
		{Name: "query", Doc: "needed", Example: "SELECT patient, age FROM register", Form: schema.Text(func(q *query) *string { return &q.Query }, nil)},
	}
}

// budget reads an amount, which must be a real bound.
func budget(of func(*Caps) *Budget) schema.Form[Caps] {
	return schema.Table(of, schema.Keys[Budget]{
		{Name: "epsilon", Doc: "needed", Form: schema.Real(func(b *Budget) *dp.Epsilon { return &b.Epsilon }, "number, above 0")},
		{Name: "delta", Doc: "below 1", Unset: "0", Form: schema.Real(func(b *Budget) *dp.Delta { return &b.Delta }, "number, at least 0")},
	}).Then(func(r *schema.Reader, at schema.Item, c *Caps) {
		if err := of(c).check(); err != nil {
			r.Fail(at.Path, "%v", err)
		}
	})
}

func studyKeys() schema.Keys[StudySite] {
	return schema.Keys[StudySite]{
		{Name: "dataset", Doc: "needed: one of datasets", Example: "patients", Form: schema.Text(func(s *StudySite) *string { return &s.Dataset }, nil).Is("name")},
		{Name: "columns", Doc: "the study's name: the file's name, where they differ", Example: "{income: INCOME_EUR}",
			Form: schema.Named("names", text(), func(_ *schema.Reader, name, _ schema.Item, s *StudySite, header *string) {
				if s.Columns == nil {
					s.Columns = map[string]string{}
				}
				s.Columns[name.Node.Value] = *header
			}).Is("names: NAME")},
		{Name: "accept_reconstruction", Doc: "true: release even if the plan says that records could be reconstructed", Default: "false",
			Form: schema.Flag(func(s *StudySite) *bool { return &s.AcceptReconstruction })},
		{Name: "release", Doc: "ask: hold the sketch until party advanced release; records may be added and withdrawn before", Default: string(ReleaseAuto),
			Form: schema.Word(func(s *StudySite) *ReleaseMode { return &s.Release }, schema.WordsOf("way to release", ReleaseAuto, ReleaseAsk))},
		{Name: "welcome", Doc: "late parties, where the study takes them: auto (all of the study's), ask (nobody yet), or the names of those that are welcome: [south]", Default: "auto",
			Form: schema.Custom("`auto`, `ask`, or a list of names", func(r *schema.Reader, at schema.Item, s *StudySite) { s.Welcome.read(r, at) })},
	}
}

func aggregatorKeys() schema.Keys[Aggregator] {
	limits := p2p.DefaultLimits()
	number := func(name, says string, of func(*p2p.Limits) *int) schema.Key[p2p.Limits] {
		return schema.Key[p2p.Limits]{Name: name, Doc: says, Default: strconv.Itoa(*of(&limits)), Form: schema.AtLeast(of, 1)}
	}
	return schema.Keys[Aggregator]{
		{Name: "listen", Default: "[" + strings.Join(DefaultListen(), ", ") + "]", Example: `[/ip4/0.0.0.0/tcp/7424, "/ip6/::/tcp/7424"]`,
			Doc:  "Addresses at which parties reach this node, as multiaddrs without /p2p: TCP, QUIC (/ip4/0.0.0.0/udp/7424/quic-v1) and, for a proxy that ends HTTPS on port 443 in front of this node, WebSocket (/ip4/127.0.0.1/tcp/8080/ws; the study file then names /dns4/NAME/tcp/443/tls/ws).",
			Form: schema.List(func(a *Aggregator) *[]string { return &a.Listen }, schema.Text(schema.Itself[string], checkListen), 1, most)},
		{Name: "limits", Doc: "What peers may occupy.", Form: schema.Table(func(a *Aggregator) *p2p.Limits { return &a.Limits }, schema.Keys[p2p.Limits]{
			number("connections", "of parties; strangers in their handshake have other room", func(l *p2p.Limits) *int { return &l.Conns }),
			number("connections_per_address", "all parties behind one firewall have one address", func(l *p2p.Limits) *int { return &l.ConnsPerIP }),
			number("calls_per_party", "that are served at once", func(l *p2p.Limits) *int { return &l.CallsPerPeer }),
			{Name: "memory_mib", Doc: "of all connections and requests; less than 64 does not hold the requests of two parties", Default: mebibytes(limits.Memory),
				Form: schema.Mebibytes(func(l *p2p.Limits) *int64 { return &l.Memory }, p2p.LeastMemory>>20)},
		})},
		{Name: "analysis", Doc: "What analyses may occupy: those of results, of all studies together, and aggregator analyze. A release whose records would take more is refused before it is sent.",
			Form: schema.Table(schema.Itself[Aggregator], schema.Keys[Aggregator]{
				{Name: "memory_mib", Doc: "less than the machine has beside its other work", Default: mebibytes(DefaultMemory), Form: schema.Mebibytes(func(a *Aggregator) *int64 { return &a.Memory }, 1)},
			})},
		{Name: "uploads", Doc: "What parties may occupy on the disk: their releases, and the texts that they seal to each other.", Form: schema.Table(func(a *Aggregator) *Uploads { return &a.Uploads }, schema.Keys[Uploads]{
			{Name: "study_mib", Doc: "those of one study", Default: mebibytes(DefaultUploads), Form: schema.Mebibytes(func(u *Uploads) *int64 { return &u.Study }, 1)},
			{Name: "free_mib", Doc: "that they leave free; 0: nobody looks", Default: mebibytes(DefaultFree), Form: schema.Mebibytes(func(u *Uploads) *int64 { return &u.Free }, 0)},
		})},
		{Name: "http", Form: schema.Table(func(a *Aggregator) *HTTP { return &a.HTTP }, httpKeys()).Then(func(r *schema.Reader, at schema.Item, a *Aggregator) {
			if err := a.HTTP.Check(); err != nil {
				r.Fail(at.Path, "%v", err)
			}
		}), Doc: "Pages and a JSON API for readers, `/healthz`, `/readyz` and `/metrics`. Every reader needs a token (aggregator token create), or the link that serve prints at a terminal. With `tokens: unless_loopback` and a loopback address, all users of this machine read without, and so does everybody whom a proxy on this machine lets through. Where it listens elsewhere, these two are needed, too: hosts, and `behind_proxy: true` or tls."},
		{Name: "webhooks", Example: "portal", Form: schema.Named("names", schema.Entry(hookKeys()), putHook),
			Doc: "Programs that are told by POST when a study moves. aggregator advanced webhook test calls them."},
		logKey(func(a *Aggregator) *Log { return &a.Log }),
	}
}

func httpKeys() schema.Keys[HTTP] {
	return schema.Keys[HTTP]{
		{Name: "listen", Doc: "or 127.0.0.1:7480", Default: "off", Form: schema.Text(func(h *HTTP) *string { return &h.Listen }, nil).Is("HOST:PORT, or `off`").
			Then(func(_ *schema.Reader, _ schema.Item, h *HTTP) { off(&h.Listen) })},
		{Name: "tokens", Default: "always", Form: schema.Either(func(h *HTTP) *bool { return &h.WithoutTokens }, "rule for tokens", "always", "unless_loopback")},
		{Name: "hosts", Doc: "names by which readers reach it", Unset: "none", Example: "[cosketch.example.org]",
			Form: schema.List(func(h *HTTP) *[]string { return &h.Hosts }, host(), 1, most)},
		{Name: "behind_proxy", Doc: "true: TLS ends at a proxy in front of it", Default: "false", Form: schema.Flag(func(h *HTTP) *bool { return &h.BehindProxy })},
		{Name: "tls", Doc: "files; only its owner and its group may read the key", Unset: "none", Example: "{cert: cert.pem, key: key.pem}",
			Form: schema.Made(schema.Keys[pair]{
				{Name: "cert", Doc: "in PEM form", Unset: "none", Form: schema.Text(func(p *pair) *string { return &p.cert }, nil).Is("path")},
				{Name: "key", Doc: "in PEM form; only its owner and its group may read it", Unset: "none", Form: schema.Text(func(p *pair) *string { return &p.key }, nil).Is("path")},
			}, readTLS)},
		{Name: "connections", Doc: "open at once; a quarter of them from one address", Default: "256", Form: schema.AtLeast(func(h *HTTP) *int { return &h.Connections }, 1)},
		{Name: "streams", Doc: "of progress events at once; half of them to one address", Default: "64", Form: schema.AtLeast(func(h *HTTP) *int { return &h.Streams }, 1)},
	}
}

// logKey is the log key, the same in both files.
func logKey[T any](of func(*T) *Log) schema.Key[T] {
	return schema.Key[T]{Name: "log", Doc: "While it serves, SIGHUP makes it read the level anew.", Form: schema.Table(of, schema.Keys[Log]{
		{Name: "level", Default: "info", Form: schema.Parsed(func(l *Log) *slog.Level { return &l.Level }, "", parseLevel, slog.Level.String).Among(levels)},
		{Name: "format", Unset: "text on a terminal, else json", Example: string(LogText), Form: schema.Word(func(l *Log) *LogFormat { return &l.Format }, schema.WordsOf("format", LogText, LogJSON))},
	})}
}

// text reads an entry of a list or of names.
func text() schema.Form[string] { return schema.Text(schema.Itself[string], nil) }

// peer reads a peer id in a list.
func peer() schema.Form[protocol.PeerID] {
	return schema.Parsed(schema.Itself[protocol.PeerID], "peer id", protocol.ParsePeerID, protocol.PeerID.String)
}

// mebibytes formats a size as in the files.
func mebibytes(bytes int64) string { return strconv.FormatInt(bytes>>20, 10) }

// off clears an address that says off.
func off(address *string) {
	if *address == "off" {
		*address = ""
	}
}

// levels are the log levels.
var levels = schema.Words{What: "level", Has: []string{"debug", "info", "warn", "error"}}

func parseLevel(word string) (level slog.Level, err error) {
	if e := levels.Check(word); e != nil {
		return level, e
	}
	return level, level.UnmarshalText([]byte(word))
}
