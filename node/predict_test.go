package node_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// What is kept of a seed is destroyed at the date in the study, whoever looks first. What other
// studies keep stays.
func TestKeptKeysGoInTime(t *testing.T) {
	example, err := os.ReadFile("../protocol/study/testdata/hospitals.yaml")
	check(t, err)
	dir := filepath.Join(t.TempDir(), "state")
	check(t, store.Create(dir, store.Party, rand.NewChaCha8([32]byte{1})))
	st, err := store.Open(dir, store.Party, store.Options{})
	check(t, err)
	defer st.Close()
	var studies []*study.Study
	for _, until := range []string{"2027-01-01T00:00:00Z", "2027-06-01T00:00:00Z"} {
		source := strings.Replace(string(example), "deadline:", "new_records_until: "+until+"\ndeadline:", 1)
		s, err := file.Parse([]byte(source))
		check(t, err)
		check(t, st.PutStudy(s.ID, []byte(source), 0))
		check(t, st.PutKept(s.ID, []byte("keys")))
		studies = append(studies, s)
	}
	first, second := studies[0], studies[1]
	there := func(s *study.Study) bool {
		_, err := st.Kept(s.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	check(t, local.ForgetKept(st, first.NewRecords-1))
	if !there(first) || !there(second) {
		t.Fatal("keys went before their time")
	}
	predict := func(s *study.Study, now protocol.Instant) error {
		_, err := local.Predict(t.Context(), source.Options{
			Store: st, Study: s, Site: func() (config.Party, error) { return config.Party{}, errors.New("no site file") },
			Env: node.PartyEnv{Now: func() protocol.Instant { return now }},
		}, []string{"new.csv"})
		return err
	}
	if err := predict(first, first.NewRecords); !errors.Is(err, node.ErrKeptNoMore) {
		t.Errorf("at the date: %v", err)
	}
	if there(first) || !there(second) {
		t.Error("the keys of the study whose date has come are there, or those of the other are gone")
	}
	if err := predict(second, first.NewRecords); err == nil || errors.Is(err, node.ErrNothingKept) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("with a damaged file: %v", err)
	}
	check(t, st.DestroyKept(second.ID))
	if err := predict(second, first.NewRecords); !errors.Is(err, node.ErrNothingKept) {
		t.Errorf("with nothing kept: %v", err)
	}
}
