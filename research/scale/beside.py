"""Times what scikit-learn and faiss do with as many points as a study that was played.

Arguments: rows, columns, clusters, vectors, and a directory for the points. They lie in a file of float32 that is
mapped: the clusters are found by mini-batches over all of them, as MiniBatchKMeans does in its first epoch; faiss
searches them block by block, and exactly. Prints steps as JSON, or which package is absent.
"""

import json
import os
import resource
import sys
import time

try:
    import faiss
    import numpy
    from sklearn.cluster import MiniBatchKMeans
except ImportError as error:
    print(json.dumps({"absent": str(error)}))
    sys.exit()

rows, columns, clusters, vectors = (int(a) for a in sys.argv[1:5])
path = os.path.join(sys.argv[5], "points.f32")
rng = numpy.random.default_rng(1)
block = 1 << 16
centres = 80 * rng.random((clusters, columns), dtype=numpy.float32)
points = numpy.memmap(path, dtype=numpy.float32, mode="w+", shape=(rows, columns))
for start in range(0, rows, block):
    here = points[start : start + block]
    here[:] = centres[rng.integers(clusters, size=len(here))] + 5 * rng.standard_normal(here.shape, dtype=numpy.float32)
points.flush()
steps = []


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def step(what, run):
    began = time.perf_counter()
    run()
    steps.append({"what": what, "seconds": time.perf_counter() - began, "resident_bytes": peak()})


def cluster():
    model = MiniBatchKMeans(clusters, batch_size=1 << 14, random_state=1, n_init=3)
    for start in range(0, rows, 1 << 14):
        model.partial_fit(points[start : start + (1 << 14)])
    for start in range(0, rows, block):
        model.predict(points[start : start + block])


def search():
    queries = numpy.array(points[:vectors])
    found = faiss.ResultHeap(vectors, 10)
    for start in range(0, rows, block):
        distances, index = faiss.knn(queries, numpy.ascontiguousarray(points[start : start + block]), 10)
        found.add_result(distances, index + start)
    found.finalize()


step("scikit-learn: MiniBatchKMeans, one epoch, and its labels", cluster)
step("faiss: 10 nearest, exactly", search)
print(json.dumps({"steps": steps}))
