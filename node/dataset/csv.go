package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"
)

// csvFile reads a CSV file. next cuts the text into chunks of whole records, for which it only
// counts quotes: a line feed ends a record if the number of quotes before it is even. Broken syntax
// may lead to a wrong cut, but then an earlier record of the same chunk is in error, and nothing
// after it is used. Chunks are parsed independently of each other.
type csvFile struct {
	*text
	number  int // of the file in the source
	plan    *plan
	dialect Dialect
	written fileFormat
	names   []string // of the header
	fields  int      // of a record
	slots   []int32  // see scanner
	ids     []int32  // cells of the id columns
	values  []int32  // cells of the schema's fields

	assume  bool // see Options.assumeEncoding
	assumed bool

	chunkBytes int // target size
	limit      int64
	carry      []byte // read, but not yet in a chunk
	line       int64  // of the first byte of carry
	done       bool   // everything was read, or the rest cannot be
}

const (
	leastChunk = 4 << 10
	mostChunk  = 1 << 20
)

func openCSV(p path, number int, pl *plan, fixed Dialect, options Options) (input, error) {
	t, err := openText(p)
	if err != nil {
		return nil, err
	}
	return readCSV(t, number, pl, fixed, options)
}

// openOutput runs a program and reads its output as CSV.
func openOutput(ctx context.Context, from *Command, pl *plan, fixed Dialect, options Options) (input, error) {
	f, err := openCommand(ctx, from)
	if err != nil {
		return nil, err
	}
	t, err := newText(f)
	if err != nil {
		return nil, err
	}
	return readCSV(t, 0, pl, fixed, options)
}

// readCSV reads a text, which then belongs to the input.
func readCSV(t *text, number int, pl *plan, fixed Dialect, options Options) (input, error) {
	c := &csvFile{text: t, number: number, plan: pl, limit: options.MaxRecordBytes, assume: options.assumeEncoding, line: 1, chunkBytes: leastChunk}
	if err := c.readHeader(fixed); err != nil {
		t.Close()
		return nil, err
	}
	return c, nil
}

// readHeader reads the first row, finds the schema's columns in it, and chooses the chunk size.
func (c *csvFile) readHeader(fixed Dialect) error {
	written, sample, err := c.format(fixed)
	if err != nil {
		return err
	}
	if c.assume && fixed.Encoding == "" && !startsUTF8(sample) {
		c.assumed, written.Dialect.Encoding = true, Windows1252
	}
	c.written, c.dialect = written, written.Dialect
	if rows := firstRows(sample, sampleRows); len(rows) > 1 {
		length := 1
		for _, row := range rows[1:] {
			length += len(row) + 1
		}
		c.chunkBytes = max(leastChunk, min(mostChunk, length/(len(rows)-1)*c.plan.blockValues/max(1, c.plan.width)))
	}
	var s scanner
	for {
		first, err := c.nextChunk(nil)
		if err == io.EOF {
			return c.fail(0, "", "no header: the file holds blank lines only", "")
		}
		if err != nil {
			return err
		}
		s = c.scanner(first)
		s.slots = nil
		fields, wrong := s.next()
		if wrong != nil {
			return c.fail(wrong.line, "", wrong.message, wrong.hint)
		}
		c.fields = fields
		if fields > 0 {
			break
		}
	}
	c.carry = append(append([]byte(nil), s.data[s.at:]...), c.carry...)
	c.line = s.line
	return c.locate(s.first, s.cells)
}

// startsUTF8 reports whether a sample is UTF-8; it may end within a character.
func startsUTF8(sample []byte) bool {
	for cut := range min(utf8.UTFMax, len(sample)+1) {
		if utf8.Valid(sample[:len(sample)-cut]) {
			return true
		}
	}
	return false
}

// locate finds the schema's columns among the header's names.
func (c *csvFile) locate(line int64, cells []cell) error {
	h := header{file: c.file.name, line: line, delimiter: c.dialect.Delimiter}
	for _, cell := range cells {
		name := c.dialect.Encoding.decode(cell.text)
		if !utf8.Valid(name) {
			return c.fail(line, "", "header is not valid UTF-8", hintEncoding)
		}
		h.names = append(h.names, cleanName(string(name)))
	}
	c.names = h.names
	positions, err := h.locate(c.plan.headers)
	if err != nil {
		return err
	}
	c.slots = make([]int32, len(cells))
	for i := range c.slots {
		c.slots[i] = -1
	}
	wanted := make([]int32, len(positions))
	used := int32(0)
	for i, position := range positions {
		if c.slots[position] < 0 {
			c.slots[position] = used
			used++
		}
		wanted[i] = c.slots[position]
	}
	c.ids, c.values = wanted[:len(c.plan.schema.ID)], wanted[len(c.plan.schema.ID):]
	return nil
}

// chunk is a run of whole records of a CSV file.
type chunk struct {
	from *csvFile
	data []byte
	line int64 // of the first byte
	cut  bool  // the last record exceeds the limit and is incomplete
}

func (c *csvFile) next(_ context.Context, reuse rows) (rows, error) {
	ch, _ := reuse.(*chunk)
	return c.nextChunk(ch)
}

