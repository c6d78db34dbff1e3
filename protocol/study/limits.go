package study

// Limits on what a study may list.
const (
	MaxParties   = 1000 // with masked sums; else MostUnmasked
	MaxColumns   = 10_000
	MaxValues    = 1_000 // values of one categorical column
	MaxFeatures  = 65_536
	MaxSketches  = 16
	MaxAnalyses  = 64
	MaxAddrs     = 16
	MaxIDColumns = 8
	MaxAttempts  = 10

	MaxRecipients = 32
)
