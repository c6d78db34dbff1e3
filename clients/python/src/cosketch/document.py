"""The document cosketch/result/1 as typed objects.

A number that may be null is NaN where it is null or absent; the reason stands in ``undefined`` beside it.
Other keys that are absent are 0, empty, or None. Keys that this version does not know are kept in
``unknown`` and change nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


def key(name: str, *, by: str = "", of: str = "", absent: bool = False, null: bool = False) -> Any:
    """A field of the document: its key, what positions mean (see tables.py), and whether it may be absent or null."""
    return field(metadata={"key": name, "by": by, "of": of, "absent": absent, "null": null})


@dataclass(frozen=True, kw_only=True)
class Object:
    """An object of the document."""

    unknown: Mapping[str, Any] = field(default_factory=dict, repr=False)


# What follows is made by go test ./protocol/analysis -run Python -documents from the program's types.


@dataclass(frozen=True, kw_only=True)
class Result(Object):
    """Result is that document, as JSON."""

    # cosketch/result/1
    cosketch: str = key("cosketch")
    # id
    study: str = key("study")
    # of the study
    name: str = key("name")
    # full, or partial when a member of the roster is not in it
    completeness: str = key("completeness")
    # of two rounds, the second lacked a quorum: what the first answers alone
    first_only: bool = key("first_only", absent=True)
    # that gave the seed
    attempt: int = key("attempt")
    # of the agreement, in hexadecimal
    t2: str = key("t2")
    # vertical or horizontal
    partition: str = key("partition")
    # whose releases are in it
    parties: tuple[Party, ...] = key("parties", by="-")
    # listed parties that are not in it
    absent: tuple[str, ...] = key("absent", by="-", of="party")
    # where the sum was masked
    masked: MaskedSum | None = key("masked", absent=True, null=True)
    # of all sketches of a party together, where there are several with noise
    promise: str = key("promise", absent=True)
    # in the study's order
    sketches: tuple[Sketch, ...] = key("sketches", by="sketch")
    # in the study's order; one alone in a further result
    analyses: tuple[Analysis, ...] = key("analyses", by="analysis")


@dataclass(frozen=True, kw_only=True)
class Party(Object):
    """Party is one contribution."""

    # in the study file
    name: str = key("name")
    # peer id
    id: str = key("id")
    # how many are in its release
    records: int = key("records")
    # id of the release header
    release: str = key("release")
    # of its sketches as shipped
    bytes: int = key("bytes")


@dataclass(frozen=True, kw_only=True)
class MaskedSum(Object):
    """MaskedSum says that a result came from sums over the parties, which alone the aggregator
    saw, and what their guarantee assumes."""

    # whose masks cancelled: all of the attempt
    members: int = key("members")
    # of them at most; the noise of the others is what protects
    colluding: int = key("colluding")


@dataclass(frozen=True, kw_only=True)
class Sketch(Object):
    """Sketch says how the numbers came about and what was promised for them."""

    # columns, records, moments, cells or counts
    side: str = key("side")
    # sums: of sides moments, cells and counts
    family: str = key("family")
    # of moments the features, of cells the directions, of counts the numbers
    k: int = key("k")
    # of family sparse, else 0
    s: int = key("s")
    # resolution of the encoded values
    bits: int = key("bits")
    # attribute or record; empty without a guarantee
    unit: str = key("unit")
    # gaussian, laplace, randomised-response or none
    mechanism: str = key("mechanism")
    # of this sketch, per party
    epsilon: float = key("epsilon")
    # at which Epsilon holds
    delta: float = key("delta")
    # of all of a party's sketches together
    epsilon_per_party: float = key("epsilon_per_party")
    # of all releases about one person; null without a guarantee
    epsilon_per_person: float = key("epsilon_per_person", null=True)
    # what the numbers above promise, in words
    statement: str = key("statement")
    # that travel with it: plain or randomised
    labels: str = key("labels", absent=True)


@dataclass(frozen=True, kw_only=True)
class Analysis(Object):
    """Analysis is one answered question."""

    # as the study file has it
    kind: str = key("kind")
    # index of the study's sketch that answered
    sketch: int = key("sketch")
    # why there is no answer; then all below is empty
    undefined: str = key("undefined", absent=True)
    # to be read first: what the numbers are not about
    caution: str = key("caution", absent=True)
    # of correlation: E1 or E2
    estimator: str = key("estimator", absent=True)
    # what the numbers rest on beside noise and projection, in words
    assumption: str = key("assumption", absent=True)
    # the assumption in codes; absent where it is the usual one of the kind, or of the estimator
    assumes: tuple[str, ...] = key("assumes", by="-", of="assumes", absent=True)
    # of the numbers, in words
    units: str = key("units", absent=True)
    # at which the intervals hold, as Intervals says
    level: float = key("level", absent=True)
    # each: by itself; all: all of the analysis together
    intervals: str = key("intervals", absent=True)
    # where it is not Level: the level for which each was built
    each_level: float = key("each_level", absent=True)
    # rows and columns of the matrix of pairs, or what a section counts by
    features: tuple[Feature, ...] = key("features", by="i", absent=True)
    # one a pair of features, i ≤ j
    pairs: tuple[Pair, ...] = key("pairs", absent=True)
    # in the place of Pairs, where there are more than MostInline features
    dense: Dense | None = key("dense", absent=True, null=True)
    # group-distance: squared distance between the mean records of two parties
    shifts: tuple[Pair, ...] = key("shifts", absent=True)
    # of covariance and correlation: the matrix made positive semidefinite
    repaired: Repaired | None = key("repaired", absent=True, null=True)
    # the records that were not sketched as they are, where they were counted
    cut: Cut | None = key("cut", absent=True, null=True)
    # records side of a vertical study
    joined: Joined | None = key("joined", absent=True, null=True)
    # of k-means by records
    k_means: KMeans | None = key("k_means", absent=True, null=True)
    # of perceptron, voted-perceptron, svm and ridge-classification
    classifier: Classifier | None = key("classifier", absent=True, null=True)
    # of pca
    pca: PCA | None = key("pca", absent=True, null=True)
    # of regression
    regression: Regression | None = key("regression", absent=True, null=True)
    # of clustering
    hierarchy: Hierarchy | None = key("hierarchy", absent=True, null=True)
    # of sums
    sums: Sums | None = key("sums", absent=True, null=True)
    # of neighbors
    neighbors: Neighbors | None = key("neighbors", absent=True, null=True)
    # of outliers
    outliers: Outliers | None = key("outliers", absent=True, null=True)
    # of k-means by cells
    cell_means: CellMeans | None = key("cell_means", absent=True, null=True)
    # of mean: by feature
    means: tuple[Number, ...] = key("means", by="features", absent=True)
    # of lda
    lda: LDA | None = key("lda", absent=True, null=True)
    # of table
    tables: tuple[CrossTable, ...] = key("tables", by="table", absent=True)
    # of quantile: by feature
    distributions: tuple[Distribution, ...] = key("distributions", by="features", absent=True)
    # of record-distance
    record_distances: RecordDistances | None = key("record_distances", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class Feature(Object):
    """Feature names a row and column of a matrix of pairs. Party is empty where the number is
    about the union; of a single record it is the record's name, like 'north/12'."""

    # name
    party: str = key("party", absent=True)
    # name, with its transform
    column: str = key("column", absent=True)
    # of a categorical column
    value: str = key("value", absent=True)


