package dataset

import (
	"context"
	"errors"
	"io"
)

// Batches iterates over record batches, column by column. Another package implements it, so that
// only programs that pass one to a Stream link its dependencies.
type Batches interface {
	Names() []string // of the columns
	// Fill returns a function that appends a column's values, as numbers or as texts; nil if it
	// cannot, and what the column holds.
	Fill(column int, number bool) (_ Fill, holds string)
	// Next advances to the next batch and returns its number of records; io.EOF after the last.
	Next() (records int64, err error)
	Close()
}

// Fill appends the values of records [from, to) of the current batch.
type Fill func(v *Vector, from, to int) error

// OpenBatches opens a stream of record batches, or Arrow's file format if from supports random
// access.
type OpenBatches func(from io.Reader) (Batches, error)

// batchStream reads record batches. One is in memory, as large as its writer made it.
type batchStream struct {
	name    string
	plan    *plan
	reader  Batches
	columns []batchColumn
	records int64 // of the current batch
	at      int64 // the next of them
	read    int64 // records in all
}

// batchColumn is one wanted column.
type batchColumn struct {
	fill  Fill
	words *replacements
	texts *Vector // texts to be parsed as numbers; or nil
}

const unreadableStream = "not a readable stream of Arrow record batches"

func openBatches(name string, from io.Reader, open OpenBatches, p *plan) (_ *batchStream, err error) {
	a := &batchStream{name: name, plan: p}
	err = a.guard(func() error {
		if a.reader, err = open(from); err != nil {
			return a.damaged(err)
		}
		return a.begin()
	})
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// guard runs a step of reading. The library panics on some damaged streams; guard turns that into
// an error.
func (a *batchStream) guard(step func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = a.damaged(nil)
		}
	}()
	return step()
}

func (a *batchStream) damaged(err error) error {
	return &Error{File: a.name, Message: unreadableStream, Hint: "did its writer end before it was done?", Err: err}
}

// begin finds the schema's columns and checks their types.
func (a *batchStream) begin() error {
	h := header{file: a.name}
	for _, name := range a.reader.Names() {
		h.names = append(h.names, cleanName(name))
	}
	positions, err := h.locate(a.plan.headers)
	if err != nil {
		return err
	}
	for i, position := range positions {
		c := batchColumn{}
		if field := i - len(a.plan.schema.ID); field >= 0 {
			c.words = a.plan.columns[field].words
		}
		var holds string
		c.fill, holds = a.reader.Fill(position, a.plan.isNumber(i))
		if c.fill == nil && c.words != nil && holds == HoldsText {
			c.fill, _ = a.reader.Fill(position, false)
			c.texts = &Vector{}
		}
		if c.fill == nil {
			return a.plan.wrongType(a.name, 0, i, holds)
		}
		a.columns = append(a.columns, c)
	}
	return nil
}

func (a *batchStream) next(ctx context.Context, reuse rows) (out rows, err error) {
	err = a.guard(func() error {
		out, err = a.nextRows(ctx, reuse)
		return err
	})
	return out, err
}

func (a *batchStream) nextRows(ctx context.Context, reuse rows) (rows, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	for a.at == a.records {
		records, err := a.reader.Next()
		if err == io.EOF {
			return nil, err
		}
		if err != nil {
			return nil, a.damaged(err)
		}
		a.records, a.at = records, 0
	}
	t := newTypedRows(a.plan, reuse)
	t.from, t.first = a.name, a.read+1
	t.records = int(min(a.records-a.at, int64(a.plan.batchRows())))
	from, to := int(a.at), int(a.at)+t.records
	for i := range a.columns {
		c := &a.columns[i]
		into := &t.columns[i]
		if c.texts != nil {
			c.texts.reset()
			into = c.texts
		}
		if err := c.fill(into, from, to); err != nil {
			return nil, &Error{File: a.name, Column: a.plan.headers[i], Message: unreadableStream, Err: err}
		}
	}
	a.at += int64(t.records)
	a.read += int64(t.records)
	for i := range a.columns {
		t.translate(i, a.columns[i].words, a.columns[i].texts)
	}
	return t, nil
}

func (a *batchStream) finish() (*Origin, error) {
	return &Origin{Name: a.name, Format: "Arrow"}, nil
}

func (a *batchStream) progress() int64 { return 0 }

func (a *batchStream) Close() error {
	if a.reader == nil {
		return nil
	}
	return a.guard(func() error { a.reader.Close(); return nil })
}
