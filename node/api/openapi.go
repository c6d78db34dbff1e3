package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/cosketch/cosketch/node/webhook"
)

// schemas collects the schemas of the answers' types, in the JSON Schema dialect of OpenAPI 3.1.
type schemas map[string]any

type object = map[string]any

// openAPI makes the document that describes the routes.
func openAPI(routes []route) ([]byte, error) {
	known := schemas{}
	paths := object{}
	failures := object{}
	refusals := object{}
	for _, status := range []string{"400", "401", "403", "404", "409", "421", "500", "503"} {
		failures[status] = object{"$ref": "#/components/responses/Problem"}
		refusals[status] = failures[status]
	}
	refusals["422"] = failures["400"]
	for _, r := range routes {
		content := object{}
		if r.answer != nil {
			content["application/json"] = object{"schema": known.of(reflect.TypeOf(r.answer))}
		}
		for _, media := range r.media {
			content[strings.SplitN(media, ";", 2)[0]] = object{}
		}
		answers := object{
			"200": object{"description": "What was asked for.", "content": content, "headers": object{"ETag": object{"schema": object{"type": "string"}}}},
			"304": object{"description": "If-None-Match names what the caller has."},
		}
		if r.stream {
			answers = object{"200": object{"description": "A stream of events. The data of `study` are an Event.", "content": object{"text/event-stream": object{"schema": object{"type": "string"}}}}}
			known.of(reflect.TypeFor[eventAnswer]())
		}
		operation := object{
			"operationId": r.name, "summary": r.summary, "responses": answers, "parameters": parameters(r),
			"security": []any{object{"token": []any{}}, object{}}, "x-scope": r.scope,
		}
		failed := failures
		if r.write != nil {
			answers = object{"200": object{"description": "It is done, or was before.", "content": content}}
			schema := object{"type": "string"}
			if r.body != nil {
				schema = known.of(reflect.TypeOf(r.body))
			}
			operation["responses"], failed = answers, refusals
			operation["requestBody"] = object{"required": true, "description": fmt.Sprintf("At most %d bytes.", r.most), "content": object{r.takes: object{"schema": schema}}}
			operation["security"] = []any{object{"token": []any{}}}
		}
		maps.Copy(answers, failed)
		methods, described := paths[r.path].(object)
		if !described {
			methods = object{}
			paths[r.path] = methods
		}
		methods[strings.ToLower(r.method())] = operation
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Cosketch aggregator", "version": "1",
			"summary":     "Studies, where they stand, and their results.",
			"description": "GET changes nothing; HEAD is answered wherever it is. A token needs the scope that x-scope names. Without one there is an answer on the loopback interface alone, to GET, where the operator wrote tokens: unless_loopback. POST always needs a token, in the Authorization header: a session's cookie does not do.",
		},
		"servers": []any{object{"url": "/"}},
		"paths":   paths,
		"webhooks": object{"study": object{"post": object{
			"operationId": "studyMoved", "summary": "A study moved: sent to the addresses under webhooks of the aggregator's configuration, signed as the Standard Webhooks specification says.",
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": known.of(reflect.TypeFor[webhook.Message]())}}},
			"responses":   object{"2XX": object{"description": "It is not sent again."}},
			"parameters": []any{
				header("webhook-id", "The same at each try of one message."),
				header("webhook-timestamp", "When it was tried, in seconds since 1970."),
				header("webhook-signature", "v1, and the HMAC-SHA256 of id, timestamp and body, joined by dots, in base64."),
			},
		}}},
		"components": object{
			"schemas": known,
			"responses": object{"Problem": object{"description": "What is wrong, as RFC 9457 has it.", "content": object{
				"application/problem+json": object{"schema": known.of(reflect.TypeFor[Problem]())}}}},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}
	out, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	return append(out, '\n'), nil
}

func header(name, about string) object {
	return object{"name": name, "in": "header", "required": true, "description": about, "schema": object{"type": "string"}}
}

func parameters(r route) []any {
	out := []any{}
	for part := range strings.SplitSeq(r.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			p := pathParameters[strings.TrimSuffix(name, "}")]
			out = append(out, object{"name": p.name, "in": "path", "required": true, "description": p.about, "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.query {
		schema := object{"type": "string"}
		if p.number {
			schema = object{"type": "integer", "minimum": min(1, p.usual), "maximum": p.most, "default": p.usual}
		}
		out = append(out, object{"name": p.name, "in": "query", "description": p.about, "schema": schema})
	}
	return out
}

// of returns the schema of a type. Structs are named and listed among the components.
func (s schemas) of(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.of(t.Elem())
		if kind, plain := inner["type"].(string); plain {
			inner["type"] = []any{kind, "null"}
			return inner
		}
		return object{"oneOf": []any{inner, object{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer"}
	case reflect.Struct:
		name := schemaName(t)
		if _, done := s[name]; !done {
			s[name] = object{} // for recursive types
			s[name] = s.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	panic("api: no schema for " + t.String())
}

// schemaName names the schema of a type. Types of results and of webhooks get a prefix of their
// own; answers have none.
func schemaName(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "Answer")
	name = strings.ToUpper(name[:1]) + name[1:]
	if path.Base(t.PkgPath()) == "webhook" {
		return "Webhook" + name
	}
	if path.Base(t.PkgPath()) != "api" && name != "Result" {
		name = "Result" + name
	}
	return name
}

func (s schemas) structure(t reflect.Type) object {
	properties, required := object{}, []any{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag := f.Tag.Get("json")
			if f.Anonymous && tag == "" {
				add(f.Type)
				continue
			}
			name, options, _ := strings.Cut(tag, ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			property := s.of(f.Type)
			if strings.Contains(options, "omit") { // omitempty, or omitzero
				property = orAbsent(property)
			} else {
				required = append(required, name)
				if f.Type.Kind() == reflect.Slice && f.Type.PkgPath() == "" && path.Base(t.PkgPath()) != "api" && path.Base(t.PkgPath()) != "webhook" {
					property = object{"oneOf": []any{property, object{"type": "null"}}} // lists of results may be null
				}
			}
			if doc := f.Tag.Get("doc"); doc != "" {
				property["description"] = doc
			}
			properties[name] = property
		}
	}
	add(t)
	return object{"type": "object", "properties": properties, "required": required}
}

// orAbsent is the schema of a field that is omitted if empty: it is never null.
func orAbsent(schema object) object {
	if kinds, ok := schema["type"].([]any); ok {
		schema["type"] = kinds[0]
	}
	if either, ok := schema["oneOf"].([]any); ok {
		return either[0].(object)
	}
	return schema
}
