package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cosketch/cosketch/node/sqlite"
)

// SQL is a database query whose result rows are the records. It runs once for each pass over the
// data, in a read-only transaction.
type SQL struct {
	Driver   Driver // required
	Database string // path of the SQLite database; SQLite only
	DSN      Secret // the data source name; PostgreSQL only
	Query    string // required: one SELECT, whose columns are found by name
}

// Driver names a kind of database.
type Driver string

const (
	SQLite     Driver = "sqlite"
	PostgreSQL Driver = "postgres"
)

// Drivers lists every kind of database.
func Drivers() []Driver { return []Driver{SQLite, PostgreSQL} }

// String names the database without secrets.
func (s *SQL) String() string {
	if s.Driver == SQLite {
		return s.Database
	}
	return fmt.Sprintf("PostgreSQL (%s)", s.DSN)
}

// cursor iterates over rows of a query or a sheet.
type cursor interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
	Close() error
}

// query is the result of a query, or a sheet, being read.
type query struct {
	from    string
	number  int // of the file in the source
	format  string
	plan    *plan
	db      *sql.DB // of SQLite, or nil
	tx      *sql.Tx
	sheet   *sheet  // nil for a database
	file    path    // of the sheet
	texts   Dialect // for numbers and dates stored as text
	rows    cursor
	names   []string
	sinks   []*sink
	targets []any // one per column of the result
	read    int64
	current int64 // number of the current row
	ahead   bool  // the current row is not yet scanned
}

