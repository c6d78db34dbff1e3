package audit_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
)

// The outputs of a mechanism that claims ε = 1 reveal that it draws Laplace noise for ε = 3.
func ExampleJudge() {
	claim, err := dp.Promise(dp.Laplace, dp.Budget{Epsilon: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	trials := func(mean float64) []float64 {
		out := make([]float64, 20_000)
		for i := range out {
			out[i] = mean + (rng.ExpFloat64()-rng.ExpFloat64())/3 // scale 1/3, while the answer changes by 1
		}
		return out
	}
	finding, err := audit.Judge(claim, audit.Trials{Without: trials(0), With: trials(1)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("passed: %v, ε is at least %.1f\n", finding.Passed, float64(finding.Found))
	// Output:
	// passed: false, ε is at least 2.6
}
