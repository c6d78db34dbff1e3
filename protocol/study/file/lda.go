package file

import "github.com/cosketch/cosketch/protocol/study"

var ldaEntry = entry{
	kind: study.LDA,
	keys: []string{"on", "ridge"},
	read: func(o object) study.Options {
		out := study.LDAOptions{Ridge: o.ridge()}
		for _, it := range o.Items("on", study.MaxColumns) {
			out.On = append(out.On, o.reader.Text(it))
		}
		return out
	},
	check: func(r *reader, s *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.LDAOptions)
		label, _ := s.Label()
		r.validateOn(s, o.On, label.Name, "the label itself", path)
		checkRidge(o.Ridge, r, path)
		if len(s.Columns) < 2 {
			r.Fail(path, "lda needs another column beside the label")
		}
	},
}