// openWorkbook opens a sheet of a workbook like the result of a query.
func openWorkbook(p path, number int, from Source, pl *plan, options Options) (*query, error) {
	s, err := openSheet(p.name, from.Sheet, options.MaxRecordBytes)
	if err != nil {
		return nil, sheetError(p.name, err)
	}
	q := &query{from: p.name, number: number, format: fmt.Sprintf("Excel, sheet %q", s.name), plan: pl, sheet: s, file: p, rows: s, current: s.row, texts: from.CSV}
	if err := q.locate(s.names); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// sheetError turns an error from a workbook into an *Error.
func sheetError(name string, err error) error {
	var known *Error
	if errors.As(err, &known) {
		known.File = name
		return known
	}
	return &Error{File: name, Message: "not a readable Excel workbook (.xlsx)", Hint: hintComplete, Err: err}
}

// step advances to the next row.
func (q *query) step() bool {
	if q.ahead {
		q.ahead = false
		return true
	}
	if !q.rows.Next() {
		return false
	}
	q.current++
	if q.sheet != nil {
		q.current = q.sheet.row
	}
	return true
}

func openSQL(ctx context.Context, s *SQL, p *plan) (*query, error) {
	if strings.TrimSpace(s.Query) == "" {
		return nil, fmt.Errorf("opening data: no SQL query is given")
	}
	q := &query{from: s.String(), format: "SQL query", plan: p}
	if err := q.ask(ctx, s); err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// ask runs the query and finds the schema's columns in its result.
func (q *query) ask(ctx context.Context, s *SQL) error {
	switch s.Driver {
	case SQLite:
		return q.askSQLite(ctx, s)
	case PostgreSQL:
		return q.askPostgres(ctx, s)
	}
	return fmt.Errorf("opening data: unknown SQL driver %q", s.Driver)
}

func (q *query) askPostgres(ctx context.Context, s *SQL) error {
	dsn, err := s.DSN.value()
	if err != nil {
		return err
	}
	config, err := pgconn.ParseConfig(dsn)
	if err != nil { // err may quote the secret
		return &Error{File: s.String(), Message: "not a data source name", Hint: "write postgres://user:password@host/database or host=… user=… password=… dbname=…"}
	}
	rows, step, err := openPostgres(ctx, config, s.Query)
	if err != nil {
		return q.explain(step, err)
	}
	q.rows = rows
	return q.locate(rows.names())
}

// askSQLite opens the database read-only and runs the query.
func (q *query) askSQLite(ctx context.Context, s *SQL) error {
	if _, err := statFile(s.Database); err != nil {
		return err
	}
	options := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)", "query_only(1)"}}
	var err error
	if q.db, err = sqlite.Open(s.Database, options); err != nil {
		return fileError(s.Database, cannotOpen, err)
	}
	if q.tx, err = q.db.BeginTx(ctx, nil); err != nil {
		return q.explain(cannotOpen, err)
	}
	rows, err := q.tx.QueryContext(ctx, s.Query)
	if err != nil {
		return q.explain(queryFails, err)
	}
	q.rows = rows
	names, err := rows.Columns()
	if err != nil {
		return q.explain(queryFails, err)
	}
	return q.locate(names)
}

// locate finds the schema's columns among the names.
func (q *query) locate(names []string) error {
	h := header{file: q.from, query: q.sheet == nil}
	for _, name := range names {
		h.names = append(h.names, cleanName(name))
		q.targets = append(q.targets, unwanted{})
	}
	q.names = h.names
	positions, err := h.locate(q.plan.headers)
	if err != nil {
		return err
	}
	for i, position := range positions {
		one := &sink{number: q.plan.isNumber(i), dialect: &q.texts}
		if field := i - len(q.plan.schema.ID); field >= 0 {
			one.words = q.plan.columns[field].words
		}
		q.sinks = append(q.sinks, one)
		if earlier, twice := q.targets[position].(sql.Scanner); twice && q.targets[position] != (unwanted{}) {
			q.targets[position] = both{earlier, one}
			continue
		}
		q.targets[position] = one
	}
	return nil
}

func (q *query) next(ctx context.Context, reuse rows) (rows, error) {
	if q.rows == nil {
		return nil, io.EOF
	}
	t := newTypedRows(q.plan, reuse)
	t.from, t.number, t.first = q.from, q.number, q.current+1
	for i, s := range q.sinks {
		s.to = &t.columns[i]
	}
	for t.records < q.plan.batchRows() {
		if err := context.Cause(ctx); err != nil && q.sheet != nil {
			return nil, fmt.Errorf("reading %s: %w", q.from, err)
		}
		if !q.step() {
			if err := q.end(ctx); err != nil {
				return nil, err
			}
			break
		}
		if t.records == 0 {
			t.first = q.current
		}
		if q.current != t.first+int64(t.records) { // blank rows lie between
			q.ahead = true
			break
		}
		if err := q.rows.Scan(q.targets...); err != nil {
			t.fault = q.scanFault(err)
			return t, nil
		}
		t.records++
		q.read++
	}
	if t.records == 0 {
		return nil, io.EOF
	}
	return t, nil
}

// end is called after the last row.
func (q *query) end(ctx context.Context) error {
	err := q.rows.Err()
	if q.sheet == nil {
		q.rows.Close()
		q.rows = nil
	}
	if err == nil {
		return nil
	}
	if q.sheet != nil {
		return sheetError(q.from, err)
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("reading %s: %w", q.from, cause)
	}
	return q.explain(fmt.Sprintf("%s after %d rows", queryFails, q.read), err)
}

// scanFault returns the error about the current row, whose values a sink refused.
func (q *query) scanFault(err error) error {
	row := q.current
	for i, s := range q.sinks {
		switch {
		case s.holds != "":
			return q.plan.wrongType(q.from, row, i, s.holds)
		case s.wrong != nil:
			return &Error{File: q.from, Row: row, Column: q.plan.headers[i], Message: s.wrong.message, Hint: typedHints[s.wrong]}
		}
	}
	return q.explain(queryFails, err)
}

func (q *query) finish() (*Origin, error) {
	if q.sheet != nil {
		if err := q.file.unchanged(); err != nil {
			return nil, err
		}
	}
	return &Origin{Name: q.from, Format: q.format}, nil
}

// progress is unknown for a query; for a sheet it is always the file's size.
func (q *query) progress() int64 {
	if q.sheet != nil {
		return q.file.info.Size()
	}
	return 0
}

// Close ends the query and the connection.
func (q *query) Close() error {
	if q.rows != nil {
		q.rows.Close()
	}
	if q.tx != nil {
		q.tx.Rollback() // nothing was written
	}
	if q.db == nil {
		return nil
	}
	return q.db.Close()
}

// plainStates are the classes of SQLSTATE whose messages are about the query, the connection or the
// server. Messages of other classes, such as 22 (data exceptions), may quote values.
var plainStates = []string{"08", "0A", "25", "28", "3D", "3F", "42", "53", "55", "57", "58"}

// explain reports a database's message, unless it may quote values.
func (q *query) explain(message string, err error) error {
	var state *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case errors.As(err, &state) && !slices.Contains(plainStates, state.Code[:min(2, len(state.Code))]):
		return &Error{File: q.from, Message: fmt.Sprintf("%s with SQLSTATE %s", message, state.Code), Hint: "the server's log has the message, which may quote a value"}
	case state != nil:
		return &Error{File: q.from, Message: fmt.Sprintf("%s: %s (SQLSTATE %s)", message, state.Message, state.Code), Err: err}
	case errors.As(err, &dial):
		// The message names user, database and addresses, never the password.
		said := strings.Join(strings.Fields(dial.Error()), " ")
		return &Error{File: q.from, Message: message + ": " + said, Hint: "is the server running, and are host, port and TLS right?", Err: err}
	}
	return &Error{File: q.from, Message: fmt.Sprintf("%s: %v", message, err), Err: err}
}

