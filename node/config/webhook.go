package config

import (
	"fmt"
	"regexp"

	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/node/webhook"
	"github.com/cosketch/cosketch/protocol/schema"
)

// hookFile is a webhook in the file.
type hookFile struct {
	url, secret string
	moves       []webhook.Event
}

func hookKeys() schema.Keys[hookFile] {
	return schema.Keys[hookFile]{
		{Name: "url", Doc: "needed: https, or http to this machine", Example: "https://portal.example.org/cosketch",
			Form: schema.Text(func(h *hookFile) *string { return &h.url }, webhook.CheckURL).Is("URL")},
		{Name: "secret", Doc: "needed: a file that only its owner may read (aggregator advanced webhook secret writes one)", Example: "portal.secret",
			Form: schema.Text(func(h *hookFile) *string { return &h.secret }, nil).Is("path")},
		{Name: "events", Unset: "all", Example: "[result, superseded, stopped, cancelled]",
			Form: schema.List(func(h *hookFile) *[]webhook.Event { return &h.moves }, schema.Word(schema.Itself[webhook.Event], schema.WordsOf("event", webhook.Moves()...)), 1, most)},
	}
}

var hookName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// putHook reads a hook's secret and makes the checks that involve several keys.
func putHook(r *schema.Reader, name, value schema.Item, a *Aggregator, file *hookFile) {
	h := webhook.Hook{Name: name.Node.Value, URL: file.url, Moves: file.moves}
	var err error
	var text []byte
	switch {
	case !hookName.MatchString(h.Name):
		err = fmt.Errorf("webhook %s: want a name of letters, digits, _ and -", schema.Excerpt(h.Name))
	case file.url == "" || file.secret == "":
		err = fmt.Errorf("webhook %s: want url and secret", h.Name)
	default:
		text, err = private.Read(absolute(r, file.secret))
	}
	if err == nil {
		if h.Secret, err = webhook.ParseSecret(text); err != nil {
			err = fmt.Errorf("%s is %w", absolute(r, file.secret), err)
		}
	}
	if err != nil {
		r.Fail(value.Path, "%v", err).Cause = err
		return
	}
	a.Webhooks = append(a.Webhooks, h)
}
