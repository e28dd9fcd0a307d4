"""Beside other packages, on the same data in one run: seconds, and how well data that was not learned from comes back.

    python bench/python_peers.py [--rst]     with the package installed; spams takes part where it is installed

Patches: a dictionary of 100 atoms is learned from noisy patches, left-out noisy patches are coded, and what the codes stand
for is compared with the clean patches. Mixtures: the Amari index of the mixing found (0 is perfect).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.decomposition import DictionaryLearning, FastICA, MiniBatchDictionaryLearning

import gsc
from gsc.datasets import make_mixture

warnings.filterwarnings("ignore")
ATOMS, NOISE = 100, 0.1
Row = tuple[str, str, str]


def patches(count: int, seed: int) -> Any:
    """8 x 8 patches of edges and stripes with random place, direction and contrast."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:8, :8] - 3.5
    angle, offset, frequency = (rng.uniform(low, high, (count, 1, 1)) for low, high in ((0, np.pi), (-3, 3), (0.3, 1.2)))
    along = x * np.cos(angle) + y * np.sin(angle)
    edges = np.tanh(2 * (along - offset))
    stripes = np.sin(frequency * along + offset) * np.exp(-(along**2) / 18)
    clean = np.where(rng.random((count, 1, 1)) < 0.5, edges, stripes) * rng.uniform(0.3, 1, (count, 1, 1))
    clean = clean.reshape(count, -1)
    return clean - clean.mean(axis=1, keepdims=True)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def dictionaries() -> list[Row]:
    rng = np.random.default_rng(1)
    learn, test = patches(2000, 1), patches(500, 2)
    noisy = learn + rng.normal(0, NOISE, learn.shape)
    seen = test + rng.normal(0, NOISE, test.shape)

    def judged(name: str, estimator: Any, decode: Callable[[Any, Any], Any]) -> Row:
        fitted, seconds = timed(lambda: estimator.fit(noisy))
        found = decode(fitted, fitted.transform(seen))
        return name, f"{seconds:.1f}", f"{10 * np.log10(np.mean(test**2) / np.mean((found - test) ** 2)):.2f}"

    def linear(fitted: Any, codes: Any) -> Any:
        return codes @ fitted.components_

    lasso = {"alpha": NOISE, "random_state": 0, "fit_algorithm": "cd", "transform_algorithm": "lasso_cd",
             "transform_alpha": NOISE}  # fmt: skip
    omp = {**lasso, "transform_algorithm": "omp", "transform_n_nonzero_coefs": 4, "transform_alpha": None}
    rows = [
        judged("gsc SpikeSlabCoding, full EM", gsc.SpikeSlabCoding(ATOMS, max_iter=60, random_state=1),
               lambda fitted, codes: fitted.inverse_transform(codes)),
        judged("gsc SpikeSlabCoding, batch_size=500",
               gsc.SpikeSlabCoding(ATOMS, batch_size=500, max_iter=20, random_state=1),
               lambda fitted, codes: fitted.inverse_transform(codes)),
        judged("scikit-learn MiniBatchDictionaryLearning, lasso", MiniBatchDictionaryLearning(ATOMS, **lasso), linear),
        judged("scikit-learn MiniBatchDictionaryLearning, OMP of 4", MiniBatchDictionaryLearning(ATOMS, **omp), linear),
        judged("scikit-learn DictionaryLearning, lasso, 10 iterations", DictionaryLearning(ATOMS, max_iter=10, **lasso),
               linear),
    ]  # fmt: skip
    try:
        import spams
    except ImportError:
        rows.append(("spams", "-", "not installed"))
        return rows
    columns = np.asfortranarray(noisy.T)
    atoms, seconds = timed(lambda: spams.trainDL(columns, K=ATOMS, lambda1=NOISE, iter=500, verbose=False))
    codes = spams.lasso(np.asfortranarray(seen.T), D=atoms, lambda1=NOISE)
    found = (atoms @ codes).T
    rows.append(("spams trainDL, lasso, 500 batches", f"{seconds:.1f}",
                 f"{10 * np.log10(np.mean(test**2) / np.mean((found - test) ** 2)):.2f}"))  # fmt: skip
    return rows


def mixtures() -> list[Row]:
    rows = []
    for coefficients in ("laplace", "cauchy"):
        for noise in (0.0, 0.5):
            mixture = make_mixture(4000, n_sources=6, coefficients=coefficients, noise=noise, random_state=3)
            for name, estimator in (
                ("gsc SpikeSlabSeparation", gsc.SpikeSlabSeparation(random_state=1, max_iter=100)),
                ("scikit-learn FastICA", FastICA(whiten="unit-variance", random_state=0, max_iter=1000)),
            ):
                fitted, seconds = timed(partial(estimator.fit, mixture.data))
                rows.append((f"{name}, {coefficients}, noise {noise:g}", f"{seconds:.1f}",
                             f"{gsc.amari_index(fitted.mixing_, mixture.mixing):.3f}"))  # fmt: skip
    return rows


def show(title: str, quality: str, rows: list[Row], rst: bool) -> None:
    head: Row = ("", "seconds", quality)
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(3)]
    line = "  ".join("=" * width for width in widths)
    print(f"\n{title}\n{'-' * len(title)}\n" if rst else f"\n{title}\n")
    for i, row in enumerate([head, *rows]):
        if rst and i < 2:
            print(line)
        text = [row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2])]
        print("  ".join([("\\" + text[0][1:]) if rst and i == 0 else text[0], *text[1:]]))
    if rst:
        print(line)


if __name__ == "__main__":
    as_rst = "--rst" in sys.argv
    show("Dictionaries of noisy patches", "dB of left-out patches", dictionaries(), as_rst)
    show("Mixtures of six sources", "Amari index", mixtures(), as_rst)
