package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// The fields of a CycloneDX 1.5 document in use.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licenses   []choice   `json:"licenses,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	choice struct {
		License license `json:"license"`
	}
	license struct {
		ID string `json:"id"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref  string   `json:"ref"`
		Does []string `json:"dependsOn,omitempty"`
	}
)

// sbom lists the programs of a platform and the modules that the compiler recorded in them.
func (m *maker) sbom(b built) ([]byte, error) {
	own := []choice{{license{"Apache-2.0"}}}
	whole := component{
		Type: "application", Ref: "cosketch", Name: "cosketch", Version: m.version, Licenses: own,
		Properties: []property{{"cosketch:commit", m.commit}, {"cosketch:platform", b.platform.os + "/" + b.platform.arch}},
	}
	doc := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{m.time.Format(time.RFC3339), whole}}
	doc.Dependencies = []dependency{{Ref: whole.Ref, Does: programs}}
	for _, program := range programs {
		digest := sha256.Sum256(b.programs[program])
		doc.Components = append(doc.Components, component{
			Type: "application", Ref: program, Name: program, Version: m.version, Licenses: own,
			Hashes: []hash{{"SHA-256", hex.EncodeToString(digest[:])}},
		})
		uses := dependency{Ref: program}
		for _, mod := range b.modules {
			for _, user := range mod.users {
				if user == program {
					uses.Does = append(uses.Does, mod.purl())
				}
			}
		}
		doc.Dependencies = append(doc.Dependencies, uses)
	}
	for _, mod := range b.modules {
		c := component{Type: "library", Ref: mod.purl(), Name: mod.path, Version: mod.version, PURL: mod.purl()}
		for _, id := range mod.licences {
			c.Licenses = append(c.Licenses, choice{license{id}})
		}
		doc.Components = append(doc.Components, c)
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	return append(text, '\n'), err
}

// purl is the package URL that vulnerability scanners look up.
func (mod module) purl() string { return "pkg:golang/" + mod.path + "@" + mod.version }