@dataclass(frozen=True, kw_only=True)
class Pair(Object):
    """Pair is the number for features I and J, I ≤ J."""

    # index of one feature
    i: int = key("i")
    # index of the other feature, I or more
    j: int = key("j")
    # null where it is undefined
    estimate: float = key("estimate", null=True)
    # of projection and noise together
    standard_error: float = key("standard_error", null=True)
    # of the interval for these records
    low: float = key("low", null=True)
    # of the interval for these records
    high: float = key("high", null=True)
    # of the interval for people like these
    population_low: float = key("population_low", absent=True, null=True)
    # of the interval for people like these
    population_high: float = key("population_high", absent=True, null=True)
    # why
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class Dense(Object):
    """Dense is the numbers of all pairs of an analysis's features, in files beside the document,
    which names them by their hashes: who verified the document need trust nobody for them. The
    parts, one after the other, are a record for each pair: (0,0), (0,1), … (1,1), (1,2), …,
    without the pairs of a feature with itself where Diagonal is false. A record is a float64
    for each of Fields and a byte, all little-endian: 0, or the place in Undefined, from 1, of
    why there is no number; then all fields are NaN."""

    # how many the table has
    pairs: int = key("pairs")
    # whether pairs of a feature with itself are in the table
    diagonal: bool = key("diagonal")
    # of a record of the table, in order
    fields: tuple[str, ...] = key("fields", by="-", of="field")
    # reasons, by code from 1
    undefined: tuple[str, ...] = key("undefined", by="code+1", of="reason", absent=True)
    # of the table, in order
    parts: tuple[Part, ...] = key("parts", by="part")
    # what the table says in short
    gist: Gist = key("gist")


