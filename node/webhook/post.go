package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cosketch/cosketch/protocol"
)

// Limits of one request.
const (
	tryFor      = 10 * time.Second
	mostAnswer  = 4 << 10  // bytes of the answer's body that are read, so that the connection can be reused
	mostHeaders = 16 << 10 // bytes
)

// newClient makes the client for requests. It follows no redirect: a signed message is only for its
// address.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes, t.MaxConnsPerHost, t.MaxIdleConnsPerHost = mostHeaders, 1, 1
	return &http.Client{Transport: t, Timeout: tryFor, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post tries once to deliver a message. Its error reveals nothing of the address, which may hold a
// secret of the receiver.
func (h Hook) post(ctx context.Context, client *http.Client, version string, m pending, now protocol.Instant) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(m.Body))
	if err != nil {
		return errors.New("its address is none")
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"cosketch/" + version},
		"Webhook-Id": {m.ID}, "Webhook-Timestamp": {strconv.FormatInt(int64(now), 10)}, "Webhook-Signature": {h.Secret.sign(m.ID, now, m.Body)},
	}
	answer, err := client.Do(request)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, mostAnswer)) // its content does not matter
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		return nil
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("it answered %d: redirects are not followed", answer.StatusCode)
	}
	return fmt.Errorf("it answered %d", answer.StatusCode)
}

// Try sends a hook a test message, once.
func Try(ctx context.Context, h Hook, aggregator protocol.PeerID, version string, now protocol.Instant) error {
	client := newClient()
	defer client.CloseIdleConnections()
	test := Message{Type: string(Test), Timestamp: now.String(), Data: MoveData{Aggregator: aggregator.String(), From: []string{}}}
	return h.post(ctx, client, version, newPending(test, now), now)
}
