package local

import "github.com/cosketch/cosketch/protocol/block"

// Findings are checks in the order in which they were made, under their subjects.
func Findings(all []Finding) (out []block.Block) {
	subject, checks := "", block.Checks{}
	for _, f := range all {
		if f.Subject != subject && f.Subject != "" {
			if len(checks.Items) > 0 {
				out = append(out, checks)
			}
			subject, checks = f.Subject, block.Checks{}
			out = append(out, block.Text{Text: subject})
		}
		checks.Items = append(checks.Items, block.Check{Verdict: string(f.Verdict), Text: f.Check + ": " + f.Said, Fix: f.Fix})
	}
	return append(out, checks)
}
