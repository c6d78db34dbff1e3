package node

import (
	"io"
	"log/slog"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/protocol"
)

// PartyOptions makes a party's node.
type PartyOptions struct {
	Store   PartyState                   // required, opened for writing
	Site    func() (config.Party, error) // required: reads the site file, anew for each study
	Entropy io.Reader                    // required: crypto/rand outside tests
	Now     func() protocol.Instant      // required: the clock
	Version string                       // default: dev
	Logger  *slog.Logger                 // default: nothing is logged
	Observe event.Observer               // default: nobody
	Workers int                          // goroutines that project; default 1
	Network config.Network               // how aggregators are reached
}
