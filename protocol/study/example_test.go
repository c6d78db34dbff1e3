package study_test

import (
	"fmt"
	"os"

	"github.com/cosketch/cosketch/protocol/schema"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

func ExampleParse() {
	source, err := os.ReadFile("testdata/registry.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := studyfile.Parse(source)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Name, s.ID.Short(), s.Partition)
	for i, p := range s.Parties {
		fmt.Printf("%s sketches %d features, %s\n", p.Name, len(s.Features(i, 0)), s.Merge(0))
	}
	// Output:
	// registry-2026 3b5f8f01 vertical
	// south sketches 5 features, stack
	// north sketches 3 features, stack
	// west sketches 2 features, stack
}

func ExampleErrors() {
	_, err := studyfile.Parse([]byte("cosketch: study/2\nparties: []\nquroum: 2\n"))
	fmt.Println(err.(schema.Errors)[len(err.(schema.Errors))-1])
	// Output:
	// line 3, column 1: quroum: unknown key (did you mean "quorum"?)
}
