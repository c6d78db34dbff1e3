// Package webhook tells the programs that an operator names when a study moves. Each hook has one goroutine, which
// owns what is pending for it and sends one request at a time. What is pending is on the disk before it is sent, so
// every event arrives at least once, those of one study in order. Requests follow the Standard Webhooks specification.
package webhook
