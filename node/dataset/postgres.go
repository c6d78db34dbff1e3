package dataset

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// postgres is the result of a query of a PostgreSQL server, row by row as they arrive. It uses the
// wire protocol directly: the adapter for database/sql knows 90 types that no column has, and adds
// 3 MB to each program.
type postgres struct {
	stop   context.CancelFunc
	conn   *pgconn.PgConn
	result *pgconn.ResultReader
	read   []func(raw []byte) any // per column
	ahead  bool                   // the current row is not yet returned by Next
	err    error                  // what ended the rows
}

// openPostgres runs a query in a read-only transaction and fetches its first row, because most
// mistakes in a query show there. step names the step that failed.
func openPostgres(ctx context.Context, config *pgconn.Config, query string) (_ *postgres, step string, err error) {
	ctx, stop := context.WithCancel(ctx)
	p := &postgres{stop: stop}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.conn, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, cannotOpen, err
	}
	if err = p.conn.Exec(ctx, "BEGIN READ ONLY").Close(); err != nil {
		return nil, cannotOpen, err
	}
	statement, err := p.conn.Prepare(ctx, "", query, nil)
	if err != nil {
		return nil, queryFails, err
	}
	formats := make([]int16, len(statement.Fields))
	p.read = make([]func([]byte) any, len(statement.Fields))
	for i, f := range statement.Fields {
		p.read[i] = func(raw []byte) any { return string(raw) }
		if read, ok := postgresTypes[f.DataTypeOID]; ok {
			p.read[i], formats[i] = read, 1
		}
	}
	p.result = p.conn.ExecStatement(ctx, statement, nil, nil, formats)
	if p.ahead = p.Next(); p.err != nil {
		return nil, queryFails, p.err
	}
	return p, "", nil
}

// names returns the names of the columns.
func (p *postgres) names() (out []string) {
	for _, f := range p.result.FieldDescriptions() {
		out = append(out, f.Name)
	}
	return out
}

func (p *postgres) Next() bool {
	if p.ahead {
		p.ahead = false
		return true
	}
	if p.result.NextRow() {
		return true
	}
	if p.err == nil {
		_, p.err = p.result.Close()
	}
	return false
}

func (p *postgres) Scan(targets ...any) error {
	for i, raw := range p.result.Values() {
		var value any
		if raw != nil {
			value = p.read[i](raw)
		}
		if err := targets[i].(sql.Scanner).Scan(value); err != nil {
			return err
		}
	}
	return nil
}

func (p *postgres) Err() error { return p.err }

// Close discards the rest of the result and closes the connection, which ends the transaction. It
// returns once both are gone, for which the library allows 15 s.
func (p *postgres) Close() error {
	if p.conn == nil {
		p.stop()
		return nil
	}
	if p.result != nil && p.conn.IsBusy() {
		p.stop()
		p.result.Close() // fails, and tells the server to stop
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	err := p.conn.Close(ctx)
	<-p.conn.CleanupDone()
	p.stop()
	return err
}

// postgresTypes read, by type OID, the types requested in PostgreSQL's binary format, which no
// setting of a server changes. All other types arrive as text, exact decimals included.
var postgresTypes = map[uint32]func(raw []byte) any{
	16:   sized(1, func(raw []byte) any { return raw[0] != 0 }),                                                 // boolean
	17:   func(raw []byte) any { return raw },                                                                   // bytea
	20:   sized(8, func(raw []byte) any { return int64(binary.BigEndian.Uint64(raw)) }),                         // bigint
	21:   sized(2, func(raw []byte) any { return int64(int16(binary.BigEndian.Uint16(raw))) }),                  // smallint
	23:   sized(4, func(raw []byte) any { return int64(int32(binary.BigEndian.Uint32(raw))) }),                  // integer
	26:   sized(4, func(raw []byte) any { return int64(binary.BigEndian.Uint32(raw)) }),                         // oid
	28:   sized(4, func(raw []byte) any { return int64(binary.BigEndian.Uint32(raw)) }),                         // xid
	29:   sized(4, func(raw []byte) any { return int64(binary.BigEndian.Uint32(raw)) }),                         // cid
	700:  sized(4, func(raw []byte) any { return float64(math.Float32frombits(binary.BigEndian.Uint32(raw))) }), // real
	701:  sized(8, func(raw []byte) any { return math.Float64frombits(binary.BigEndian.Uint64(raw)) }),          // double precision
	1082: sized(4, postgresDate),                                                                                // date
	1114: sized(8, postgresTime(time.UTC)),                                                                      // timestamp
	1184: sized(8, postgresTime(time.Local)),                                                                    // timestamptz
}

// sized reads values of that many bytes; a value of another size is not of this type.
func sized(bytes int, read func([]byte) any) func([]byte) any {
	return func(raw []byte) any {
		if len(raw) != bytes {
			return fmt.Errorf("%d bytes in place of %d", len(raw), bytes)
		}
		return read(raw)
	}
}

// epoch is day zero of PostgreSQL's dates and times.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// PostgreSQL encodes infinities as the first and the last day or instant.
const before, after = "-infinity", "infinity"

func postgresDate(raw []byte) any {
	switch days := int32(binary.BigEndian.Uint32(raw)); days {
	case math.MinInt32:
		return before
	case math.MaxInt32:
		return after
	default:
		return epoch.AddDate(0, 0, int(days))
	}
}

func postgresTime(in *time.Location) func(raw []byte) any {
	return func(raw []byte) any {
		switch micros := int64(binary.BigEndian.Uint64(raw)); micros {
		case math.MinInt64:
			return before
		case math.MaxInt64:
			return after
		default:
			return time.Unix(epoch.Unix()+micros/1e6, micros%1e6*1e3).In(in)
		}
	}
}
