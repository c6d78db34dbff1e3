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
    """Result is the document that every party of a study may read, as JSON."""

    # cosketch/result/1
    cosketch: str = key("cosketch")
    # id
    study: str = key("study")
    # name of the study
    name: str = key("name")
    # full, or partial if a member of the roster is not in it
    completeness: str = key("completeness")
    # the second of two rounds lacked a quorum: only what the first round answers
    first_only: bool = key("first_only", absent=True)
    # number of the attempt that gave the seed
    attempt: int = key("attempt")
    # T2 of the agreement, in hexadecimal
    t2: str = key("t2")
    # vertical or horizontal
    partition: str = key("partition")
    # parties whose releases are in it
    parties: tuple[Party, ...] = key("parties", by="-")
    # parties of the study that are not in it
    absent: tuple[str, ...] = key("absent", by="-", of="party")
    # if the sum was masked
    masked: MaskedSum | None = key("masked", absent=True, null=True)
    # guarantee of all sketches of a party together, if there are several with noise
    promise: str = key("promise", absent=True)
    # in the study's order
    sketches: tuple[Sketch, ...] = key("sketches", by="sketch")
    # in the study's order; a further result has only one
    analyses: tuple[Analysis, ...] = key("analyses", by="analysis")


@dataclass(frozen=True, kw_only=True)
class Party(Object):
    """Party is one contribution."""

    # name in the study file
    name: str = key("name")
    # peer id
    id: str = key("id")
    # number of records in its release
    records: int = key("records")
    # id of the release header
    release: str = key("release")
    # size of its sketches as sent
    bytes: int = key("bytes")


@dataclass(frozen=True, kw_only=True)
class MaskedSum(Object):
    """MaskedSum says that the aggregator saw only sums over the parties, and what their guarantee
    assumes."""

    # members whose masks cancelled: all of the attempt
    members: int = key("members")
    # how many of them may collude; the noise of the others protects
    colluding: int = key("colluding")


@dataclass(frozen=True, kw_only=True)
class Sketch(Object):
    """Sketch says how the numbers were made and what was promised for them."""

    # columns, records, moments, cells, codes, counts or look
    side: str = key("side")
    # family of the projection; sums for sides that project nothing: moments, cells, codes, counts and
    # look
    family: str = key("family")
    # k of the projection; for moments the number of features, for cells of directions, for counts of
    # numbers; 0 for codes and look
    k: int = key("k")
    # family sparse only, otherwise 0
    s: int = key("s")
    # resolution of the encoded values
    bits: int = key("bits")
    # attribute or record; empty without a guarantee
    unit: str = key("unit")
    # gaussian, laplace, randomised-response or none
    mechanism: str = key("mechanism")
    # ε of this sketch, per party
    epsilon: float = key("epsilon")
    # δ at which Epsilon holds
    delta: float = key("delta")
    # ε of all of a party's sketches together
    epsilon_per_party: float = key("epsilon_per_party")
    # ε of all releases about one person; null without a guarantee
    epsilon_per_person: float = key("epsilon_per_person", null=True)
    # what the numbers above promise, in words
    statement: str = key("statement")
    # labels sent with it: plain or randomised
    labels: str = key("labels", absent=True)