@dataclass(frozen=True, kw_only=True)
class Repaired(Object):
    """Repaired is a matrix of estimates made positive semidefinite. It stands beside the estimates
    and never replaces them."""

    # covariance_psd or correlation_psd
    name: str = key("name")
    # what it is and is not
    statement: str = key("statement", absent=True)
    # by Features, in the estimates' units; null when undefined
    matrix: tuple[tuple[float, ...], ...] = key("matrix", by="features,features", of="entry")
    # Frobenius norm of its difference from the estimates, in encoded units
    moved: float = key("moved")
    # Frobenius norm of the estimates, in encoded units
    norm: float = key("norm")
    # eigenvalues below zero that the estimates have
    negative: int = key("negative")
    # the least eigenvalue of the estimates, in encoded units
    least: float = key("least")
    # why there is no matrix
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class Cut(Object):
    """Cut is how many records are not in a sketch as they are: they were longer than the clip of
    the study or of their party or, in a standardised sketch of columns, had a value beyond
    three spreads."""

    # with the noise of their count
    records: Number = key("records")
    # all records
    of: int = key("of")
    # the share from which it may move answers by more than .4 of their standard error
    sensible: float = key("sensible")
    # whether it may be that many
    shortened: bool = key("shortened")
    # whether records with a value beyond three spreads are among them
    beyond: bool = key("beyond")


@dataclass(frozen=True, kw_only=True)
class Joined(Object):
    """Joined says how the rows of several parties' releases became records."""

    # all: of every party in this result; any: of at least one
    join: str = key("join")
    # that were joined, and that the answer is about
    records: int = key("records")
    # In[i]: records that i+1 parties' releases have, joined or not
    in_: tuple[int, ...] = key("in", by="parties+1", of="records")


