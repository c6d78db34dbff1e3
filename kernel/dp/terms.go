package dp

// Epsilon is the ε of differential privacy.
type Epsilon float64

// Delta is the δ of differential privacy.
type Delta float64

// Unit names what one change of the data is.
type Unit string

const (
	Attribute Unit = "attribute" // one value of one record changes within its bounds
	Record    Unit = "record"    // one record's whole contribution is replaced by zeros; record counts are public
)

// Mechanism names how noise is added to a sketch.
type Mechanism string

const (
	None     Mechanism = "none"     // no noise and no guarantee (Liu, Kargupta, Ryan 2006)
	Gaussian Mechanism = "gaussian" // (ε, δ), discrete Gaussian noise
	Laplace  Mechanism = "laplace"  // pure ε, discrete Laplace noise

	RandomisedResponse Mechanism = "randomised-response" // pure ε, bits flipped before projection (Flips)
)
