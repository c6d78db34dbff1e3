"""Times the projections of scikit-learn, numpy and scipy, and what scikit-learn and,
where it is there, faiss do with points.

The only argument is the workload as JSON. Prints one JSON object: either why a
package is absent, or versions and the best of several times in seconds.
"""

import json
import platform
import sys
import time
import warnings
from functools import partial

try:
    import numpy
    import scipy
    import sklearn
    from scipy import sparse
    from sklearn.cluster import KMeans
    from sklearn.neighbors import NearestNeighbors
    from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
    from threadpoolctl import threadpool_info, threadpool_limits
except ImportError as error:
    print(json.dumps({"absent": str(error)}))
    sys.exit()

try:
    import faiss
except ImportError:
    faiss = None

workload = json.loads(sys.argv[1])
rng = numpy.random.default_rng(1)
blas = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
blas_threads = max((pool["num_threads"] for pool in blas), default=1)
times = []


def measure(side, task, methods):
    """Times methods in turns, so that what else the machine does slows none in all runs."""
    best = [float("inf")] * len(methods)
    for _ in range(workload["repeat"]):
        for i, (_, threads, run) in enumerate(methods):
            with threadpool_limits(threads):
                began = time.perf_counter()
                run()
                best[i] = min(best[i], time.perf_counter() - began)
    for (method, threads, _), seconds in zip(methods, best):
        times.append({"side": side, "task": task, "method": method, "threads": threads, "seconds": seconds})


def records(task, m, d, k):
    x = rng.random((m, d))
    gaussian = GaussianRandomProjection(k, random_state=1).fit(x)
    few = SparseRandomProjection(k, random_state=1).fit(x)
    r = rng.standard_normal((d, k))
    methods = [
        ("sklearn GaussianRandomProjection", blas_threads, partial(gaussian.transform, x)),
        ("sklearn SparseRandomProjection", 1, partial(few.transform, x)),
        ("numpy float64 product", blas_threads, partial(numpy.matmul, x, r)),
    ]
    if blas_threads > 1:
        methods.append(("numpy float64 product", 1, partial(numpy.matmul, x, r)))
    measure("records", task, methods)


def columns(m, n, k):
    x = rng.random((m, n))
    positions, signs = rng.integers(0, k, m), rng.choice([-1.0, 1.0], m)
    by_record = sparse.csc_matrix((signs, positions, numpy.arange(m + 1)), shape=(k, m))
    by_place = by_record.tocsr()
    measure("columns", 0, [
        ("scipy CSR product, R given", 1, lambda: by_place @ x),
        ("scipy CSC product, R given", 1, lambda: by_record @ x),
    ])


def faiss_neighbors(x, queries, k):
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x)
    index.search(queries, k)


def points(m, d, queries, neighbors, clusters, iterations):
    x, q = rng.standard_normal((m, d)), rng.standard_normal((queries, d))
    search = NearestNeighbors(n_neighbors=neighbors, algorithm="brute")
    nearest = [("sklearn NearestNeighbors brute", blas_threads, lambda: search.fit(x).kneighbors(q))]
    means = KMeans(clusters, n_init=1, max_iter=iterations, tol=0, random_state=1)
    grouped = [("sklearn KMeans", blas_threads, partial(means.fit, x))]
    if faiss:
        x32, q32 = x.astype(numpy.float32), q.astype(numpy.float32)
        threads = faiss.omp_get_max_threads()
        kmeans = faiss.Kmeans(d, clusters, niter=iterations, max_points_per_centroid=m)
        nearest.append(("faiss IndexFlatL2, float32", threads, partial(faiss_neighbors, x32, q32, neighbors)))
        grouped.append(("faiss Kmeans, float32", threads, partial(kmeans.train, x32)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that so few iterations do not converge
        measure("neighbors", 0, nearest)
        measure("clusters", 0, grouped)


for number, shape in enumerate(workload["records"]):
    records(number, **shape)
columns(**workload["columns"])
points(**workload["points"])
print(json.dumps({
    "software": [
        f"Python {platform.python_version()}", f"scikit-learn {sklearn.__version__}",
        f"numpy {numpy.__version__}", f"scipy {scipy.__version__}",
        *([f"faiss {faiss.__version__}"] if faiss else []),
        *([f"{pool['internal_api']} {pool['version']}" for pool in blas] or ["a BLAS without threads"]),
    ],
    "times": times,
}))
