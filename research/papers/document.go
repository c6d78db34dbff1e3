package papers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files that Write writes.
const (
	Document = "papers.md"           // the tables
	Folder   = "papers"              // figures, named after tables
	Studies  = "papers/studies.json" // results of studies on running nodes
)

// Write writes the document, its figures and the record of studies below a folder.
func Write(dir string, tables []Table, drawn map[string][]Drawn) error {
	files, err := Files(tables, drawn)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, Folder), 0o755); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644); err != nil {
			return fmt.Errorf("writing the document: %w", err)
		}
	}
	return nil
}

// Files returns the files of Write, by slash-separated path. They depend only on the arguments.
func Files(tables []Table, drawn map[string][]Drawn) (map[string][]byte, error) {
	record, err := json.MarshalIndent(drawn, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing what studies gave: %w", err)
	}
	out := map[string][]byte{Document: document(tables), Studies: append(record, '\n')}
	for _, t := range tables {
		for _, c := range t.charts {
			out[Folder+"/"+c.ID+".svg"] = c.Figure().File()
		}
	}
	return out, nil
}

// ReadStudies reads the recorded results of studies from a folder.
func ReadStudies(dir string) (map[string][]Drawn, error) {
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(Studies)))
	if err != nil {
		return nil, fmt.Errorf("reading what studies gave: %w", err)
	}
	var out map[string][]Drawn
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&out); err != nil {
		return nil, fmt.Errorf("reading what studies gave: %w", err)
	}
	return out, nil
}

const preamble = `# The sources' tables and figures, computed anew

Every table and figure of the four papers that can be computed from public data or from none, beside the
published value and the theory, with the intervals of what is random. Generated, with the figures below
` + "`papers/`" + `, by ` + "`go run -C research . papers --data DIR --out docs`" + `
([data.md](data.md) says what DIR holds). A number that was published for one drawn matrix is no target: it is
compared with the distribution over matrices that it was drawn from. Hundreds of draws are made in one
process, by the same kernel that parties and the aggregator run, from fixed seeds: they come out the same
each time on amd64. Below the draws stands one study on real processes, three parties and an aggregator,
which agree on a seed of their own and draw their own noise: its numbers were recorded when this page was
made (in ` + "`papers/studies.json`" + `), come out differently each time, and have to lie within five deviations
of the draws. Where a paper's mechanism cannot be had in a study, the nearest one is taken, and it is said.

*ok* says that a line keeps what is asked of it, which stands below the table; [errata.md](errata.md) says
why the sources deviate where they do.
`

// document returns the tables as Markdown.
func document(tables []Table) []byte {
	var out strings.Builder
	out.WriteString(preamble + "\n")
	for _, t := range tables {
		fmt.Fprintf(&out, "- [%s](#%s)\n", t.Source, t.Name)
	}
	for _, t := range tables {
		t.markdown(&out)
	}
	return []byte(out.String())
}

func (t Table) markdown(out *strings.Builder) {
	fmt.Fprintf(out, "\n## %s\n\n**%s.** %s", t.Name, t.Source, t.Question)
	if t.Missing != "" {
		fmt.Fprintf(out, "\nNot computed: %s.\n", t.Missing)
		return
	}
	fmt.Fprintf(out, "\n\n%s\n\n", t.Setting)
	markdownRows(out, t.rows())
	out.WriteString("\n")
	said := map[string]bool{}
	for _, l := range t.Lines {
		if l.Because != "" && !said[l.Because] {
			said[l.Because] = true
			fmt.Fprintf(out, "- ok: %s.\n", l.Because)
		}
	}
	for _, note := range t.Notes {
		fmt.Fprintf(out, "- %s\n", note)
	}
	for _, c := range t.charts {
		fmt.Fprintf(out, "\n![%s](%s/%s.svg)\n", c.Title, Folder, c.ID)
	}
	for _, p := range t.Played {
		fmt.Fprintf(out, "\n**On running nodes, once.** %s\n\n", p.Study)
		markdownRows(out, p.rows())
	}
	if b := t.Beyond; b != nil {
		fmt.Fprintf(out, "\n**Beyond the source.** %s\n\n", b.Statistic)
		markdownRows(out, b.rows())
		out.WriteString("\n")
		for _, note := range b.Notes {
			fmt.Fprintf(out, "- %s\n", note)
		}
	}
}

// markdownRows prints headings and lines.
func markdownRows(out *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			out.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
}
