package release

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/sum"
)

// Moments is the part of a plan specific to side moments.
type Moments struct {
	Layout  sketch.MomentLayout
	Entries []int // features that are entries of the summed records: all but the label's
	Clips   []int64
	Weights []dp.MomentWeights // by clip; one if records are not clipped

	own     bool       // the party takes the clip chosen by its noisy lengths
	pooled  bool       // clip and moves follow from the first round, which all parties share
	at      int        // index into Clips of the clip in use, unless own
	noises  []dp.Noise // by clip, of a plain sum
	moves   []sketch.Standard
	counts  dp.Noise // of the party's lengths, each count having weight dp.CountWeight
	looking dp.Noise // of the party's look
	mu      float64  // of the sums
}

// planMoments plans the sums of a moments sketch for each clip, and what comes before them.
func (p *Plan) planMoments(whole dp.Guarantee) error {
	s := p.Study
	m := &Moments{Layout: s.MomentLayout(p.Index), Entries: s.MomentEntries(p.Index), Clips: s.Clips(p.Index), own: s.TakesOwnClip(p.Index), pooled: s.Pooled(p.Index)}
	p.Moments = m
	if m.pooled {
		by := s.Basis()
		m.at = slices.Index(m.Clips, by.Clips[slices.Index(s.PooledMoments(), p.Index)])
		m.moves = by.Moves
	}
	share, standard, lengths := s.MomentShare(p.Index)
	part, err := whole.Share(share)
	if err != nil {
		return err
	}
	clips := m.Clips
	if len(clips) == 0 {
		clips = []int64{0}
	}
	for i, clip := range clips {
		w, err := s.MomentWeights(p.Index, clip)
		if err != nil {
			return err
		}
		m.Weights = append(m.Weights, w)
		var sensitivity dp.Sensitivity
		if clip > 0 {
			if sensitivity, err = p.row().Sensitivity(s, p.Index, clip); err != nil {
				return err
			}
		}
		noise, err := dp.Calibrate(part, sensitivity)
		if err != nil {
			return err
		}
		m.noises = append(m.noises, noise)
		if i == m.at {
			p.Clip, p.Sensitivity, p.Noise = clip, sensitivity, noise
			if v := noise.Variance(); v > 0 {
				m.mu = math.Sqrt(float64(sensitivity.L2Squared) / v)
			}
		}
	}
	if lengths > 0 {
		change, err := s.LengthChange()
		if err != nil {
			return err
		}
		if m.counts, err = calibrated(whole, lengths, change); err != nil {
			return err
		}
	}
	if standard > 0 {
		if m.looking, err = calibrated(whole, standard, p.lookChange()); err != nil {
			return err
		}
	}
	return nil
}

func calibrated(whole dp.Guarantee, share float64, s dp.Sensitivity) (dp.Noise, error) {
	part, err := whole.Share(share)
	if err != nil {
		return dp.Noise{}, err
	}
	return dp.Calibrate(part, s)
}

// Draw draws all noise of a release (Plan.Draw) and sets the number of clipped records: if a party
// chooses its own clip, it is known only then.
func (e *Exact) Draw(p Plan, entropy io.Reader, workers int) error {
	if p.Moments == nil {
		return p.Draw(&e.Sketch, entropy, workers)
	}
	cut, err := p.drawMoments(&e.Sketch, entropy, workers)
	if cut >= 0 {
		e.Clipped = cut
	}
	return err
}

// drawMoments draws the noise of a moments sketch. If the party chooses its own clip, it first
// draws the noise of its lengths; they choose the one sum that is noised and kept. It returns how
// many records are longer than the clip, or -1 if that is not known.
func (p Plan) drawMoments(s *sketch.Sketch, entropy io.Reader, workers int) (cut int64, err error) {
	m := p.Moments
	var prefix []int64
	noise := p.Noise
	cut = -1
	if m.own {
		if s.Rows != len(m.Clips)+sum.LengthRows(len(m.Clips), m.Layout.Entries()) {
			return 0, fmt.Errorf("drawing noise: moments of %d clips have %d rows", len(m.Clips), s.Rows)
		}
		exact := s.Data[len(m.Clips)*s.Cols:][:len(m.Clips)+1]
		noisy := sum.Weighted(exact)
		if err := m.counts.Add(noisy, entropy); err != nil {
			return 0, err
		}
		edge := p.chooseClip(noisy, total(exact))
		cut = total(exact[edge+1:])
		prefix, noise = append(prefix, int64(edge)), m.noises[edge]
		row := append([]int64(nil), s.Row(edge)...)
		clear(s.Data)
		*s = sketch.Sketch{Side: s.Side, Rows: 1, Cols: len(row), Data: row}
	}
	if err := noise.AddParallel(s.Data, entropy, workers); err != nil {
		return 0, err
	}
	if !m.pooled {
		for _, move := range m.moves {
			prefix = append(prefix, move.Centre, move.Spread)
		}
	}
	s.Data, s.Cols = append(prefix, s.Data...), s.Cols+len(prefix)
	return cut, nil
}

