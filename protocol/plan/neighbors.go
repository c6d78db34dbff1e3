package plan

import (
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

func ofNeighbors() forecaster { return ofTypicalRecords(study.Neighbors) }

func ofOutliers() forecaster { return ofTypicalRecords(study.Outliers) }

// ofTypicalRecords is a kind of analysis of distances between records. It is judged by the distance
// of two typical records.
func ofTypicalRecords(kind study.AnalysisKind) forecaster {
	return forecaster{
		kind: kind, other: map[sketch.Side]errorFunc{sketch.Records: typicalDistance}, asks: once, about: allPlaces, names: unnamed,
		relative: true, single: true,
		measure: "share of the squared distance of two typical records", usable: withinItself,
		worth: func(f judgement) string {
			return "the squared distance of two typical records has a standard error of " + spanned(f.Chosen.AtBest.StandardError, f.Chosen.AtWorst.StandardError, percent)
		},
		tooWide: "the standard error of the distance of two typical records would exceed that distance",
	}
}

// once returns the only question of an analysis that is not about pairs.
func once(_ *cell, a study.Analysis) []question { return []question{{analysis: a}} }

// unnamed returns no names, for such a question.
func unnamed(*cell, question) []analysis.Feature { return nil }

// allPlaces is for answers that depend on all columns.
func allPlaces(c *cell, _ question) []place { return c.places() }

func typicalDistance(c *cell, _ question) (forecast.Error, error) { return c.distance() }
