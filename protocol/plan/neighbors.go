package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofNeighbors() forecaster { return ofTypicalRecords(study.Neighbors) }

func ofOutliers() forecaster { return ofTypicalRecords(study.Outliers) }

// ofTypicalRecords is a kind of analysis that goes by distances of records, and is judged by that of two typical ones.
func ofTypicalRecords(kind study.AnalysisKind) forecaster {
	return forecaster{
		kind: kind, other: map[sketch.Side]erring{sketch.Records: typicalDistance}, asks: once, about: allPlaces, names: unnamed,
		relative: true, single: true,
		measure: "share of the squared distance of two typical records", usable: withinItself,
		worth: func(f judgement) string {
			return "the distance of two typical records errs by " + spanned(f.Chosen.AtBest.StandardError, f.Chosen.AtWorst.StandardError, percent)
		},
		tooWide: "the distance of two records would err by more than itself",
	}
}

// once is the one question of what is about no pair.
func once(_ *cell, a study.Analysis) []question { return []question{{analysis: a}} }

// unnamed is the name of that.
func unnamed(*cell, question) []analysis.Feature { return nil }

// allPlaces are the columns of what depends on all.
func allPlaces(c *cell, _ question) []place { return c.places() }

func typicalDistance(c *cell, _ question) (forecast.Error, error) { return c.distance() }
