package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

type tokenCommands struct {
	Create tokenCreate `cmd:"" help:"Make a token and print it, this once."`
	List   tokenList   `cmd:"" help:"List tokens: what for, which scopes, until when."`
	Revoke tokenRevoke `cmd:"" help:"Forget a token: it is refused from now on."`
}

type tokenCreate struct {
	Name  string        `arg:"" help:"What the token is for, such as grafana."`
	Scope []string      `required:"" enum:"studies:read,results:read,metrics:read,studies:write" placeholder:"SCOPE" help:"What its holder may see: studies:read, results:read, metrics:read. With studies:write its holder drafts, hosts and cancels studies. Several are separated by commas."`
	For   time.Duration `env:"-" placeholder:"DURATION" help:"How long it is valid, such as 720h. Default: until it is revoked."`
}

func (tokenCreate) Help() string {
	return "The token is kept as a hash: if you lose it, make another one.\n\nExample: aggregator token create notebook --scope studies:read,results:read --for 720h; a program that hosts studies needs aggregator token create portal --scope studies:write"
}

// Validate refuses an invalid lifetime.
func (cmd tokenCreate) Validate() error {
	if cmd.For < 0 || cmd.For > 0 && cmd.For < time.Second {
		return fmt.Errorf("--for: %v is too short", cmd.For)
	}
	return nil
}

// listedToken is a token in the output of commands.
type listedToken struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes"`
	Created string   `json:"created"`
	Expires string   `json:"expires,omitempty"`
	Token   string   `json:"token,omitempty"` // only when it is created
}

func listed(t api.Token) listedToken {
	out := listedToken{ID: t.ID, Name: t.Name, Created: t.Created.String()}
	for _, s := range t.Scopes {
		out.Scopes = append(out.Scopes, string(s))
	}
	if t.Expires != 0 {
		out.Expires = t.Expires.String()
	}
	return out
}

// Run creates a token, stores its hash and prints it.
func (cmd tokenCreate) Run(c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	var scopes []api.Scope
	for _, s := range cmd.Scope {
		scopes = append(scopes, api.Scope(s))
	}
	now, expires := console.Now(), protocol.Instant(0)
	if cmd.For > 0 {
		expires = now + protocol.Instant(cmd.For/time.Second)
	}
	t, secret, err := api.NewToken(cmd.Name, scopes, now, expires)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if err := st.PutToken(t.ID, t.Encode()); err != nil {
		return err
	}
	out := listed(t)
	out.Token = secret.Reveal()
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintln(w, out.Token)
		c.Say("This is shown once. It is for %s; aggregator token revoke %s ends it.", strings.Join(out.Scopes, ", "), out.ID)
		c.Say("Next: curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7480/api/v1/studies")
	})
}

type tokenList struct{}

func (tokenList) Help() string { return "Example: aggregator token list" }

// Run lists tokens.
func (tokenList) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	ids, err := st.Tokens()
	if err != nil {
		return err
	}
	out := []listedToken{}
	for _, id := range ids {
		record, err := st.Token(id)
		if errors.Is(err, store.ErrNotFound) {
			continue // just revoked
		}
		if err != nil {
			return err
		}
		t, err := api.DecodeToken(record)
		if err != nil {
			return fmt.Errorf("token %s: %w", id, err)
		}
		out = append(out, listed(t))
	}
	return c.Print(out, func(w io.Writer) {
		if len(out) == 0 {
			fmt.Fprintln(w, "no tokens")
			c.Say("Next: aggregator token create NAME --scope studies:read,results:read")
			return
		}
		table := block.Table{Columns: block.Headed("token", "for", "scopes", "made", "valid until"), AllRows: true}
		for _, t := range out {
			until := t.Expires
			if until == "" {
				until = "revoked"
			}
			table.Rows = append(table.Rows, block.Cells(t.ID, t.Name, strings.Join(t.Scopes, ", "), t.Created, until))
		}
		present.Text(w, []block.Block{table})
	})
}

type tokenRevoke struct {
	ID string `arg:"" help:"The token's id, as token list has it."`
}

func (tokenRevoke) Help() string { return "Example: aggregator token revoke 4d1f0c2a" }

// Run revokes a token.
func (cmd tokenRevoke) Run(c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.RemoveToken(cmd.ID); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w (token list shows those that there are)", err)
		}
		return err
	}
	return c.Print(map[string]string{"id": cmd.ID, "state": "revoked"}, func(w io.Writer) { fmt.Fprintf(w, "revoked: %s\n", cmd.ID) })
}