// unwanted discards values of a column that is not read.
type unwanted struct{}

func (unwanted) Scan(any) error { return nil }

// both passes each value to two scanners.
type both struct{ first, second sql.Scanner }

func (b both) Scan(value any) error { return errors.Join(b.first.Scan(value), b.second.Scan(value)) }

// sink appends a column's values to a vector. After an error, holds or wrong says why.
type sink struct {
	to      *Vector
	number  bool
	words   *replacements
	dialect *Dialect
	holds   string   // the type that was refused
	wrong   *problem // with the refused value
}

// errRefused ends the reading; the sink holds the reason.
var errRefused = errors.New("value refused")

// Scan implements sql.Scanner.
func (s *sink) Scan(value any) error {
	switch v := s.words.value(value).(type) {
	case nil:
		s.to.AddNull(s.number)
		return nil
	case string:
		return s.text([]byte(v))
	case []byte:
		return s.text(v)
	case padded:
		if s.number {
			s.to.AddNumber(float64(v.number))
		} else {
			s.to.AddText([]byte(v.text))
		}
		return nil
	case int64:
		if s.number {
			s.to.AddNumber(float64(v))
		} else {
			s.to.AddInteger(v)
		}
		return nil
	}
	if !s.number {
		s.holds = "something else"
		switch value.(type) {
		case float64:
			s.holds = "floating-point numbers"
		case bool:
			s.holds = "booleans"
		case time.Time:
			s.holds = "times"
		}
		return errRefused
	}
	switch v := value.(type) { // value itself: a replacement would be text
	case float64:
		s.to.AddNumber(v)
	case bool:
		x := 0.0
		if v {
			x = 1
		}
		s.to.AddNumber(x)
	case time.Time:
		if h, m, sec := v.Clock(); h != 0 || m != 0 || sec != 0 || v.Nanosecond() != 0 {
			s.holds = "times of day"
			return errRefused
		}
		s.to.AddNumber(dayNumber(v))
	default:
		s.holds = "something else"
		return errRefused
	}
	return nil
}

// text appends a text. Databases also return exact decimals as text.
func (s *sink) text(value []byte) error {
	if !s.number {
		if !utf8.Valid(value) {
			s.wrong = notUTF8
			return errRefused
		}
		s.to.AddText(value)
		return nil
	}
	value = trimSpace(value)
	if len(value) == 0 {
		s.to.AddNull(true)
		return nil
	}
	x, wrong := s.dialect.number(value)
	if wrong != nil {
		s.wrong = wrong
		return errRefused
	}
	s.to.AddNumber(x)
	return nil
}