@dataclass(frozen=True, kw_only=True)
class Analysis(Object):
    """Analysis is one answered question."""

    # kind of analysis, as in the study file
    kind: str = key("kind")
    # index of the study's sketch that answers it
    sketch: int = key("sketch")
    # why there is no answer; then everything below is empty
    undefined: str = key("undefined", absent=True)
    # to be read before the numbers: what they are not about
    caution: str = key("caution", absent=True)
    # estimator of a correlation: E1 or E2
    estimator: str = key("estimator", absent=True)
    # what the numbers assume beside noise and projection, in words
    assumption: str = key("assumption", absent=True)
    # the assumption as codes; absent if it is the usual one of the kind or the estimator
    assumes: tuple[str, ...] = key("assumes", by="-", of="assumes", absent=True)
    # units of the numbers, in words
    units: str = key("units", absent=True)
    # level of the intervals, in the sense of Intervals
    level: float = key("level", absent=True)
    # each: every interval holds by itself; all: all of the analysis hold together
    intervals: str = key("intervals", absent=True)
    # level at which each interval was built, if it is not Level
    each_level: float = key("each_level", absent=True)
    # rows and columns of the matrix of pairs, or what a section is indexed by
    features: tuple[Feature, ...] = key("features", by="i", absent=True)
    # one per pair of features, i ≤ j
    pairs: tuple[Pair, ...] = key("pairs", absent=True)
    # in place of Pairs, if there are more than MostInline features
    dense: Dense | None = key("dense", absent=True, null=True)
    # group-distance: squared distances between the mean records of two parties
    shifts: tuple[Pair, ...] = key("shifts", absent=True)
    # covariance and correlation: the matrix made positive semidefinite
    repaired: Repaired | None = key("repaired", absent=True, null=True)
    # how many records were not sketched unchanged, if they were counted
    cut: Cut | None = key("cut", absent=True, null=True)
    # how records were joined; records side of a vertical study
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
    """Feature names a row and column of a matrix of pairs. Party is empty if the number is about
    the union. For a single record it is the record's name, like 'north/12'."""

    # name of the party
    party: str = key("party", absent=True)
    # name of the column, with its transform
    column: str = key("column", absent=True)
    # value of a categorical column
    value: str = key("value", absent=True)
    # whether values are days since 1970-01-01, shown as dates
    date: bool = key("date", absent=True)


