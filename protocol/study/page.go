package study

import "github.com/cosketch/cosketch/protocol/block"

// page collects an explanation.
type page struct{ blocks []block.Block }

func (p *page) heading(id, s string) { p.blocks = append(p.blocks, block.Heading{ID: id, Text: s}) }

func (p *page) text(s string) { p.blocks = append(p.blocks, block.Text{Text: s}) }

func (p *page) items(rows []string) { p.blocks = append(p.blocks, block.List{Items: rows}) }
