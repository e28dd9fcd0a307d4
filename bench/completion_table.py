#!/usr/bin/env python3
"""Matrix completion on a table drawn from a spike-and-slab model, by gsc and by others, one run.

    completion_table.py GSC [ROWS]

GSC is the program. Needs NumPy and scikit-learn. Prints root mean squared errors of the missing values, those that would
be left by the mean of the column, and how many of them lie within two of gsc's deviations; the noise is part of them.
Nobody is told anything but which values are missing; the rank of the SVD and the method and latents of gsc are chosen by
values held out from those observed: the truncated method learns W as it is, the factored one has a prior for it, which
counts where there is little to learn from.
"""

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

D, H, ACTIVE, NOISE = 32, 24, 3.0, 0.5


def table(rows, random):
    basis = random.normal(size=(H, D))
    codes = (random.random((rows, H)) < ACTIVE / H) * random.normal(1.0, 1.0, (rows, H))
    return codes @ basis + NOISE * random.normal(size=(rows, D)) + random.normal(size=D)


def error(filled, truth, where):
    return np.sqrt(np.mean((filled - truth)[where] ** 2))


def by_column_mean(gaps):
    return np.where(np.isnan(gaps), np.nanmean(gaps, axis=0), gaps)


def by_svd(gaps, rank, rounds=60):
    """Fill, keep so many singular values, fill again."""
    missing = np.isnan(gaps)
    mean = np.nanmean(gaps, axis=0)
    filled = np.where(missing, 0, gaps - mean)
    for _ in range(rounds):
        u, s, v = np.linalg.svd(filled, full_matrices=False)
        filled[missing] = ((u[:, :rank] * s[:rank]) @ v[:rank])[missing]
    return filled + mean


def hold_out(gaps, random):
    """One value in twenty of those observed."""
    held = ~np.isnan(gaps) & (random.random(gaps.shape) < 0.05)
    return np.where(held, np.nan, gaps), held


def by_chosen_svd(gaps, random):
    fewer, held = hold_out(gaps, random)
    ranks = (1, 2, 4, 8, 12, 16, 20, 24)
    errors = [error(by_svd(fewer, rank), gaps, held) for rank in ranks]
    rank = ranks[int(np.argmin(errors))]
    return by_svd(gaps, rank), rank


def by_gsc(program, gaps, random):
    fewer, held = hold_out(gaps, random)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def run(data, method, latents):
            np.save(folder / "data.npy", data)
            learn = [program, "fit", "data.npy", "-o", "m.h5", "--missing", "nan", "--latents", str(latents), "--quiet"]
            fill = [program, "infer", "m.h5", "data.npy", "-o", "codes.npz", "--impute", "filled.npy", "--impute-std",
                    "std.npy", "--quiet"]  # fmt: skip
            if method == "truncated":
                learn += ["--restarts", "2", "--iterations", "80"]
                fill += ["--candidates", str(min(latents, 14)), "--max-active", "7"]
            else:
                learn += ["--method", method, "--iterations", "400"]
            for words in (learn, fill):
                subprocess.run(words, cwd=folder, check=True)
            return np.load(folder / "filled.npy"), np.load(folder / "std.npy")

        choices = [(method, latents) for method in ("truncated", "factored") for latents in (8, 16, 24)]
        errors = [error(run(fewer, *choice)[0], gaps, held) for choice in choices]
        choice = choices[int(np.argmin(errors))]
        return *run(gaps, *choice), f"{choice[0]}, {choice[1]}"


def main():
    program = str(Path(sys.argv[1]).resolve())
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    truth = table(rows, np.random.default_rng(1))
    print(f"{rows} rows, {D} columns, {H} basis functions, {ACTIVE:g} active on average, noise {NOISE}\n")
    print("| missing | column mean | SVD (rank) | IterativeImputer | gsc (method, latents) | within two deviations | seconds |")
    print("|---|---|---|---|---|---|---|")
    for part in (0.05, 0.2, 0.4, 0.6, 0.8):
        random = np.random.default_rng(2)
        where = random.random(truth.shape) < part
        gaps = np.where(where, np.nan, truth)
        svd, rank = by_chosen_svd(gaps, np.random.default_rng(3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it would like more rounds
            regression = IterativeImputer(max_iter=20, random_state=0).fit_transform(gaps)
        start = time.time()
        filled, std, chosen = by_gsc(program, gaps, np.random.default_rng(3))
        seconds = time.time() - start
        within = np.mean(np.abs(filled - truth)[where] < 2 * std[where])
        errors = [error(by_column_mean(gaps), truth, where), error(svd, truth, where), error(regression, truth, where)]
        print(
            f"| {100 * part:.0f} % | {errors[0]:.3f} | {errors[1]:.3f} ({rank}) | {errors[2]:.3f} | "
            f"{error(filled, truth, where):.3f} ({chosen}) | {100 * within:.1f} % | {seconds:.0f} |",
            flush=True,
        )


main()