@dataclass(frozen=True, kw_only=True)
class Pair(Object):
    """Pair is the number for features I and J, I ≤ J."""

    # index of one feature
    i: int = key("i")
    # index of the other feature, I or more
    j: int = key("j")
    # null if undefined
    estimate: float = key("estimate", null=True)
    # standard error of projection and noise together
    standard_error: float = key("standard_error", null=True)
    # of the interval for these records
    low: float = key("low", null=True)
    # of the interval for these records
    high: float = key("high", null=True)
    # of the interval for people like these
    population_low: float = key("population_low", absent=True, null=True)
    # of the interval for people like these
    population_high: float = key("population_high", absent=True, null=True)
    # why there is no number
    undefined: str = key("undefined", absent=True)
    # the number as dates, if it is a date
    dates: Dates | None = key("dates", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class Dense(Object):
    """Dense is a table of the numbers of all pairs of an analysis's features, in files beside the
    document. The document names the files by their hashes, so a verified document verifies them
    too. The concatenated parts hold a record for each pair: (0,0), (0,1), … (1,1), (1,2), …,
    without the pairs of a feature with itself if Diagonal is false. A record is a float64 for
    each of Fields and a byte, all little-endian. The byte is 0, or the position in Undefined,
    from 1, of the reason why there is no number; then all fields are NaN."""

    # number of pairs in the table
    pairs: int = key("pairs")
    # whether pairs of a feature with itself are in the table
    diagonal: bool = key("diagonal")
    # fields of a record of the table, in order
    fields: tuple[str, ...] = key("fields", by="-", of="field")
    # reasons, by code from 1
    undefined: tuple[str, ...] = key("undefined", by="code+1", of="reason", absent=True)
    # files of the table, in order
    parts: tuple[Part, ...] = key("parts", by="part")
    # summary of the table
    gist: Gist = key("gist")


@dataclass(frozen=True, kw_only=True)
class Repaired(Object):
    """Repaired is a matrix of estimates made positive semidefinite. It is given beside the
    estimates and does not replace them."""

    # covariance_psd or correlation_psd
    name: str = key("name")
    # what it is and is not
    statement: str = key("statement", absent=True)
    # by Features, in the estimates' units; null if undefined
    matrix: tuple[tuple[float, ...], ...] = key("matrix", by="features,features", of="entry")
    # Frobenius norm of the change from the estimates, in encoded units
    moved: float = key("moved")
    # Frobenius norm of the estimates, in encoded units
    norm: float = key("norm")
    # number of negative eigenvalues of the estimates
    negative: int = key("negative")
    # smallest eigenvalue of the estimates, in encoded units
    least: float = key("least")
    # why there is no matrix
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class Cut(Object):
    """Cut counts the records that are not in a sketch unchanged: they were longer than the clip of
    the study or of their party or, in a standardised sketch of columns, had a value beyond
    three spreads."""

    # their number, with the noise of the count
    records: Number = key("records")
    # number of all records
    of: int = key("of")
    # share from which answers may change by more than .4 of their standard error
    sensible: float = key("sensible")
    # whether their share may be that large
    shortened: bool = key("shortened")
    # whether records with a value beyond three spreads are among them
    beyond: bool = key("beyond")


@dataclass(frozen=True, kw_only=True)
class Joined(Object):
    """Joined says how the rows of several parties' releases became records."""

    # all: records of every party in this result; any: of at least one
    join: str = key("join")
    # number of joined records, which the answer is about
    records: int = key("records")
    # In[i]: number of records in the releases of exactly i+1 parties, joined or not
    in_: tuple[int, ...] = key("in", by="parties+1", of="records")


@dataclass(frozen=True, kw_only=True)
class KMeans(Object):
    """KMeans is the section of k-means."""

    # number of clusters
    clusters: int = key("clusters")
    # number of starts that were tried
    restarts: int = key("restarts")
    # number of records that every party holds, if only these determine the centroids; 0 if all
    # records do
    whole: int = key("whole", absent=True)
    # number of mini-batches, if there are too many records for full iterations
    batches: int = key("batches", absent=True)
    # number of records of each cluster
    sizes: tuple[int, ...] = key("sizes", by="cluster", of="records")
    # inertia, noise included, in squared encoded units
    inertia: float = key("inertia")
    # inertia without the noise: of the records themselves in these clusters
    debiased: Number | None = key("debiased", absent=True, null=True)
    # suggested number of clusters, whatever the study asks for
    suggested: Suggested | None = key("suggested", absent=True, null=True)
    # in the space of the sketch, in encoded units
    centroids: tuple[tuple[float, ...], ...] = key("centroids", by="cluster,coordinate", of="value")
    # quantiles of the rows' squared distances from their centroid, noise included, in encoded units
    distances: tuple[Quantile, ...] = key("distances", by="share")
    # a picture of the clusters
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class Classifier(Object):
    """Classifier is the section of the kinds that predict a label. Its accuracies are about rows
    as released, with their noise, and about the true labels. If only randomised labels are
    known, its numbers are unbiased estimates, and shares and counts may be below zero or above
    the whole. The model is self-contained: a record's coordinates are the entries of its
    unscaled integer sketch times Unit, and Planes give each class a score."""

    # name of the label's column
    column: str = key("column")
    # values of the label
    classes: tuple[str, ...] = key("classes", by="i", of="class")
    # options, as in the study file
    options: str = key("options")
    # plain or randomised
    labels: str = key("labels")
    # randomised labels: the probability of each single wrong class
    other: float = key("other")
    # number of records it was trained on
    records: int = key("records")
    # accuracy of predictions by models that were not trained on the record
    accuracy: Number = key("accuracy")
    # accuracy in each fold
    folds: tuple[float, ...] = key("folds", by="fold", of="accuracy")
    # standard deviation of Folds over the square root of their number
    folds_error: float = key("folds_error")
    # accuracy of always predicting Majority
    baseline: Number = key("baseline")
    # the most frequent class
    majority: str = key("majority")
    # records by true class and predicted class
    confusion: tuple[tuple[float, ...], ...] = key("confusion", by="classes,predicted=classes", of="records")
    # one step of an entry, in encoded units
    unit: float = key("unit")
    # number of coordinates of a record's sketch
    coordinates: int = key("coordinates")
    # one per class; for two classes only one, of the second against the first
    class_planes: tuple[Planes, ...] = key("class_planes", by="class")
    # training stopped before the planes were optimal
    unfinished: bool = key("unfinished", absent=True)
    # planes vote, each as often as Votes says; otherwise there is one per class
    voted: bool = key("voted", absent=True)
    # Margins are quantiles, by class, of the margin: the score of a record's class minus the highest
    # score of any other class. It is above 0 if the class was predicted. Plain labels only.
    margins: tuple[Margins, ...] = key("margins", by="class", absent=True)
    # picture of the records by predicted class
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class PCA(Object):
    """PCA is the section of principal components of the analysis's features."""

    # whether components are of correlations
    scaled: bool = key("scaled")
    # whether components are of covariances or correlations; otherwise of products
    centred: bool = key("centred")
    # from the largest eigenvalue
    components: tuple[Component, ...] = key("components", by="component")
    # columns whose variance does not stand out of its error
    left_out: tuple[Feature, ...] = key("left_out", by="-", absent=True)


@dataclass(frozen=True, kw_only=True)
class Regression(Object):
    """Regression is the section of one regression, in original units. The analysis's features are
    the explaining columns."""

    # the explained column
    target: Feature = key("target")
    # share by which each explaining column's variance was raised; the answers include it
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
    # standard deviation of the residuals, in units of the target
    residual: Number = key("residual")
    # smallest eigenvalue of the correlations of the explaining columns
    condition: Number = key("condition")
    # degrees of freedom of the intervals; 0 for moments, whose intervals are normal
    freedom: float = key("freedom")
    # number of standard errors by which Condition must exceed zero if there is noise
    identified: float = key("identified")
    # residuals of the first rows of the sketch, at most 200
    residuals: tuple[SketchRow, ...] = key("residuals", by="row", absent=True)


@dataclass(frozen=True, kw_only=True)
class Hierarchy(Object):
    """Hierarchy is the section of a clustering of columns, which are the analysis's features."""

    # as the study file has it
    linkage: str = key("linkage")
    # absolute or signed
    distance: str = key("distance")
    # from the lowest to the highest
    merges: tuple[Merge, ...] = key("merges", by="merge")
    # features, ordered so that every cluster is a run of neighbours
    leaves: tuple[int, ...] = key("leaves", by="leaf", of="features")
    # columns without a defined correlation
    left_out: tuple[Feature, ...] = key("left_out", by="-", absent=True)


@dataclass(frozen=True, kw_only=True)
class Sums(Object):
    """Sums is the section of sums and means of columns, in original units."""

    # one per column and set of records
    rows: tuple[SumRow, ...] = key("rows", by="-")


@dataclass(frozen=True, kw_only=True)
class Neighbors(Object):
    """Neighbors is the section of neighbors. Only their parties are told which records are
    neighbours."""

    # number of neighbours of each record
    neighbors: int = key("neighbors")
    # quantiles of the records' squared distances from their nearest neighbour, without the noise
    nearest: tuple[Quantile, ...] = key("nearest", by="share")
    # the same for the last of their neighbours
    farthest: tuple[Quantile, ...] = key("farthest", by="share")
    # share of neighbours that another party holds
    across: float = key("across")
    # what Across would be if the holder of a record made no difference
    unrelated: float = key("unrelated")
    # Edges[i][j]: number of neighbours that records of party i have at party j, by Features
    edges: tuple[tuple[int, ...], ...] = key("edges", by="features,features", of="neighbors")
    # share of the variation of distances that is due to records and not to errors; at least
    # estimate.LeastReliability
    told: float = key("told")
    # why parties get distances without intervals
    unbounded: str = key("unbounded", absent=True)


@dataclass(frozen=True, kw_only=True)
class Outliers(Object):
    """Outliers is the section of outliers. Only their parties are told the scores of records."""

    # number of neighbours that a record was compared with
    neighbors: int = key("neighbors")
    # lof or distance
    score: str = key("score")
    # quantiles of the scores
    quantiles: tuple[Quantile, ...] = key("quantiles", by="share")
    # scores above it stand out
    threshold: float = key("threshold")
    # number of records that stand out, by Features
    above: tuple[int, ...] = key("above", by="features", of="records")
    # number of records that are ranked
    top: int = key("top")
    # number of ranked records of each party, by Features
    ranked: tuple[int, ...] = key("ranked", by="features", of="records")
    # picture of the records; group 1 are those that stand out
    scatter: Scatter | None = key("scatter", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class CellMeans(Object):
    """CellMeans is the section of k-means by cells. A party finds the cluster of each of its
    records by Model itself: no record's label is sent."""

    # number of clusters, as the study asks or as suggested
    clusters: int = key("clusters")
    # number of starts that were tried
    restarts: int = key("restarts")
    # number of clusters that the records seem to have, at least 2; 0 if too few cells stand out, or
    # without moments
    suggested: int = key("suggested")
    # number of cells of the partition
    cells: int = key("cells")
    # number of cells whose counts stand out of the noise; they determine the model, and nothing else
    # here
    kept: int = key("kept")
    # number of records of all parties; the sizes add up to it
    records: int = key("records")
    # level of each interval by itself; intervals cover the noise, given the grouping of cells
    level: float = key("level")
    # by cluster: number of records in its cells, which are the cells nearest to it
    sizes: tuple[Number, ...] = key("sizes", by="cluster")
    # by cluster and feature: means of the records in the cluster's cells, in original units
    centroids: tuple[tuple[Number, ...], ...] = key("centroids", by="cluster,features")
    # squared distance between the centroids of clusters I and J, in encoded units
    separations: tuple[Pair, ...] = key("separations", by="-", of="cluster")
    # over the cells that stand out of the noise: sum of the squared distances between their centroids
    # and the model, each times the cell's records; noise included, in encoded units
    inertia: float = key("inertia")
    # by cluster and feature, in encoded units around the public centre; a record belongs to the
    # nearest cluster
    model: tuple[tuple[float, ...], ...] = key("model", by="cluster,features", of="coordinate")


@dataclass(frozen=True, kw_only=True)
class Number(Object):
    """Number is an estimate with its interval. All four are null if it is undefined. The interval
    is for these records: it covers projection and noise. Numbers that estimate something of the
    population from which the records were drawn have a second interval, for people like these,
    which also covers sampling error."""

    # null if undefined
    estimate: float = key("estimate", null=True)
    # standard error of projection and noise together
    standard_error: float = key("standard_error", null=True)
    # of the interval for these records
    low: float = key("low", null=True)
    # of the interval for these records
    high: float = key("high", null=True)
    # of the interval for people like these
    population_low: float = key("population_low", absent=True, null=True)
    # of the interval for people like these
    population_high: float = key("population_high", absent=True, null=True)
    # why there is no number
    undefined: str = key("undefined", absent=True)
    # the number as dates, if it is a date
    dates: Dates | None = key("dates", absent=True, null=True)


@dataclass(frozen=True, kw_only=True)
class LDA(Object):
    """LDA is the section of the linear discriminant. The analysis's features are the columns that
    distinguish the classes. A party predicts the class of its own records by Model: no record's
    label is sent, and no accuracy is counted."""

    # name of the label's column
    column: str = key("column")
    # values of the label that are distinguished
    classes: tuple[str, ...] = key("classes", by="i", of="class")
    # values of the label that do not stand out of the noise
    left_out: tuple[str, ...] = key("left_out", by="-", of="class", absent=True)
    # columns whose variance within classes does not stand out of its error
    drowned: tuple[Feature, ...] = key("drowned", by="-", absent=True)
    # share of each column's variance by which its variance within classes was raised; scores,
    # distances and accuracies include it
    ridge: float = key("ridge", absent=True)
    # values of categorical columns with which their other values are compared
    reference: tuple[Feature, ...] = key("reference", by="-", absent=True)
    # by class: share of the records
    shares: tuple[Number, ...] = key("shares", by="classes")
    # by class and feature, in original units
    means: tuple[tuple[Number, ...], ...] = key("means", by="classes,features")
    # pooled covariance within classes, in original units
    within: tuple[tuple[float, ...], ...] = key("within", by="features,features", of="covariance")
    # by class except the first, and feature: increase of the score over the first class's, per
    # original unit
    weights: tuple[tuple[Number, ...], ...] = key("weights", by="classes+1,features")
    # distances between each two classes
    apart: tuple[ClassApart, ...] = key("apart", by="-")
    # smallest eigenvalue of the correlations within classes
    condition: Number = key("condition")
    # number of standard errors by which Condition must exceed zero if there is noise
    identified: float = key("identified")
    # by class except the first, whose score is 0: scores in encoded units around the public centre;
    # the class with the highest score is predicted
    model: tuple[Plane, ...] = key("model", by="classes+1,features")


@dataclass(frozen=True, kw_only=True)
class CrossTable(Object):
    """CrossTable counts records by the cells of one column, or of two crossed columns. For one
    column each cell is a row, and there is one column of numbers."""

    # the study's column whose cells are rows
    rows_of: str = key("rows_of")
    # the study's column whose cells are columns
    columns_of: str = key("columns_of", absent=True)
    # number of records of all parties, which is public
    records: int = key("records")
    # cells with fewer records are not shown
    threshold: int = key("threshold", absent=True)
    # cells of the column: its values, ranges of numbers, or (missing)
    rows: tuple[str, ...] = key("rows", by="-", of="row")
    # cells of the other column
    columns: tuple[str, ...] = key("columns", by="-", of="cells", absent=True)
    # by row and column
    cells: tuple[tuple[TableCell, ...], ...] = key("cells", by="rows,columns")
    # Cramér's V, the association of the two columns without missing values: 0 none, 1 complete
    v: Number = key("v", absent=True)
    # rows and columns left out of V, because their records do not stand out of the noise
    left_out: tuple[str, ...] = key("left_out", by="-", of="row", absent=True)


@dataclass(frozen=True, kw_only=True)
class Distribution(Object):
    """Distribution is the distribution of a column's values."""

    # number of records with a value
    present: Number = key("present")
    # in the order in which they were asked for
    quantiles: tuple[QuantileAt, ...] = key("quantiles", by="share")
    # adjacent bars over all bins; empty if the records with a value do not stand out of the noise
    histogram: tuple[Bar, ...] = key("histogram", by="bar")


@dataclass(frozen=True, kw_only=True)
class RecordDistances(Object):
    """RecordDistances is the section of record-distance. Features are the records in this order,
    like 'north/12', and then, if asked for, the parties with whose mean records they are
    compared."""

    # the named records
    records: tuple[ChosenRecord, ...] = key("records", by="i")


@dataclass(frozen=True, kw_only=True)
class Dates(Object):
    """Dates are a number of days since 1970-01-01 and its intervals as dates: the nearest day, and
    intervals widened to whole days. Dates outside the years 1 to 9999 are left out."""

    # the nearest day
    estimate: str = key("estimate", absent=True)
    # of the interval for these records
    low: str = key("low", absent=True)
    # of the interval for these records
    high: str = key("high", absent=True)
    # of the interval for people like these
    population_low: str = key("population_low", absent=True)
    # of the interval for people like these
    population_high: str = key("population_high", absent=True)


@dataclass(frozen=True, kw_only=True)
class Part(Object):
    """Part is a file of PartSize bytes; the last of a table may be smaller."""

    # 64 hexadecimal digits
    sha256: str = key("sha256")
    # its size
    bytes: int = key("bytes")


@dataclass(frozen=True, kw_only=True)
class Gist(Object):
    """Gist is the summary of a dense table for people. It counts pairs of features of different
    parties if several parties have features, and otherwise all pairs of different features."""

    # pairs that were compared
    compared: int = key("compared")
    # pairs whose interval, the second one if there is one, excludes zero
    clear: int = key("clear")
    # pairs without a number
    undefined: int = key("undefined")
    # the clearest pairs: those whose interval's nearer end is farthest from 0, in widths of the
    # interval, on its own side
    clearest: tuple[Pair, ...] = key("clearest", by="-")


@dataclass(frozen=True, kw_only=True)
class Suggested(Object):
    """Suggested is the number of clusters that stands out best."""

    # number of clusters; null if undefined
    clusters: int | None = key("clusters", null=True)
    # largest number that was tried
    most: int = key("most")
    # for 2, 3, … clusters, the index of Calinski and Harabasz without the noise; 0 if clusters do not
    # stand out of it
    index: tuple[float, ...] = key("index", by="clusters+2", of="index")
    # why no number is suggested
    undefined: str = key("undefined", absent=True)


@dataclass(frozen=True, kw_only=True)
class Quantile(Object):
    """Quantile is a value that a share of the values does not exceed."""

    # share of the values that are at most Value
    share: float = key("share")
    # in the units that the list names
    value: float = key("value")


@dataclass(frozen=True, kw_only=True)
class Scatter(Object):
    """Scatter is a picture of records in groups, like clusters: some of the sketched, noised rows
    of each, in the plane of largest variance. It is computed after the release and spends no
    privacy budget. Points show neither party nor position. There is no picture of releases
    without noise: their parties get clusters, not rows."""

    # number of all rows; Points are a sample, spread evenly over each party's rows of a cluster
    of: int = key("of")
    # variance along each axis, as a share of the sample's
    variance: tuple[float, float] = key("variance", by="axis", of="share")
    # sorted by X
    points: tuple[Dot, ...] = key("points", by="point")
    # centroids of the clusters in the same plane; null for other groups
    centres: tuple[tuple[float, float], ...] = key("centres", by="cluster,axis", of="centre")


@dataclass(frozen=True, kw_only=True)
class Planes(Object):
    """Planes distinguish one class from the others. The score of a record x is Weights·x + Bias of
    a single plane. Of several planes each votes by the sign of that, and the score is the
    balance of the votes. The class with the highest score is predicted, the first of several;
    of two classes the second if its score is above 0."""

    # class to which they give a score
    class_: str = key("class")
    # one, or those that vote
    planes: tuple[Plane, ...] = key("planes", by="plane,coordinate")


@dataclass(frozen=True, kw_only=True)
class Margins(Object):
    """Margins are the margins of the records of one class."""

    # class of the records
    class_: str = key("class")
    # quantiles of their margins
    quantiles: tuple[Quantile, ...] = key("quantiles", by="share")


@dataclass(frozen=True, kw_only=True)
class Component(Object):
    """Component is one principal component."""

    # eigenvalue of the estimates; noise may make it negative
    eigenvalue: float = key("eigenvalue")
    # eigenvalue of this rank with its interval; undefined if errors drive it too far from others
    interval: Number = key("interval")
    # share of the sum of all eigenvalues
    share: Number = key("share")
    # by feature; the one of largest magnitude is positive
    loadings: tuple[float, ...] = key("loadings", by="features", of="loading", absent=True)
    # loadings with their intervals; undefined if the component is not separated from its neighbours
    loading_intervals: tuple[Number, ...] = key("loading_intervals", by="features", absent=True)


@dataclass(frozen=True, kw_only=True)
class SketchRow(Object):
    """SketchRow is what a regression says of one row of the sketch: sums, with the random signs of
    that row, of the fitted values, around the origin of the target's column, and of the
    residuals. Both are in units of the target, for one record: divided by the square root of
    the number of records, to four digits. They are nearly normal whatever single records are,
    and include the noise, and records that some party lacks. Rows are computed after the
    release and spend no privacy budget. Releases without noise have none, because nobody is
    told their rows."""

    # what the regression explains of the row
    fitted: float = key("fitted")
    # what the regression leaves of the row
    residual: float = key("residual")


@dataclass(frozen=True, kw_only=True)
class Merge(Object):
    """Merge joins two clusters: features or, numbered after these, earlier merges."""

    # one cluster: a feature's index, or the number of features and the index of an earlier merge
    a: int = key("a", of="features")
    # the other cluster, numbered likewise
    b: int = key("b", of="features")
    # distance at which they merge
    height: float = key("height")
    # upper bound of the standard error of Height
    standard_error: float = key("standard_error")
    # number of features in the merged cluster
    size: int = key("size")
    # whether the height is within its error of the merge above, so the order of the merges is
    # uncertain
    close: bool = key("close", absent=True)


@dataclass(frozen=True, kw_only=True)
class SumRow(Object):
    """SumRow is a column over the records that its party shares with another party, or over all of
    its own."""

    # the column
    feature: int = key("feature", of="features")
    # the other party, or the column's own; empty for the union
    over: str = key("over", absent=True)
    # sum over these records
    sum: Number = key("sum")
    # mean over these records
    mean: Number = key("mean")


@dataclass(frozen=True, kw_only=True)
class ClassApart(Object):
    """ClassApart is the distance between two classes."""

    # index into Classes
    i: int = key("i", of="classes")
    # index of the other class
    j: int = key("j", of="classes")
    # squared distance of the means, in units of the spread within classes
    distance: Number = key("distance")
    # share of the records of both classes that the best score classifies correctly, if values are
    # normal
    accuracy: Number = key("accuracy")


@dataclass(frozen=True, kw_only=True)
class Plane(Object):
    """Plane is one hyperplane."""

    # by coordinate or feature: factors of a record's coordinates in the score
    weights: tuple[float, ...] = key("weights", of="weight")
    # added to the sum
    bias: float = key("bias")
    # number of its votes; voted perceptrons
    votes: int = key("votes", absent=True)


@dataclass(frozen=True, kw_only=True)
class TableCell(Object):
    """TableCell is a cell of such a table."""

    # number of records
    count: Number = key("count")
    # share of its row's records; crossed columns only
    of_row: Number = key("of_row", absent=True)
    # share of its column's records; for one column, of all records
    of_column: Number = key("of_column", absent=True)


@dataclass(frozen=True, kw_only=True)
class QuantileAt(Object):
    """QuantileAt is the value below which a share of the records lies that have one."""

    # share of the records with a value
    share: float = key("share")
    # its interval covers noise and bins; its standard error is that of a normal error with an equally
    # wide interval
    quantile: Number = key("quantile")
    # the interval has no lower end: values lie below the first bin, and Low is the start of what is
    # resolved
    open_low: bool = key("open_low", absent=True)
    # the interval has no upper end: values lie above the last bin, and High is the end of what is
    # resolved
    open_high: bool = key("open_high", absent=True)


@dataclass(frozen=True, kw_only=True)
class Bar(Object):
    """Bar is the number of records in a part of the range."""

    # lower end, in original units; the first bar also counts values below it
    from_: float = key("from")
    # upper end, in original units; the last bar also counts values above it
    to: float = key("to")
    # number of records
    count: Number = key("count")


@dataclass(frozen=True, kw_only=True)
class ChosenRecord(Object):
    """ChosenRecord is a row of a party's release."""

    # name of the party
    party: str = key("party")
    # row, counted from 0
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