@dataclass(frozen=True, kw_only=True)
class KMeans(Object):
    """KMeans is the section of k-means."""

    # how many
    clusters: int = key("clusters")
    # how many starts were tried
    restarts: int = key("restarts")
    # records of every party, which alone say where clusters are; 0 where all do
    whole: int = key("whole", absent=True)
    # mini-batches, where there are too many records for whole iterations
    batches: int = key("batches", absent=True)
    # records of each cluster
    sizes: tuple[int, ...] = key("sizes", by="cluster", of="records")
    # with the noise in it, in squared encoded units
    inertia: float = key("inertia")
    # inertia of the records themselves in these clusters
    debiased: Number | None = key("debiased", absent=True, null=True)
    # how many clusters, whatever the study asks for
    suggested: Suggested | None = key("suggested", absent=True, null=True)
    # in the space of the sketch, in encoded units
    centroids: tuple[tuple[float, ...], ...] = key("centroids", by="cluster,coordinate", of="value")
    # of the rows' squared distances from their centroid, with the noise in them, in encoded units
    distances: tuple[Quantile, ...] = key("distances", by="share")
    # a picture of the clusters
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class Classifier(Object):
    """Classifier is the section of the kinds that predict a label. What it says of accuracy is
    about rows as they were released, with their noise, and about the true labels, also where
    only randomised ones are known: then numbers are unbiased estimates, and parts and counts
    may come out below zero or above all. The model stands by itself: a record's coordinates are
    the entries of its unscaled integer sketch times Unit, and Planes give each class a score."""

    # the label's
    column: str = key("column")
    # its values
    classes: tuple[str, ...] = key("classes", by="i", of="class")
    # as the study file would have them
    options: str = key("options")
    # plain or randomised
    labels: str = key("labels")
    # randomised: the probability of each single class but the true one
    other: float = key("other")
    # that it was trained on
    records: int = key("records")
    # of predictions by models that did not know the record
    accuracy: Number = key("accuracy")
    # accuracy in each fold
    folds: tuple[float, ...] = key("folds", by="fold", of="accuracy")
    # their standard deviation over the root of their number
    folds_error: float = key("folds_error")
    # accuracy of always predicting Majority
    baseline: Number = key("baseline")
    # the most frequent class
    majority: str = key("majority")
    # records by true class and predicted class
    confusion: tuple[tuple[float, ...], ...] = key("confusion", by="classes,predicted=classes", of="records")
    # one step of an entry, in encoded units
    unit: float = key("unit")
    # of a sketch
    coordinates: int = key("coordinates")
    # one a class; for two classes one alone, of the second against the first
    class_planes: tuple[Planes, ...] = key("class_planes", by="class")
    # training was cut off before the planes were the best ones
    unfinished: bool = key("unfinished", absent=True)
    # planes vote, each as often as Votes says; else there is one a class
    voted: bool = key("voted", absent=True)
    # Margins are quantiles, by class, of the score of a record's class less the highest of any other:
    # above 0 where it was predicted. Of plain labels alone.
    margins: tuple[Margins, ...] = key("margins", by="class", absent=True)
    # by predicted class
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class PCA(Object):
    """PCA is the section of principal components. They are of the analysis's features."""

    # of correlations
    scaled: bool = key("scaled")
    # of covariances or correlations, else of products
    centred: bool = key("centred")
    # from the first, which varies most
    components: tuple[Component, ...] = key("components", by="component")
    # columns whose variance does not stand out of its error
    left_out: tuple[Feature, ...] = key("left_out", by="-", absent=True)


@dataclass(frozen=True, kw_only=True)
class Regression(Object):
    """Regression is the section of one regression, in original units. The analysis's features are
    the explaining columns."""

    # the explained column
    target: Feature = key("target")
    # part by which each explaining column's variance was raised; answers are of that regression
    ridge: float = key("ridge", absent=True)
    # explaining columns whose variance does not stand out of its error
    left_out: tuple[Feature, ...] = key("left_out", by="-", absent=True)
    # values of categorical columns with which their other values are compared
    reference: tuple[Feature, ...] = key("reference", by="-", absent=True)
    # by feature: units of the target per unit of the feature
    coefficients: tuple[Number, ...] = key("coefficients", by="features")
    # in units of the target
    intercept: Number = key("intercept")
    # share of the target's variance that is explained
    r_squared: Number = key("r_squared")
    # standard deviation of what is not explained, in units of the target
    residual: Number = key("residual")
    # the least eigenvalue of the correlations of the explaining columns
    condition: Number = key("condition")
    # degrees of freedom of the intervals; 0 of moments, whose intervals are normal
    freedom: float = key("freedom")
    # how many standard errors Condition has to be above zero where there is noise
    identified: float = key("identified")
    # of the first rows of the sketch, at most 200
    residuals: tuple[SketchRow, ...] = key("residuals", by="row", absent=True)


