"""Times the projections of scikit-learn, numpy and scipy.

The only argument is the workload as JSON. Prints one JSON object: either why a
package is absent, or versions and the best of several times in seconds.
"""

import json
import platform
import sys
import time
from functools import partial

try:
    import numpy
    import scipy
    import sklearn
    from scipy import sparse
    from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
    from threadpoolctl import threadpool_info, threadpool_limits
except ImportError as error:
    print(json.dumps({"absent": str(error)}))
    sys.exit()

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


for number, shape in enumerate(workload["records"]):
    records(number, **shape)
columns(**workload["columns"])
print(json.dumps({
    "software": [
        f"Python {platform.python_version()}", f"scikit-learn {sklearn.__version__}",
        f"numpy {numpy.__version__}", f"scipy {scipy.__version__}",
        *([f"{pool['internal_api']} {pool['version']}" for pool in blas] or ["a BLAS without threads"]),
    ],
    "times": times,
}))
