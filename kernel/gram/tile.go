package gram

// A tile holds the products of half a panel of columns with a panel, in the order in which
// registers hold them: for each of its tileRows rows the even columns of the panel, then the odd
// ones.
const (
	panelWidth  = 16
	tileRows    = panelWidth / 2
	tileEntries = tileRows * panelWidth
)

// tileGo adds the products of so many rows to a tile. a and b hold panelWidth entries for each row;
// only the first tileRows of a count.
func tileGo(sums *[tileEntries]int64, a, b []int32, rows int) {
	for i := range rows {
		left, right := a[i*panelWidth:][:tileRows], b[i*panelWidth:][:panelWidth]
		for r, v := range left {
			x, out := int64(v), sums[r*panelWidth:][:panelWidth]
			for c := range panelWidth / 2 {
				out[c] += x * int64(right[2*c])
				out[c+panelWidth/2] += x * int64(right[2*c+1])
			}
		}
	}
}

// place returns the index in a tile of the product of its row r with column c of its panel.
func place(r, c int) int { return r*panelWidth + c/2 + c%2*(panelWidth/2) }