@dataclass(frozen=True, kw_only=True)
class Hierarchy(Object):
    """Hierarchy is the section of a clustering of columns: those of the analysis's features."""

    # as the study file has it
    linkage: str = key("linkage")
    # absolute or signed
    distance: str = key("distance")
    # from the lowest to the highest
    merges: tuple[Merge, ...] = key("merges", by="merge")
    # features, so that every cluster is a run of neighbours
    leaves: tuple[int, ...] = key("leaves", by="leaf", of="features")
    # columns without a defined correlation
    left_out: tuple[Feature, ...] = key("left_out", by="-", absent=True)


@dataclass(frozen=True, kw_only=True)
class Sums(Object):
    """Sums is the section of sums and means of columns, in original units."""

    # one a column
    rows: tuple[SumRow, ...] = key("rows", by="-")


@dataclass(frozen=True, kw_only=True)
class Neighbors(Object):
    """Neighbors is the section of neighbors. Which records are whose neighbours is told to their
    parties alone."""

    # of each record
    neighbors: int = key("neighbors")
    # of the records' squared distances from their nearest neighbour, without the noise
    nearest: tuple[Quantile, ...] = key("nearest", by="share")
    # from the last of their neighbours
    farthest: tuple[Quantile, ...] = key("farthest", by="share")
    # share of neighbours that another party holds
    across: float = key("across")
    # what that share would be if it said nothing who holds a record
    unrelated: float = key("unrelated")
    # Edges[i][j]: neighbours that records of party i have at party j, by Features
    edges: tuple[tuple[int, ...], ...] = key("edges", by="features,features", of="neighbors")
    # share of how distances differ that is of the records and not of errors, at least
    # estimate.ToldApart
    told: float = key("told")
    # why parties are told distances without intervals
    unbounded: str = key("unbounded", absent=True)


@dataclass(frozen=True, kw_only=True)
class Outliers(Object):
    """Outliers is the section of outliers. The scores of records are told to their parties alone."""

    # that a record was compared with
    neighbors: int = key("neighbors")
    # lof or distance
    score: str = key("score")
    # of the scores
    quantiles: tuple[Quantile, ...] = key("quantiles", by="share")
    # scores above it stand out
    threshold: float = key("threshold")
    # how many do, by Features
    above: tuple[int, ...] = key("above", by="features", of="records")
    # records that are ranked
    top: int = key("top")
    # how many of these each party has, by Features
    ranked: tuple[int, ...] = key("ranked", by="features", of="records")
    # those that stand out are group 1
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class CellMeans(Object):
    """CellMeans is the section of k-means where cells answer it. A party tells the cluster of a
    record by Model itself: no record's label travels."""

    # how many, as the study asks or as was suggested
    clusters: int = key("clusters")
    # how many starts were tried
    restarts: int = key("restarts")
    # how many clusters, of 2 or more, the records seem to have; 0 where too few cells do or there are
    # no moments to tell by
    suggested: int = key("suggested")
    # of the partition
    cells: int = key("cells")
    # of them, whose counts stand out of the noise: they choose the model, and have no other part in
    # this
    kept: int = key("kept")
    # of all parties: the sizes add up to it
    records: int = key("records")
    # of each interval by itself: about the noise, with the cells grouped as they are
    level: float = key("level")
    # by cluster: records in its cells, those that lie nearest to it
    sizes: tuple[Number, ...] = key("sizes", by="cluster")
    # by cluster and feature: means of the records in its cells, in original units
    centroids: tuple[tuple[Number, ...], ...] = key("centroids", by="cluster,features")
    # of clusters I and J: squared distance of their centroids, in encoded units
    separations: tuple[Pair, ...] = key("separations", by="-", of="cluster")
    # summed squared distance of cells' centroids from the model, by records, with the noise in it, in
    # encoded units
    inertia: float = key("inertia")
    # by cluster and feature, in encoded units around the public centre: the nearest one's number is a
    # record's cluster
    model: tuple[tuple[float, ...], ...] = key("model", by="cluster,features", of="coordinate")


