package defaults

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// generator draws rows of one shape.
type generator struct {
	name    string
	n       int
	columns []column
	row     func(rng *rand.Rand) []float64
}

// draw makes a set of rows.
func (g generator) draw(rng *rand.Rand) *data {
	out := &data{name: g.name, columns: g.columns, rows: make([][]float64, g.n)}
	for i := range out.rows {
		out.rows[i] = g.row(rng)
	}
	return out
}

// fixed returns the rows that every run of the table uses.
func (g generator) fixed() *data { return g.draw(rand.New(rand.NewPCG(hash(g.name), 1))) }

// hash of a name (FNV-1a), so that rows and seeds do not depend on what else is measured.
func hash(name string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// equicorrelated draws d standard normals with pairwise correlation rho.
func equicorrelated(rng *rand.Rand, d int, rho float64) []float64 {
	out, shared := make([]float64, d), math.Sqrt(rho)*rng.NormFloat64()
	for j := range out {
		out[j] = shared + math.Sqrt(1-rho)*rng.NormFloat64()
	}
	return out
}

func each(x []float64, f func(float64) float64) []float64 {
	for j := range x {
		x[j] = f(x[j])
	}
	return x
}

// logNormal returns a map from normals to lognormals of mean 1 and this sigma.
func logNormal(sigma float64) func(float64) float64 {
	return func(x float64) float64 { return math.Exp(sigma*x - sigma*sigma/2) }
}

const generatedColumns = 10

func normal(n int, rho float64) generator {
	return generator{fmt.Sprintf("normal, ρ %g", rho), n, numerics(generatedColumns, -6, 6), func(rng *rand.Rand) []float64 {
		return equicorrelated(rng, generatedColumns, rho)
	}}
}

func skewed(n int, sigma, rho float64) generator {
	return generator{fmt.Sprintf("lognormal(%g), ρ %g", sigma, rho), n, numerics(generatedColumns, 0, 100), func(rng *rand.Rand) []float64 {
		return each(equicorrelated(rng, generatedColumns, rho), logNormal(sigma))
	}}
}

func pareto(n int) generator {
	return generator{"Pareto(2.2)", n, numerics(generatedColumns, 1, 1000), func(rng *rand.Rand) []float64 {
		out := make([]float64, generatedColumns)
		return each(out, func(float64) float64 { return math.Pow(1-rng.Float64(), -1/2.2) })
	}}
}

// oneSided has skewed columns whose declared centres are all too low.
func oneSided(n int) generator {
	const d = 5
	columns := numerics(d, 0, 100)
	for j := range columns {
		columns[j].below = true
	}
	return generator{"one-sided centres", n, columns, func(rng *rand.Rand) []float64 {
		return each(equicorrelated(rng, d, 0), logNormal(0.8))
	}}
}

// rare has four binary columns that are 1 in one record of 200, and six normal ones.
func rare(n int) generator {
	columns := numerics(6, -6, 6)
	for j := range 4 {
		columns = append(columns, binary(fmt.Sprintf("rare%d", j)))
	}
	return generator{"rare binary, .5 %", n, columns, func(rng *rand.Rand) []float64 {
		out := equicorrelated(rng, 6, 0.3)
		for range 4 {
			out = append(out, yes(rng.Float64() < 0.005))
		}
		return out
	}}
}

func yes(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// letters has 26 classes, by Zipf's law, and eight columns that depend on them.
func letters(n int) generator {
	const classes, d = 26, 8
	var names []string
	var total float64
	for c := range classes {
		names, total = append(names, "class"+string(rune('A'+c))), total+1/float64(c+2)
	}
	columns := append(numerics(d, -8, 8), categorical("letter", names...))
	shift := rand.New(rand.NewPCG(26, 1))
	var means [classes][d]float64
	for c := range means {
		for j := range means[c] {
			means[c][j] = 0.7 * shift.NormFloat64()
		}
	}
	return generator{"26 classes", n, columns, func(rng *rand.Rand) []float64 {
		at, class := rng.Float64()*total, 0
		for at -= 1. / 2; at > 0 && class < classes-1; at -= 1 / float64(class+2) {
			class++
		}
		out := equicorrelated(rng, d, 0.2)
		for j := range out {
			out[j] += means[class][j]
		}
		return append(out, float64(class))
	}}
}

// constant has two nearly constant columns. One has the same value in 99 of 100 records; the values
// of the other lie within a thousandth of its bounds.
func constant(n int) generator {
	columns := append(numerics(6, -6, 6), numeric("mostly5", 0, 10), numeric("narrow", 0, 1000))
	return generator{"nearly constant", n, columns, func(rng *rand.Rand) []float64 {
		return append(equicorrelated(rng, 6, 0.3), 5+yes(rng.Float64() < 0.01), 300+rng.NormFloat64()/4)
	}}
}

// lacking has one value of ten missing; in every third column only values above the median are
// missing.
func lacking(n int) generator {
	return generator{"10 % missing", n, numerics(generatedColumns, 0, 50), func(rng *rand.Rand) []float64 {
		out := each(equicorrelated(rng, generatedColumns, 0.3), logNormal(0.5))
		median := math.Exp(-0.125)
		for j, x := range out {
			if j%3 == 0 && x > median && rng.Float64() < 0.2 || j%3 != 0 && rng.Float64() < 0.1 {
				out[j] = math.NaN()
			}
		}
		return out
	}}
}

// classes has labels with shares 70, 20 and 10 %. The last class has skewed, large values, so that
// the clip shortens it more than the others.
func classes(n int) generator {
	const d = 8
	label := categorical("class", "most", "some", "few")
	label.label = true
	return generator{"three classes, one skewed", n, append(numerics(d, -10, 60), label), func(rng *rand.Rand) []float64 {
		at, class := rng.Float64(), 0.
		out := equicorrelated(rng, d, 0.3)
		switch {
		case at > 0.9:
			class = 2
			each(out, func(x float64) float64 { return 1 + logNormal(1)(x) })
		case at > 0.7:
			class = 1
			each(out, func(x float64) float64 { return x + 1 })
		}
		return append(out, class)
	}}
}

// answers has binary columns of three parties, eight, eight and seven, with logits of rates evenly
// spaced between two ends. They share two hidden causes.
func answers(name string, n int, low, high float64) generator {
	const d = 23
	var columns []column
	shape := rand.New(rand.NewPCG(23, 7))
	thresholds, loads := make([]float64, d), make([][2]float64, d)
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	for j := range d {
		c := binary(fmt.Sprintf("q%d", j))
		c.owner = j / 8
		columns = append(columns, c)
		at := logit(low) + (logit(high)-logit(low))*float64(j*7%d)/(d-1)
		thresholds[j] = math.Sqrt2 * math.Erfinv(2/(1+math.Exp(-at))-1)
		loads[j] = [2]float64{0.6 * shape.NormFloat64(), 0.6 * shape.NormFloat64()}
	}
	return generator{name, n, columns, func(rng *rand.Rand) []float64 {
		u, v := rng.NormFloat64(), rng.NormFloat64()
		out := make([]float64, d)
		for j := range out {
			a, b := loads[j][0], loads[j][1]
			x := (a*u + b*v + rng.NormFloat64()) / math.Sqrt(1+a*a+b*b)
			out[j] = yes(x < thresholds[j])
		}
		return out
	}}
}

// mixture has k normal clusters in d columns. apart is the standard deviation of the centres in
// each column, in spreads of a cluster.
func mixture(name string, n, d, k int, apart float64) generator {
	shape := rand.New(rand.NewPCG(hash(name), 2))
	centres := make([][]float64, k)
	for c := range centres {
		for range d {
			centres[c] = append(centres[c], apart*shape.NormFloat64())
		}
	}
	return generator{name, n, numerics(d, -20, 20), func(rng *rand.Rand) []float64 {
		out, c := make([]float64, d), rng.IntN(k)
		for j := range out {
			out[j] = centres[c][j] + rng.NormFloat64()
		}
		return out
	}}
}

// credit resembles the amounts of a credit-card bank in Taiwan (Yeh and Lien 2009), with the bounds
// of its code book: a limit, an age, six successive bills, and six payments, most of them small.
func credit() generator {
	columns := []column{numeric("LIMIT_BAL", 0, 1e6), numeric("AGE", 18, 100)}
	for i := range 6 {
		columns = append(columns, numeric(fmt.Sprintf("BILL_AMT%d", i+1), -1e5, 2e6))
	}
	for i := range 6 {
		columns = append(columns, numeric(fmt.Sprintf("PAY_AMT%d", i+1), 0, 2e6))
	}
	return generator{"credit-card amounts", 30_249, columns, func(rng *rand.Rand) []float64 {
		wealth := rng.NormFloat64()
		limit := math.Round(math.Min(120_000*math.Exp(0.8*wealth), 1e6)/1e4) * 1e4
		age := math.Round(21 + 14.5*math.Exp(0.55*rng.NormFloat64()-0.15))
		out := []float64{math.Max(limit, 1e4), math.Min(age, 79)}
		bill := math.Min(28_000*math.Exp(0.4*wealth+1.2*rng.NormFloat64())-2_000, 9.6e5)
		for range 6 {
			out = append(out, math.Round(bill))
			bill = 0.92*bill + 3_000*math.Exp(rng.NormFloat64()) - 3_000
		}
		for range 6 {
			paid := 0.
			if rng.Float64() > 0.2 {
				paid = math.Min(1_900*math.Exp(0.5*wealth+1.25*rng.NormFloat64()), 8.7e5)
			}
			out = append(out, math.Round(paid))
		}
		return out
	}}
}

// diabetics has the data of three hospitals on 15,000 patients, with the bounds of a code book; 8 %
// of HbA1c are missing.
func diabetics() generator {
	columns := []column{
		numeric("Alter", 18, 110), numeric("Größe", 130, 215), numeric("Gewicht", 35, 250), numeric("HbA1c", 4, 12),
		numeric("Kosten", 0, 50_000), numeric("Systole", 70, 250), binary("Raucher"),
	}
	return generator{"three hospitals, HbA1c 8 % missing", 15_000, columns, func(rng *rand.Rand) []float64 {
		tall, heavy := rng.NormFloat64(), rng.NormFloat64()
		age := math.Max(18, math.Min(58+16*rng.NormFloat64(), 105))
		height := 171 + 9.5*tall
		weight := 79.8 + 9*tall + 13*heavy
		sugar := math.Max(4, math.Min(5.25*math.Exp(0.08*heavy+0.14*rng.NormFloat64())+0.006*(age-30), 12))
		if rng.Float64() < 0.08 {
			sugar = math.NaN()
		}
		cost := math.Min(1_800*math.Exp(0.8*rng.NormFloat64()), 50_000)
		return []float64{age, height, math.Max(weight, 36), sugar, cost, 128 + 14*rng.NormFloat64() + 0.2*(age-58), yes(rng.Float64() < 0.26)}
	}}
}

// clinic is a vertical study of 4,500 people; three organisations hold nine columns.
func clinic() generator {
	columns := []column{
		numeric("Alter", 18, 110), numeric("BMI", 12, 70), binary("Raucher"),
		numeric("HbA1c", 4, 12), numeric("LDL", 10, 400), numeric("CRP", 0, 300),
		numeric("Kosten", 0, 50_000), numeric("Tage", 0, 365), binary("Zusatz"),
	}
	for j := range columns {
		columns[j].owner = j / 3
	}
	return generator{"three organisations, 4,500 people", 5_000, columns, func(rng *rand.Rand) []float64 {
		sick := rng.NormFloat64()
		return []float64{
			math.Max(18, 58+16*rng.NormFloat64()), math.Max(13, 27+4*rng.NormFloat64()+sick), yes(rng.Float64() < 0.26),
			math.Max(4, math.Min(5.5*math.Exp(0.12*rng.NormFloat64()+0.08*sick), 12)), math.Max(10, 120+35*rng.NormFloat64()), math.Min(3*math.Exp(rng.NormFloat64()), 300),
			math.Min(1_800*math.Exp(0.7*rng.NormFloat64()+0.4*sick), 50_000), math.Min(math.Round(4*math.Exp(rng.NormFloat64())), 365), yes(rng.Float64() < 0.4),
		}
	}}
}
