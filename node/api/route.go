package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// route is one path and method of the API. The handlers and the OpenAPI document are made from the
// same table of routes.
type route struct {
	path    string // in the syntax that net/http and OpenAPI share
	name    string // operationId
	summary string
	scope   Scope
	query   []parameter
	answer  any      // a value of the type sent as JSON; nil: bytes of media
	media   []string // media types if answer is nil
	stream  bool
	handle  func(http.ResponseWriter, *http.Request) error

	// For a route that changes something: the media type of its body, and the most bytes.
	takes string
	body  any // a value of the type read as JSON; nil: bytes
	most  int64
	write func(r *http.Request, body []byte) (answer any, err error)
}

// parameter is a parameter of a route's path or query.
type parameter struct {
	name, about string
	number      bool
	most        int // maximum of a number
	usual       int // default of a number
}

// pathParameters are the parameters in paths.
var pathParameters = map[string]parameter{
	"study":    {name: "study", about: "A study's id: 64 hexadecimal digits."},
	"document": {name: "document", about: "A result: the SHA-256 of its bytes in hexadecimal, or `current` for the study's own."},
	"file":     {name: "file", about: "A file that the list of files names, such as numbers.csv."},
}

const (
	apiPath     = "/api/"
	prefix      = "/api/v1"
	openAPIPath = prefix + "/openapi.json"
	studyPath   = prefix + "/studies/{study}"
	resultPath  = studyPath + "/results/{document}"
)

// routes is the table of routes.
func (s *Server) routes() []route {
	limit := parameter{name: "limit", about: "The most entries of one answer.", number: true, most: 200, usual: 50}
	return []route{
		{path: prefix + "/node", name: "getNode", summary: "Which aggregator this is.", scope: StudiesRead, answer: nodeAnswer{}, handle: s.node},
		{path: prefix + "/studies", name: "listStudies", summary: "The studies, the newest first, a page at a time.", scope: StudiesRead, answer: studiesAnswer{}, handle: s.list, query: []parameter{limit,
			{name: "cursor", about: "Where to go on: `next` of the page before."},
			{name: "state", about: "Only studies in this state."}}},
		{path: studyPath, name: "getStudy", summary: "One study: what was agreed, where it stands, what it waits for.", scope: StudiesRead, answer: studyAnswer{}, handle: s.study},
		{path: studyPath + "/file", name: "getStudyFile", summary: "The study file, byte for byte: its SHA-256 is the study's id.", scope: StudiesRead, media: []string{"application/yaml"}, handle: s.file},
		{path: studyPath + "/explanation", name: "getStudyExplanation", summary: "What every steward is told before approving, in plain words.", scope: StudiesRead, media: []string{"text/plain; charset=utf-8"}, handle: s.explanation},
		{path: studyPath + "/releases", name: "listReleases", summary: "The headers of the releases. Their bytes are not served.", scope: StudiesRead, answer: releasesAnswer{}, handle: s.releases},
		{path: studyPath + "/board", name: "listMessages", summary: "The audit trail: who posted which message, in the board's order.", scope: StudiesRead, answer: boardAnswer{}, handle: s.board, query: []parameter{
			{name: "limit", about: "The most messages of one answer.", number: true, most: 1000, usual: 200},
			{name: "from", about: "The number of the first message.", number: true, most: math.MaxInt32}}},
		{path: studyPath + "/events", name: "streamStudy", summary: "Server-sent events: `study` with the study's status whenever it changes, `end` when it changes no more.", scope: StudiesRead, media: []string{"text/event-stream"}, stream: true, handle: s.events},
		{path: studyPath + "/results", name: "listResults", summary: "The results that are here, the study's own first.", scope: StudiesRead, answer: resultsAnswer{}, handle: s.results},
		{path: resultPath, name: "getResult", summary: "A result, byte for byte as the aggregator signed it.", scope: ResultsRead, answer: resultDocument, handle: s.result},
		{path: resultPath + "/files", name: "listFiles", summary: "The tables and matrices of a result, as files for notebooks.", scope: ResultsRead, answer: filesAnswer{}, handle: s.files},
		{path: resultPath + "/files/{file}", name: "getFile", summary: "A table as CSV, Parquet, NPY or JSON, a matrix as NPY, or the names of its rows.", scope: ResultsRead, media: fileMedia(), handle: s.download},
		{path: prefix + "/draft", name: "draftStudy", summary: "Draft a study file from the column lists of its parties. Nothing is stored.", scope: StudiesWrite, takes: mediaJSON, body: DraftRequest{}, most: mostDraft, answer: Draft{}, write: s.draft},
		{path: prefix + "/check", name: "checkStudy", summary: "Say of a study file what hosting it would. Nothing is stored.", scope: StudiesWrite, takes: mediaYAML, most: mostStudy, answer: Hosted{}, write: s.check},
		{path: prefix + "/studies", name: "hostStudy", summary: "Check a study file and host the study. Repeated, it changes nothing.", scope: StudiesWrite, takes: mediaYAML, most: mostStudy, answer: Hosted{}, write: s.host},
		{path: studyPath + "/cancel", name: "cancelStudy", summary: "End a study that has no result. Repeated, it changes nothing.", scope: StudiesWrite, takes: mediaJSON, body: cancelRequest{}, most: mostCancel, answer: Cancelled{}, write: s.cancel},
	}
}