func total(counts []int64) (sum int64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// How a party chooses its own clip. Counts of lengths below clearCount standard errors count as
// none, and clipping may bias means by at most bearable standard errors. Counts behind one that
// counts as none must be clearer. In a tail that thins out none remain there, and one made by noise
// alone would lengthen the clip most.
const (
	clearCount   = 2
	clearApart   = 3
	clearFar     = 4  // for counts of lengths beyond
	far          = 11 // this index
	maxBias      = 0.4
	maxClassBias = 0.35 // as bearable, for means of classes: clipping is not corrected for in their means

	// For correlations: the share of clipped records as a fraction of the noise, and how many
	// standard errors of a count may be longer, however small that noise is.
	bearableShare = 0.3
	leastPassing  = 1.5

	// A clip longer than normal values need is not lengthened to where the noise of a correlation
	// passes this: with more noise, a column with half its declared variance is lost in it.
	maxProductNoise = 0.09
	normalClip      = 1.5
)

// counted holds what a clip is chosen by: noisy counts of lengths.
type counted struct {
	clips   []int64 // ascending
	noisy   []int64 // for each clip the records that it is the first not to cut; last, those longer than all
	records int64
	sd      float64 // of the noise on a count, in records
	parties float64 // how many parties' noise the sum carries, each party having that many records
	mu      float64 // of the sums
	usual   int     // index of the clip that suits most data
}

// chooseClip chooses the clip by the party's own noisy counts of lengths.
func (p Plan) chooseClip(noisy []int64, records int64) int {
	parties := float64(len(p.Study.Parties))
	return counted{
		clips: p.Moments.Clips, noisy: noisy, records: records, sd: math.Sqrt(p.Moments.counts.Variance()) / dp.CountWeight,
		parties: parties, mu: p.Moments.mu, usual: p.Expected(float64(records) * parties),
	}.choose(p.Study, p.Index)
}

// choose takes the least clip that, by the noisy counts of lengths, biases means by less than their
// noise bears. A record between two edges loses at most the length of the longer one beyond the
// clip. Summed over records, in typical lengths, this bounds the bias in spreads times the records;
// the bound is reached if all records are clipped in one direction. With too few records to tell,
// it takes the clip that suits most data (study.ClipRule).
func (c counted) choose(s *study.Study, index int) int {
	last := len(c.clips) - 1
	if c.sd*math.Sqrt(float64(last+1)) > float64(c.records)/4 {
		return c.usual
	}
	typical := s.TypicalLength(index) * float64(s.Bits.One())
	noise := s.MeanNoise(index, c.parties) / c.mu // of a mean at the typical length
	if s.ForProducts(index) {
		return c.chooseForProducts(s, index)
	}
	bear := maxBias
	if s.MomentClasses(index) > 0 {
		bear = maxClassBias
	}
	for e, clip := range c.clips[:last] {
		var off float64
		c.passing(e, func(b int, count float64) {
			longer := 1.5 * float64(c.clips[last])
			if b <= last {
				longer = float64(c.clips[b])
			}
			off += count * (longer - float64(clip)) / typical
		})
		if off <= bear*noise*float64(clip)/typical {
			return e
		}
	}
	return last
}

// passing calls tell for each count of lengths beyond a clip that stands out of its noise. Near
// counts must follow each other; behind a gap, and far out, the threshold is higher.
func (c counted) passing(e int, tell func(b int, count float64)) {
	clear := clearCount * c.sd
	for b := e + 1; b < len(c.noisy); b++ {
		count := float64(c.noisy[b]) / dp.CountWeight
		switch {
		case count < clearCount*c.sd:
			clear = clearApart * c.sd
		case count < clear, b > far && clear > clearCount*c.sd && count < clearFar*c.sd:
		default:
			tell(b, count)
		}
	}
}

// chooseForProducts takes the least clip for which, by the noisy counts of lengths, so few records
// are longer that correlations are biased by less than their noise bears. Clipping a share of the
// records reduces a correlation by at most half of that share. The noise of correlations grows with
// the square of the clip.
func (c counted) chooseForProducts(s *study.Study, index int) int {
	last := len(c.clips) - 1
	typical := s.TypicalLength(index) * float64(s.Bits.One())
	noise := s.ProductNoise(index, c.parties) / c.mu
	if s.ForRegression(index) { // uses all correlations at once, whose noise adds up
		noise *= math.Max(1, math.Sqrt(float64(len(s.MomentEntries(index))))/2)
	}
	for e, clip := range c.clips[:last] {
		var longer float64
		c.passing(e, func(_ int, count float64) { longer += count })
		length := float64(clip) / typical
		if next := float64(c.clips[e+1]) / typical; next > normalClip && noise*next*next > maxProductNoise*float64(c.records) {
			return e
		}
		if longer+c.sd <= math.Max(bearableShare*float64(noise*length)*length, leastPassing*c.sd) {
			return e
		}
	}
	return last
}

// Expected returns the index of the clip that is expected to be chosen if all parties together have
// that many records.
func (p Plan) Expected(records float64) int {
	if len(p.Moments.Clips) == 0 {
		return 0
	}
	return usualClip(p.Study, p.Index, p.Moments.Clips, records)
}

// usualClip returns the index of the clip that suits most data of that many records.
func usualClip(s *study.Study, index int, clips []int64, records float64) int {
	length := s.ClipRule(index, records) * float64(s.Bits.One())
	for e, clip := range clips {
		if float64(clip) >= length {
			return e
		}
	}
	return len(clips) - 1
}

// MomentNoise returns the noise on the sum of that many parties' moments, in encoded units, at a
// clip. If one of two columns is the label, the noise on products is that on sums by class.
func (p Plan) MomentNoise(parties, clip int, label bool) estimate.MomentNoise {
	noise, w, unit := p.Noise, p.Moments.Weights[clip], p.Unit()
	if clip != p.Moments.at {
		noise = p.Moments.noises[clip]
		if of, err := p.summedBy(noise).Among(p.members); err == nil {
			noise = of.Noise
		}
	}
	variance := float64(parties) * noise.Variance()
	of := func(step float64) float64 { return variance * step * step }
	out := estimate.MomentNoise{Sum: of(unit / float64(w.Sum<<w.Fine))}
	if w.Square > 0 {
		out.Square, out.Product = of(unit*unit/float64(w.Square)), of(unit*unit/float64(w.Product))
	}
	if label && w.ClassSum > 0 {
		out.Product = of(unit / float64(w.ClassSum<<w.Fine))
	}
	return out
}

// Noticeable returns the share of clipped records from which means may be off by more than .4 of
// their standard error: twice the noise of a mean of records of typical length, in spreads. The sum
// is over that many members and has that many records.
func (p Plan) Noticeable(members int, records float64) float64 {
	m := p.Moments
	if m.mu == 0 {
		return 0
	}
	noises := float64(members)
	if p.Study.Masked() {
		noises /= float64(p.Study.HonestMembers(members))
	}
	return 2 * p.Study.MeanNoise(p.Index, 1) * math.Sqrt(noises) / m.mu / records
}

// SummedMoments is a released moments sketch.
type SummedMoments struct {
	Clip    int64 // 0: records were not clipped
	Weights dp.MomentWeights
	Noise   dp.Noise
	Moves   []sketch.Standard // by entry; nil: none was standardised
	Sums    []int64           // in the order of the layout
}

// MomentTally divides the sums of that many records, with that many members' noise, by their
// weights, into encoded units around the public centre.
func (p Plan) MomentTally(from room.Allocator, m SummedMoments, records int64, members int) (out estimate.Tally, err error) {
	l := p.Moments.Layout
	factors, one := l.Factors(m.Weights), float64(p.Study.Bits.One())
	out = estimate.Tally{Records: records, Layout: l, Unlabelled: p.Study.Unlabelled(p.Index)}
	if out.Values, err = room.Of[float64](from, len(factors)); err != nil {
		return out, err
	}
	if out.Variances, err = room.Of[float64](from, len(factors)); err != nil {
		return out, err
	}
	fine := float64(p.Study.ReadBits().One())
	variance := float64(members) * m.Noise.Variance()
	for i, w := range factors {
		unit := 1 / float64(w)
		out.Values[i], out.Variances[i] = float64(m.Sums[i])*unit, variance*unit*unit
	}
	scale := func(at int, by float64) {
		out.Values[at] *= by
		out.Variances[at] *= by * by
	}
	for i := range l.Columns {
		for j := i; j < l.Columns && l.Products; j++ {
			scale(l.Product(i, j), 1/one/one)
		}
		scale(l.Sum(i), 1/fine)
		if l.CutSums {
			scale(l.CutSum(i), 1/fine)
		}
		for c := 0; c < l.Classes && l.Products; c++ {
			scale(l.ClassSum(c, i), 1/fine)
		}
		for a := 0; a < l.Attributes && l.Products; a++ {
			scale(l.SumAbsent(i, a), 1/fine)
		}
		if l.Fourth {
			scale(l.FourthPower(i), 1/one)
		}
	}
	if l.Cut {
		out.Clips = []float64{float64(m.Clip) / one}
		out.Priors = p.Study.Priors(p.Index)
	}
	if m.Moves == nil {
		return out, nil
	}
	centres := p.Study.Centres(p.Index)
	for i, at := range p.Moments.Entries {
		move := m.Moves[i]
		out.Centres = append(out.Centres, float64(move.Centre)/16/one-float64(centres[at])/one)
		out.Units = append(out.Units, float64(move.Spread)/16/one)
	}
	return out, nil
}

// TallyColumns returns the columns of such tallies: the sketch's features, then the classes of its
// label.
func (p Plan) TallyColumns() (out []estimate.TallyColumn) {
	at := map[int]int{} // entries by feature
	for i, f := range p.Moments.Entries {
		at[f] = i
	}
	of, class := p.Study.MomentAttributes(p.Index), 0
	for i, f := range p.Features {
		if entry, ok := at[i]; ok {
			out = append(out, estimate.TallyColumn{Entry: entry, Attribute: of[entry]})
			continue
		}
		if f.Kind == study.Value { // class 1 of a binary label
			class = 1
		}
		out = append(out, estimate.TallyColumn{Entry: -1, Class: class})
		class++
	}
	classes := p.Moments.Layout.Classes
	if p.Study.Unlabelled(p.Index) {
		classes--
	}
	for c := range classes {
		out = append(out, estimate.TallyColumn{Entry: -1, Class: c})
	}
	return out
}

// NoiseIn returns the noise of a released sketch. If a party chooses its own clip, it is the noise
// for the clip named in the sketch.
func (p Plan) NoiseIn(s sketch.Sketch) (dp.Noise, error) {
	if p.Moments == nil {
		return p.Noise, nil
	}
	summed, err := p.Summed(s)
	return summed.Noise, err
}

// Summed decodes a released moments sketch: that of one party or, if masked, the sum over all.
func (p Plan) Summed(s sketch.Sketch) (SummedMoments, error) {
	m := p.Moments
	prefix := p.prefix()
	if want := prefix + m.Layout.Entries(); s.Rows != 1 || len(s.Data) != want {
		return SummedMoments{}, fmt.Errorf("reading moments: %s, want 1 × %d", s, want)
	}
	out, err := p.chosen(s.Data[:prefix])
	out.Sums = s.Data[prefix:]
	return out, err
}

// prefix returns how many numbers precede the sums of a released moments sketch.
func (p Plan) prefix() int { return int(p.Study.MomentPrefix(p.Index)) }

// chosen decodes what precedes the sums of a released moments sketch: the clip that the party has
// chosen, and how it centred and scaled its records.
func (p Plan) chosen(prefix []int64) (SummedMoments, error) {
	m := p.Moments
	out := SummedMoments{Clip: p.Clip, Weights: m.Weights[m.at], Noise: p.Noise}
	if m.pooled {
		out.Moves = m.moves
	}
	if len(prefix) != p.prefix() {
		return out, fmt.Errorf("reading moments: %d numbers before the sums, want %d", len(prefix), p.prefix())
	}
	if m.own {
		edge := prefix[0]
		if edge < 0 || edge >= int64(len(m.Clips)) {
			return out, fmt.Errorf("reading moments: unknown clip number %d of %d", edge, len(m.Clips))
		}
		out.Clip, out.Weights, out.Noise, prefix = m.Clips[edge], m.Weights[edge], m.noises[edge], prefix[1:]
	}
	if p.Looks() {
		for i := range m.Entries {
			move := sketch.Standard{Centre: prefix[2*i], Spread: prefix[2*i+1]}
			if most := 64 * p.Study.Bits.One(); move.Spread < 1 || move.Spread > most || move.Centre < -most || move.Centre > most {
				return out, fmt.Errorf("reading moments: entry %d was moved by %d and scaled by %d sixteenths, which is out of range", i+1, move.Centre, move.Spread)
			}
			out.Moves = append(out.Moves, move)
		}
	}
	return out, nil
}
