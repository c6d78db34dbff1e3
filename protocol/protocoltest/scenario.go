package protocoltest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// PlayScript plays a scenario and returns its trace. A scenario is a text of one
// command a line; # begins a comment.
//
//	study parties=4 quorum=3 attempts=3 late public seed=7  first; all but the word have defaults
//	study masked, study joined                        of masked sums, of joined records
//	role c bad share                                  c misbehaves (see Roles)
//	censor d                                          d's messages never arrive
//	hand a                                            a carries the study by hand
//	welcome a                                         a hands the seed to late parties
//	approve a b                                       stewards decide; all for everybody
//	withdraw a
//	run                                               until nothing is left to do at this time
//	until c shared                                    until a node is in a state
//	away c, back c                                    a node is switched off, and on
//	restart                                           every node, from what it has stored
//	cancel                                            the operator ends the study
//	advance expires                                   the clock, to a date: expires, attempt 1, deadline, late
//
// After each command every invariant is checked.
func PlayScript(text string) (string, error) {
	var s *Simulation
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var err error
		if words[0] == "study" && s == nil {
			s, err = scripted(words[1:])
		} else if s == nil {
			err = fmt.Errorf("a scenario begins with study")
		} else {
			err = s.command(words[0], words[1:])
		}
		if err == nil {
			err = s.Check()
		}
		if err != nil {
			return "", fmt.Errorf("%q: %w", line, err)
		}
	}
	if s == nil {
		return "", fmt.Errorf("an empty scenario")
	}
	return s.Trace(), nil
}

func scripted(words []string) (*Simulation, error) {
	terms, o := Terms{}, Options{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		if err != nil && key != "late" && key != "public" && key != "masked" && key != "joined" {
			return nil, fmt.Errorf("%s wants a number", key)
		}
		switch key {
		case "parties":
			terms.Parties = n
		case "quorum":
			terms.Quorum = n
		case "attempts":
			terms.Attempts = n
		case "late":
			terms.Late = true
		case "joined":
			terms.Joined = true
		case "public":
			terms.Public = true
		case "masked":
			terms.Masked = true
		case "seed":
			o.Seed = uint64(n)
		default:
			return nil, fmt.Errorf("a study has no %q", key)
		}
	}
	st, err := NewStudy(terms)
	if err != nil {
		return nil, err
	}
	o.Study = st
	return New(o)
}

func (s *Simulation) command(name string, args []string) error {
	switch name {
	case "run":
		return s.Run()
	case "restart":
		return s.Restart()
	case "cancel":
		return s.Aggregator.Cancel(strings.Join(args, " "))
	case "advance":
		date, err := s.date(args)
		if err != nil {
			return err
		}
		return s.Advance(date)
	case "until":
		return s.RunUntil(func() bool { return s.isIn(args) })
	}
	if len(args) == 0 {
		return fmt.Errorf("unknown command, or nobody to do it")
	}
	names := args
	if name == "role" {
		names = args[:1]
	}
	for _, p := range s.Parties {
		if names[0] != "all" && !slices.Contains(names, p.Name) {
			continue
		}
		if err := s.order(p, name, strings.Join(args[1:], " ")); err != nil {
			return err
		}
	}
	return nil
}

func (s *Simulation) order(p *Party, name, rest string) error {
	switch name {
	case "role":
		for _, r := range Roles(rand.New(rand.NewPCG(s.Seed, 2))) {
			if r.Name == rest {
				p.Role = r
				return nil
			}
		}
		return fmt.Errorf("there is no role %q", rest)
	case "censor":
		if s.Censored == nil {
			s.Censored = map[string]bool{}
		}
		s.Censored[p.Name] = true
	case "hand":
		p.Hand = true
	case "welcome":
		p.Welcome = func(protocol.PeerID) bool { return true }
		p.machine = nil // the site file is read at the start
	case "approve":
		return p.Approve()
	case "withdraw":
		return p.Withdraw()
	case "away", "back":
		p.Away, p.Excused = name == "away", true
	default:
		return fmt.Errorf("unknown command %q", name)
	}
	return nil
}

func (s *Simulation) date(args []string) (protocol.Instant, error) {
	switch strings.Join(args, " ") {
	case "expires":
		return Expires, nil
	case "deadline":
		return Deadline, nil
	case "late":
		return LateUntil, nil
	}
	if len(args) == 2 && args[0] == "attempt" {
		n, err := strconv.Atoi(args[1])
		return s.Study.AgreeBy(uint32(n)), err
	}
	return 0, fmt.Errorf("no such date")
}

func (s *Simulation) isIn(args []string) bool {
	if len(args) != 2 {
		return true
	}
	if args[0] == "aggregator" {
		return string(s.Aggregator.Status().State) == args[1]
	}
	return slices.ContainsFunc(s.Parties, func(p *Party) bool {
		return p.Name == args[0] && string(p.Status().State) == args[1]
	})
}