// method is the HTTP method of a route.
func (r route) method() string {
	if r.write != nil {
		return http.MethodPost
	}
	return http.MethodGet
}

// queries reads a route's query and refuses unknown parameters.
func queries(r *http.Request, known ...parameter) (map[string]string, map[string]int, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, nil, badRequest("%v", err)
	}
	texts, numbers := map[string]string{}, map[string]int{}
	for name, all := range values {
		if len(all) > 1 {
			return nil, nil, badRequest("parameter %.40q is given more than once", name)
		}
		if !slices.ContainsFunc(known, func(p parameter) bool { return p.name == name }) {
			var names []string
			for _, p := range known {
				names = append(names, p.name)
			}
			return nil, nil, badRequest("unknown parameter %.40q; known are: %s", name, strings.Join(names, ", "))
		}
	}
	for _, p := range known {
		text := values.Get(p.name)
		if !p.number {
			texts[p.name] = text
			continue
		}
		numbers[p.name] = p.usual
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if least := min(1, p.usual); err != nil || n < least || n > p.most {
			return nil, nil, badRequest("%s=%.40q: want a whole number from %d to %d", p.name, text, least, p.most)
		}
		numbers[p.name] = n
	}
	return texts, numbers, nil
}

// routeQuery reads the query by the table's parameters for the route.
func (s *Server) routeQuery(r *http.Request) (map[string]string, map[string]int, error) {
	for _, route := range s.routes() {
		if r.Pattern == route.method()+" "+route.path {
			return queries(r, route.query...)
		}
	}
	return queries(r)
}

// studyID reads the study that a path names.
func studyID(r *http.Request) (protocol.StudyID, error) {
	id, err := protocol.ParseStudyID(r.PathValue("study"))
	if err != nil {
		return id, problem(fail.APINoStudyID.New(r.PathValue("study")))
	}
	return id, nil
}

// Lookup reads the study that a path names.
func (s *Server) Lookup(r *http.Request) (Study, error) {
	id, err := studyID(r)
	if err != nil {
		return Study{}, err
	}
	one, err := s.Views.Study(id)
	if err == nil && one.Damaged && len(one.File.Source) == 0 {
		err = ErrDamaged
	}
	return one, err
}

// LookupResult reads the result that a path names.
func (s *Server) LookupResult(r *http.Request) (Study, Document, error) {
	study, err := s.Lookup(r)
	if err != nil {
		return study, Document{}, err
	}
	name := r.PathValue("document")
	for _, st := range study.Results {
		if st.Document.Hash.String() == name || name == "current" && !st.Further {
			d, err := s.Views.Document(study.File.ID, st.Document.Hash)
			return study, d, err
		}
	}
	if name == "current" {
		return study, Document{}, problem(fail.APINoResult.New(cmp.Or(study.Status.Awaiting(), "is "+study.Status.State)))
	}
	return study, Document{}, problem(fail.APINoSuchResult.New(name, study.File.ID))
}

// sendJSON answers with a value.
func (s *Server) sendJSON(w http.ResponseWriter, r *http.Request, value any) error {
	body, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return fmt.Errorf("encoding an answer: %w", err)
	}
	s.Send(w, r, "application/json", append(body, '\n'))
	return nil
}