@dataclass(frozen=True, kw_only=True)
class Number(Object):
    """Number is an estimate with its interval. All four are null when it is undefined. The
    interval is for these records: it covers projection and noise. Numbers that mean something
    of the people whom the records were drawn from have a second one, for people like these,
    which adds the error of the draw."""

    # null where it is undefined
    estimate: float = key("estimate", null=True)
    # of projection and noise together
    standard_error: float = key("standard_error", null=True)
    # of the interval for these records
    low: float = key("low", null=True)
    # of the interval for these records
    high: float = key("high", null=True)
    # of the interval for people like these
    population_low: float = key("population_low", absent=True, null=True)
    # of the interval for people like these
    population_high: float = key("population_high", absent=True, null=True)
    # why
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class LDA(Object):
    """LDA is the section of the linear discriminant. The analysis's features are the columns that
    tell the classes apart. A party predicts the class of its own records by Model: no record's
    label travels, and no accuracy is counted."""

    # the label's
    column: str = key("column")
    # its values that are told apart
    classes: tuple[str, ...] = key("classes", by="i", of="class")
    # those that do not stand out of the noise
    left_out: tuple[str, ...] = key("left_out", by="-", of="class", absent=True)
    # columns whose variance within classes does not stand out of its error
    drowned: tuple[Feature, ...] = key("drowned", by="-", absent=True)
    # part of each column's variance by which that within classes was raised; scores, distances and
    # accuracies are of what comes of it
    ridge: float = key("ridge", absent=True)
    # values of categorical columns with which their other values are compared
    reference: tuple[Feature, ...] = key("reference", by="-", absent=True)
    # by class: of the records
    shares: tuple[Number, ...] = key("shares", by="classes")
    # by class and feature, in original units
    means: tuple[tuple[Number, ...], ...] = key("means", by="classes,features")
    # covariance within classes, pooled, in original units
    within: tuple[tuple[float, ...], ...] = key("within", by="features,features", of="covariance")
    # by class but the first, and feature: how much a score rises over the first class's, per original
    # unit
    weights: tuple[tuple[Number, ...], ...] = key("weights", by="classes+1,features")
    # each two classes
    apart: tuple[ClassApart, ...] = key("apart", by="-")
    # the least eigenvalue of the correlations within classes
    condition: Number = key("condition")
    # how many standard errors Condition has to be above zero where there is noise
    identified: float = key("identified")
    # by class but the first, whose score is 0: scores in encoded units around the public centre; the
    # highest is the class
    model: tuple[Plane, ...] = key("model", by="classes+1,features")


@dataclass(frozen=True, kw_only=True)
class CrossTable(Object):
    """CrossTable is how many records there are by the cells of one column, or of two that are
    crossed. Of one column each cell is a row, and there is one column of numbers."""

    # the study's column whose cells are rows
    rows_of: str = key("rows_of")
    # the one whose cells are columns
    columns_of: str = key("columns_of", absent=True)
    # of all parties, which is public
    records: int = key("records")
    # cells of fewer records are not shown
    threshold: int = key("threshold", absent=True)
    # the cells of the column: its values, ranges of numbers, or (missing)
    rows: tuple[str, ...] = key("rows", by="-", of="row")
    # the same of the other column
    columns: tuple[str, ...] = key("columns", by="-", of="cells", absent=True)
    # by row and column
    cells: tuple[tuple[TableCell, ...], ...] = key("cells", by="rows,columns")
    # Cramér's V, how far the two columns depend on each other: 0 not at all, 1 wholly. Without
    # missing values
    v: Number = key("v", absent=True)
    # rows and columns that V is not over, as their records do not stand out of the noise
    left_out: tuple[str, ...] = key("left_out", by="-", of="row", absent=True)


@dataclass(frozen=True, kw_only=True)
class Distribution(Object):
    """Distribution is how the values of a column are distributed."""

    # records that have a value
    present: Number = key("present")
    # in the order in which they are asked for
    quantiles: tuple[QuantileAt, ...] = key("quantiles", by="share")
    # bars beside each other over all bins; empty where the records that have a value do not stand out
    # of the noise
    histogram: tuple[Bar, ...] = key("histogram", by="bar")


