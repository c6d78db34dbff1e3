package dataset

import (
	"context"
	"errors"
	"io"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// pipeline reads ahead: a producer reads runs of records one after the other, workers parse them in
// parallel, and the Reader takes the results in the order of the source. The number of tasks in
// circulation is fixed, so memory is bounded. A panic of any goroutine is raised again by take or
// close.
type pipeline struct {
	stop   context.CancelFunc
	group  *parallel.Group
	broken chan struct{} // closed when a goroutine panics, since a task may then never be done

	free  chan *task // to the producer
	jobs  chan *task // to the workers
	order chan *task // to the Reader, closed after the last one
}

// task is one run of records on its way through the pipeline.
type task struct {
	rows  rows // nil if reading failed: the block holds the error
	block *block
	read  int64         // bytes of the source read up to its end
	done  chan struct{} // receives when the block is filled
}

// startPipeline starts to read a sequence, which belongs to the pipeline until order or the
// pipeline is closed.
func startPipeline(ctx context.Context, p *plan, workers int, source *sequence) *pipeline {
	ctx, stop := context.WithCancel(ctx)
	tasks := workers + 2 // one being read, one being taken
	l := &pipeline{
		stop: stop, broken: make(chan struct{}),
		free: make(chan *task, tasks), jobs: make(chan *task, tasks), order: make(chan *task, tasks),
	}
	l.group = parallel.NewGroup(func() { stop(); close(l.broken) })
	for range tasks {
		l.free <- &task{block: newBlock(p), done: make(chan struct{}, 1)}
	}
	l.group.Go(func() { l.produce(ctx, source) })
	for range workers {
		l.group.Go(func() {
			for t := range l.jobs {
				t.rows.parse(t.block)
				t.done <- struct{}{}
			}
		})
	}
	return l
}

// close ends the pipeline's goroutines and waits for them.
func (l *pipeline) close() {
	l.stop()
	l.group.Wait()
}

func (l *pipeline) produce(ctx context.Context, source *sequence) {
	defer close(l.order)
	defer close(l.jobs)
	for {
		var t *task
		select {
		case t = <-l.free:
		case <-ctx.Done():
			return
		}
		t.block.reset()
		rows, err := source.next(ctx, t.rows)
		if err == io.EOF {
			return
		}
		t.rows, t.read = rows, source.progress()
		if err != nil {
			t.rows, t.block.err = nil, err
			t.done <- struct{}{}
			l.order <- t
			return
		}
		l.order <- t
		l.jobs <- t
	}
}

// errBroken is the error after a panic.
var errBroken = errors.New("reading failed because of a bug in this program")

// take returns the next task with its block filled, or nil after the last.
func (l *pipeline) take(ctx context.Context) (*task, error) {
	select {
	case t, more := <-l.order:
		if !more { // after the last task, or if the producer panicked
			l.close()
			return nil, nil
		}
		select {
		case <-t.done:
			return t, nil
		case <-l.broken:
			l.close()
			return nil, errBroken
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

// sequence is the inputs of a source, one after the other.
type sequence struct {
	open    []func() (input, error) // still to be opened
	current input                   // or nil
	origins []Origin                // inputs that were read completely
	before  int64                   // bytes of origins
}

// next returns the next rows; io.EOF after the last input.
func (s *sequence) next(ctx context.Context, reuse rows) (rows, error) {
	for {
		if s.current == nil {
			if len(s.open) == 0 {
				return nil, io.EOF
			}
			var err error
			if s.current, err = s.open[0](); err != nil {
				return nil, err
			}
			s.open = s.open[1:]
		}
		rows, err := s.current.next(ctx, reuse)
		if err != io.EOF {
			return rows, err
		}
		origin, err := s.current.finish()
		if err != nil {
			return nil, err
		}
		s.origins = append(s.origins, *origin)
		s.before += s.current.progress()
		err = s.current.Close()
		s.current = nil
		if err != nil {
			return nil, err
		}
	}
}

func (s *sequence) progress() int64 {
	if s.current == nil {
		return s.before
	}
	return s.before + s.current.progress()
}

// Close closes the current input.
func (s *sequence) Close() error {
	if s.current == nil {
		return nil
	}
	err := s.current.Close()
	s.current = nil
	return err
}
