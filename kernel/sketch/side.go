package sketch

// Side says which dimension of the data a sketch compresses.
type Side string

const (
	Columns Side = "columns" // R·X, k × n: compares columns (Liu's row-wise projection)
	Records Side = "records" // X·R, m × k: compares records (Liu's column-wise projection)
)