@dataclass(frozen=True, kw_only=True)
class RecordDistances(Object):
    """RecordDistances is the section of record-distance. Features name the records in this order,
    like 'north/12', and then, where it was asked, the parties whose mean records they are
    compared with."""

    # that were named
    records: tuple[ChosenRecord, ...] = key("records", by="i")


@dataclass(frozen=True, kw_only=True)
class Part(Object):
    """Part is a file of PartSize bytes, the last of a table of fewer."""

    # 64 hexadecimal digits
    sha256: str = key("sha256")
    # its size
    bytes: int = key("bytes")


@dataclass(frozen=True, kw_only=True)
class Gist(Object):
    """Gist is what people are shown of a dense table. It counts pairs of different features: of
    different parties' where several have features, else all."""

    # pairs that were compared
    compared: int = key("compared")
    # whose interval, the second one if there is one, is on one side of zero
    clear: int = key("clear")
    # without a number
    undefined: int = key("undefined")
    # those of them whose interval's nearer end is farthest from 0, in widths of it, on its own side
    clearest: tuple[Pair, ...] = key("clearest", by="-")


@dataclass(frozen=True, kw_only=True)
class Suggested(Object):
    """Suggested is how many clusters stand out best."""

    # null when undefined
    clusters: int | None = key("clusters", null=True)
    # that were tried
    most: int = key("most")
    # of 2, 3, … clusters, by Calinski and Harabasz without the noise; 0 where they do not stand out
    # of it
    index: tuple[float, ...] = key("index", by="clusters+2", of="index")
    # why no number is suggested
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class Quantile(Object):
    """Quantile is a value that a share of the values does not exceed."""

    # of the values that are at most this
    share: float = key("share")
    # in the units that the list says
    value: float = key("value")


@dataclass(frozen=True, kw_only=True)
class Scatter(Object):
    """Scatter is a picture of records in groups, like clusters: some of the sketched, noised rows
    of each, in the plane in which those vary most. It comes after release and spends nothing,
    as everything here does. Points carry neither party nor position, and there is no picture of
    releases without noise: of those the parties learn clusters, not rows."""

    # rows in all; Points are a sample, even over each party's rows of a cluster
    of: int = key("of")
    # along each axis, as shares of the sample's
    variance: tuple[float, float] = key("variance", by="axis", of="share")
    # by X
    points: tuple[Dot, ...] = key("points", by="point")
    # the clusters' centroids in the same plane; null of other groups
    centres: tuple[tuple[float, float], ...] = key("centres", by="cluster,axis", of="centre")


@dataclass(frozen=True, kw_only=True)
class Planes(Object):
    """Planes tell one class from the others. The score of a record x is Weights·x + Bias of the
    one plane, or the balance of the votes of several, each by the sign of that. The class with
    the highest score is predicted, the first of several; of two classes the second where its
    score is above 0."""

    # that they give a score
    class_: str = key("class")
    # one, or those that vote
    planes: tuple[Plane, ...] = key("planes", by="plane,coordinate")


@dataclass(frozen=True, kw_only=True)
class Margins(Object):
    """Margins are those of the records of one class."""

    # of the records
    class_: str = key("class")
    # of their margins
    quantiles: tuple[Quantile, ...] = key("quantiles", by="share")


@dataclass(frozen=True, kw_only=True)
class Component(Object):
    """Component is one of them."""

    # of the estimates, as it came out; noise may make it negative
    eigenvalue: float = key("eigenvalue")
    # of that of this rank; undefined where errors drive it too far from others
    interval: Number = key("interval")
    # of the sum of all eigenvalues
    share: Number = key("share")
    # by feature; the largest is positive
    loadings: tuple[float, ...] = key("loadings", by="features", of="loading", absent=True)
    # the loadings with their intervals; undefined where it is not separated from its neighbours
    loading_intervals: tuple[Number, ...] = key("loading_intervals", by="features", absent=True)


