"""FastICA beside scikit-learn's, from the same start on the same mixtures in one run: seconds, and their ratio.

    python bench/fastica_peers.py build/release/bin/gsc     where scikit-learn is installed

Seconds are of the fit alone, without reading and writing files: `seconds` of the metrics, and around fit(). Both stop at
the same tolerance, and the sources must be the same to 1e-6 where both have converged.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.decomposition import FastICA

warnings.filterwarnings("ignore")
FUNCTIONS = {"tanh": "logcosh", "cube": "cube", "gauss": "exp"}


def best_of(runs, work):
    """The shortest of several runs: the machine may be busy with others."""
    return min((work() for _ in range(runs)), key=lambda pair: pair[0])


def compare(path, sources, samples, nonlinearity):
    rng = np.random.default_rng(1)
    mixture = rng.normal(size=(sources, sources)) @ rng.laplace(size=(sources, samples))
    start, _ = np.linalg.qr(rng.normal(size=(sources, sources)))
    peer = FastICA(sources, fun=FUNCTIONS[nonlinearity], whiten="unit-variance", w_init=start, tol=1e-6, max_iter=1000)

    def theirs():
        before = time.perf_counter()
        found = peer.fit_transform(np.ascontiguousarray(mixture.T)).T
        return time.perf_counter() - before, found

    peer_seconds, found = best_of(5, theirs)
    np.save(path / "mix.npy", mixture)
    np.save(path / "start.npy", np.linalg.pinv(start @ peer.whitening_))

    def ours():
        subprocess.run([sys.argv[1], "separate", path / "mix.npy", "-o", path / "out", "--method", "fastica", "--init",
                        path / "start.npy", "--nonlinearity", nonlinearity, "--tolerance", "1e-6", "--channels-in", "rows",
                        "--quiet"], check=True)  # fmt: skip
        metrics = json.loads((path / "out/metrics.json").read_text())
        return metrics["seconds"], metrics["iterations"]

    seconds, iterations = best_of(5, ours)
    difference = np.abs(np.abs(np.load(path / "out/sources.npy")) - np.abs(found)).max()
    assert difference < 1e-6, difference
    print(f"{sources:3d} sources {samples:7d} samples {nonlinearity:5s} {iterations:3d} and {peer.n_iter_:3d} iterations"
          f"  gsc {seconds:.4f} s  scikit-learn {peer_seconds:.4f} s  ratio {seconds / peer_seconds:.2f}")  # fmt: skip


with tempfile.TemporaryDirectory() as folder:
    for sources, samples in ((4, 500), (10, 5000), (20, 20000), (10, 200000)):
        for nonlinearity in FUNCTIONS:
            compare(pathlib.Path(folder), sources, samples, nonlinearity)
