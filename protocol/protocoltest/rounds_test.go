package protocoltest

import "testing"

// Two rounds of more than 64 parties: all post their first round, and the second follows it.
func TestRoundsOfManyParties(t *testing.T) {
	for name, terms := range map[string]Terms{
		"a look, masked": {Parties: 70, Masked: true, Rounds: true, Looks: true},
		"codes":          {Parties: 66, Rounds: true},
	} {
		t.Run(name, func(t *testing.T) { inTurn(t, newSimulation(t, Options{}, terms)) })
	}
}