@dataclass(frozen=True, kw_only=True)
class SketchRow(Object):
    """SketchRow is what a regression makes of one row of the sketch: sums, with the random signs
    of that row, of what it says of the records' targets, around the origin of their column, and
    of what it leaves. Both are in units of the target, for one record: divided by the root of
    the number of records, to four digits. They are nearly normal whatever single records are;
    the noise, and records that some party lacks, are in them. Rows come after release and spend
    nothing. There are none of releases without noise, whose rows are told to nobody."""

    # what the regression explains of the row
    fitted: float = key("fitted")
    # what it leaves
    residual: float = key("residual")


@dataclass(frozen=True, kw_only=True)
class Merge(Object):
    """Merge joins two clusters: features, or, from their number on, earlier merges."""

    # one cluster: a feature's index, or the number of features and the index of an earlier merge
    a: int = key("a", of="features")
    # the other cluster, in the same way
    b: int = key("b", of="features")
    # distance at which they merge
    height: float = key("height")
    # at most
    standard_error: float = key("standard_error")
    # features in the merged cluster
    size: int = key("size")
    # within its error of the merge above: what belongs together there is not settled
    close: bool = key("close", absent=True)


@dataclass(frozen=True, kw_only=True)
class SumRow(Object):
    """SumRow is a column over the records that its party shares with another one, or over all of
    its own."""

    # the column
    feature: int = key("feature", of="features")
    # the other party, or its own; empty for the union
    over: str = key("over", absent=True)
    # over these records
    sum: Number = key("sum")
    # over these records
    mean: Number = key("mean")


@dataclass(frozen=True, kw_only=True)
class ClassApart(Object):
    """ClassApart says how far two classes are apart."""

    # of Classes
    i: int = key("i", of="classes")
    # index of the other class
    j: int = key("j", of="classes")
    # squared distance of the means in units of the spread within classes
    distance: Number = key("distance")
    # share of the records of the two that the best score puts right, if values are normal
    accuracy: Number = key("accuracy")


@dataclass(frozen=True, kw_only=True)
class Plane(Object):
    """Plane is one hyperplane."""

    # by coordinate or feature: the score is their sum of products with a record's
    weights: tuple[float, ...] = key("weights", of="weight")
    # added to the sum
    bias: float = key("bias")
    # how often it votes, of voted perceptrons
    votes: int = key("votes", absent=True)


@dataclass(frozen=True, kw_only=True)
class TableCell(Object):
    """TableCell is a cell of such a table."""

    # records
    count: Number = key("count")
    # share of the records of its row; of crossed columns
    of_row: Number = key("of_row", absent=True)
    # share of the records of its column; of one column, of all records
    of_column: Number = key("of_column", absent=True)


@dataclass(frozen=True, kw_only=True)
class QuantileAt(Object):
    """QuantileAt is the value below which a share of the records is that have one."""

    # of the records
    share: float = key("share")
    # its interval covers noise and bins; its standard error is that of a normal error with an
    # interval as wide
    quantile: Number = key("quantile")
    # the interval has no lower end: values lie below the first bin, and Low is where that begins to
    # be told
    open_low: bool = key("open_low", absent=True)
    # the interval has no upper end: values lie above the last bin, and High is where that ends to be
    # told
    open_high: bool = key("open_high", absent=True)


@dataclass(frozen=True, kw_only=True)
class Bar(Object):
    """Bar is the records of a part of the range."""

    # in original units; the first bar also has what lies below
    from_: float = key("from")
    # the same; the last bar also has what lies above
    to: float = key("to")
    # records
    count: Number = key("count")


@dataclass(frozen=True, kw_only=True)
class ChosenRecord(Object):
    """ChosenRecord is a row of a party's release."""

    # name
    party: str = key("party")
    # from 0
    row: int = key("row")


@dataclass(frozen=True, kw_only=True)
class Dot(Object):
    """Dot is one point of a picture, to four digits, in encoded units from the sample's mean."""

    # along the first axis
    x: float = key("x")
    # along the second axis
    y: float = key("y")
    # index of its group
    cluster: int = key("cluster", of="classes")