// nextChunk fills a chunk; a new one if reuse is nil.
func (c *csvFile) nextChunk(reuse *chunk) (*chunk, error) {
	if c.done && len(c.carry) == 0 {
		return nil, io.EOF
	}
	if reuse == nil {
		reuse = &chunk{}
	}
	ch := reuse
	*ch = chunk{from: c, data: append(ch.data[:0], c.carry...), line: c.line}
	c.carry = c.carry[:0]
	for size := c.chunkBytes; ; size *= 2 {
		size = int(min(int64(size), c.limit+int64(c.chunkBytes)))
		if err := c.fill(ch, size); err != nil {
			return nil, err
		}
		if c.done {
			break
		}
		if end := lastBoundary(ch.data); end > 0 {
			c.carry = append(c.carry, ch.data[end:]...)
			ch.data = ch.data[:end]
			break
		}
		if int64(len(ch.data)) > c.limit {
			ch.cut, c.done = true, true
			break
		}
	}
	if len(ch.data) == 0 {
		return nil, io.EOF
	}
	c.line += int64(bytes.Count(ch.data, []byte{'\n'}))
	return ch, nil
}

// fill reads until the chunk has size bytes or the text ends.
func (c *csvFile) fill(ch *chunk, size int) error {
	if c.done || len(ch.data) >= size {
		return nil
	}
	if cap(ch.data) < size {
		ch.data = append(make([]byte, 0, size), ch.data...)
	}
	have := len(ch.data)
	n, err := io.ReadFull(c.text, ch.data[have:size])
	ch.data = ch.data[:have+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		c.done = true
		return nil
	}
	return err
}

// lastBoundary returns the end of the last whole record, 0 if there is none.
func lastBoundary(data []byte) int {
	quotes := bytes.Count(data, []byte{'"'})
	for end := len(data); ; {
		i := bytes.LastIndexByte(data[:end], '\n')
		if i < 0 {
			return 0
		}
		if quotes > 0 {
			quotes -= bytes.Count(data[i:end], []byte{'"'})
		}
		if quotes%2 == 0 {
			return i + 1
		}
		end = i
	}
}

func (c *csvFile) scanner(ch *chunk) scanner {
	return scanner{data: ch.data, line: ch.line, mark: c.dialect.Delimiter.mark(), slots: c.slots, limit: c.limit, cut: ch.cut}
}

// parse encodes the chunk's records into the block, up to the first error.
func (ch *chunk) parse(b *block) {
	c := ch.from
	s := c.scanner(ch)
	s.cells, s.scratch = b.cells, b.scratch
	defer func() { b.cells, b.scratch = s.cells, s.scratch }()
	for b.err == nil {
		fields, wrong := s.next()
		switch {
		case wrong != nil:
			b.err = c.fail(wrong.line, "", wrong.message, wrong.hint)
		case fields == 0:
			return
		case fields != c.fields:
			b.err = c.fail(s.first, "", fmt.Sprintf("%d fields where the header has %d", fields, c.fields), c.fieldsHint())
		default:
			c.parseRecord(b, &s)
		}
	}
}

// parseRecord adds the record scanned last.
func (c *csvFile) parseRecord(b *block, s *scanner) {
	for i, slot := range c.ids {
		if wrong := b.addIDPart(i, c.dialect.Encoding.decode(s.cells[slot].text)); wrong != nil {
			b.err = c.fail(s.cells[slot].line, c.plan.headers[i], wrong.message, c.hint(wrong))
			return
		}
	}
	b.endID(at(c.number, s.first))
	for i, slot := range c.values {
		value := trimSpace(c.dialect.Encoding.decode(s.cells[slot].text))
		if wrong := b.addText(i, value, &c.dialect); wrong != nil {
			b.err = c.fail(s.cells[slot].line, c.plan.columns[i].field.Header, wrong.message, c.hint(wrong))
			return
		}
	}
	b.endRow()
}

// hint returns a problem's hint, extended by advice about the dialect.
func (c *csvFile) hint(p *problem) string {
	d := c.dialect
	switch {
	case p == notUTF8:
		return hintEncoding
	case p == notNumber && d.Decimal == DecimalComma:
		return "write 1234,5 or 1,2345e3, with a decimal comma, or say csv: {decimal: point} in the site file" + hintMissing
	case p == notNumber && d.Delimiter != Comma:
		return "write 1234.5 or 1.2345e3, with a decimal point, or say csv: {decimal: comma} in the site file" + hintMissing
	}
	return p.hint
}

func (c *csvFile) fieldsHint() string {
	return fmt.Sprintf("quote a value that holds a %s or a line break, or name another csv: {delimiter: …} in the site file", c.dialect.Delimiter)
}

func (c *csvFile) fail(line int64, column, message, hint string) error {
	return &Error{File: c.file.name, Line: line, Column: column, Message: message, Hint: hint}
}

func (c *csvFile) progress() int64 { return c.file.read }

func (c *csvFile) finish() (*Origin, error) {
	if err := c.file.unchanged(); err != nil {
		return nil, err
	}
	return &Origin{Name: c.file.name, Format: c.written.String(), Dialect: c.dialect, Digest: c.file.digest()}, nil
}
