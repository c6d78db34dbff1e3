package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/openapi.json anew")

// described is the document that the server sends.
func described(t *testing.T, s *Server) (document object, raw []byte) {
	t.Helper()
	raw = ask(s, openAPIPath, nil).Body.Bytes()
	check(t, json.Unmarshal(raw, &document))
	return document, raw
}

// The document is stored in docs, so that a change of the API shows in the diff.
func TestOpenAPIIsKept(t *testing.T) {
	s, _ := newServer(t, newFake(t), nil)
	_, raw := described(t, s)
	const path = "../../docs/openapi.json"
	if *update {
		check(t, os.WriteFile(path, raw, 0o644))
	}
	kept, err := os.ReadFile(path)
	check(t, err)
	if string(kept) != string(raw) {
		t.Errorf("%s is not what the server says of itself: go test ./node/api -update, and look at the difference", path)
	}
}

// Every route is described and every described path is served. Every answer, including refusals,
// matches its schema and has no undescribed field. (The schemas allow further fields: version 1 may
// get some, and readers must tolerate them.)
func TestOpenAPIHolds(t *testing.T) {
	f := newFake(t)
	s, _ := newServer(t, f, nil)
	document, _ := described(t, s)
	paths := document["paths"].(object)
	described, written := 0, 0
	for _, item := range paths {
		described += len(item.(object))
	}
	if described != len(s.routes()) {
		t.Errorf("%d operations are described, %d are served", described, len(s.routes()))
	}
	fill := strings.NewReplacer("{study}", f.studies[0].File.ID.String(), "{document}", "current", "{file}", "numbers.csv")
	f.studies[0].Status.State = "closed" // so that the stream ends
	names := map[string]bool{}
	for path, item := range paths {
		if post, ok := item.(object)["post"].(object); ok { // TestWriting covers these
			names[post["operationId"].(string)] = true
			written++
		}
		operation, ok := item.(object)["get"].(object)
		if !ok {
			continue
		}
		names[operation["operationId"].(string)] = true
		answers := operation["responses"].(object)
		w := ask(s, fill.Replace(path), nil)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
			continue
		}
		media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		content, ok := answers["200"].(object)["content"].(object)[media].(object)
		if !ok {
			t.Errorf("%s: %s is not among what is described", path, media)
			continue
		}
		if schema, ok := content["schema"].(object); ok && media == "application/json" {
			holds(t, document, path, schema, w.Body.Bytes())
		}
		if media == "text/event-stream" {
			data, _, _ := strings.Cut(body(t, w)[strings.Index(body(t, ask(s, fill.Replace(path), nil)), "data: ")+len("data: "):], "\n")
			holds(t, document, path, object{"$ref": "#/components/schemas/Event"}, []byte(data))
		}
		for _, p := range operation["parameters"].([]any) {
			if strings.Contains(path, "{") != slices.ContainsFunc(operation["parameters"].([]any), func(p any) bool { return p.(object)["in"] == "path" }) {
				t.Errorf("%s: parameters %v", path, p)
			}
		}
	}
	if len(names) != described || written == 0 {
		t.Errorf("operations share names, or none writes: %v", names)
	}
	refused := ask(s, prefix+"/studies?limit=x", nil)
	problem := document["components"].(object)["responses"].(object)["Problem"].(object)["content"].(object)["application/problem+json"].(object)["schema"].(object)
	holds(t, document, "a problem", problem, refused.Body.Bytes())
	// The check is valid only if it finds errors.
	if err := valid(document, problem, map[string]any{"type": "x", "title": "x", "status": "400", "detail": "x"}); err == nil {
		t.Error("a text passes as a number")
	}
	if err := valid(document, problem, map[string]any{"type": "x", "title": "x", "status": 400.0, "detail": "x", "more": 1.0}); err == nil {
		t.Error("an unknown field passes")
	}
	if err := valid(document, problem, map[string]any{"type": "x"}); err == nil {
		t.Error("a missing field passes")
	}
}

func holds(t *testing.T, document object, what string, schema object, raw []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Errorf("%s: %v\n%s", what, err, raw)
		return
	}
	if err := valid(document, schema, value); err != nil {
		t.Errorf("%s: %v\n%.2000s", what, err, raw)
	}
}

// valid checks a value against a schema, as far as the document uses schemas.
func valid(document, schema object, value any) error {
	for key := range schema {
		if !slices.Contains([]string{"$ref", "type", "properties", "required", "items", "oneOf", "description"}, key) {
			return fmt.Errorf("the check does not know %q", key)
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		target, ok := document["components"].(object)["schemas"].(object)[name].(object)
		if !ok {
			return fmt.Errorf("no schema %q", name)
		}
		if err := valid(document, target, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	if either, ok := schema["oneOf"].([]any); ok {
		var last error
		for _, one := range either {
			if last = valid(document, one.(object), value); last == nil {
				return nil
			}
		}
		return last
	}
	kinds, several := schema["type"].([]any)
	if !several {
		kinds = []any{schema["type"]}
	}
	if !slices.Contains(kinds, any(kindOf(value))) && !(kindOf(value) == "integer" && slices.Contains(kinds, any("number"))) {
		return fmt.Errorf("%v is no %v", value, kinds)
	}
	switch value := value.(type) {
	case []any:
		for i, one := range value {
			if err := valid(document, schema["items"].(object), one); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	case map[string]any:
		properties := schema["properties"].(object)
		for name, one := range value {
			property, known := properties[name].(object)
			if !known {
				return fmt.Errorf("%q is not described", name)
			}
			if err := valid(document, property, one); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		for _, name := range schema["required"].([]any) {
			if _, there := value[name.(string)]; !there {
				return fmt.Errorf("%q is missing", name)
			}
		}
	}
	return nil
}

func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
