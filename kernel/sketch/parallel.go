package sketch

import "sync"

// parallel splits 0..m into at most workers ranges of nearly equal, positive
// length and waits until do has run on each, worker numbers being distinct.
func parallel(m, workers int, do func(worker, from, to int)) {
	workers = min(workers, m)
	if workers <= 1 {
		if m > 0 {
			do(0, 0, m)
		}
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(w, share(m, w, workers), share(m, w+1, workers)) })
	}
	wait.Wait()
}

// share returns where part w of workers begins.
func share(m, w, workers int) int {
	return m/workers*w + min(m%workers, w)
}
