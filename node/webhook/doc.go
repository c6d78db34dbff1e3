// Package webhook notifies the programs that an operator names when a study changes state. Each
// hook has one goroutine, which owns its pending messages and sends one request at a time. A
// message is stored on disk before it is sent, so every event arrives at least once, and those of
// one study in order. Requests follow the Standard Webhooks specification.
package webhook
