"""Online dictionary learning beside SPAMS, which comes from its authors: the same noisy picture, the noise told, one core.

    python bench/online_peer.py GSC PICTURE     with spams-bin, numpy and pillow from PyPI

Both learn 256 atoms of 8 x 8 patches without their means, from batches of 512 in two passes, by codes with the least sum
of absolute values whose squared error is D (1.15 sigma)^2; then all patches are coded by orthogonal matching pursuit to
that error and averaged as in K-SVD. Of SPAMS only the calls of its own are counted, of gsc what it reports for learning
and for denoising the patches.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import spams
from PIL import Image

PATCH, ATOMS, BATCH, PASSES, GAIN = 8, 256, 512, 2, 1.15


def psnr(clean: Any, found: Any) -> float:
    return float(10 * np.log10(255**2 / np.mean((np.clip(found, 0, 255) - clean) ** 2)))


def by_spams(noisy: Any, sigma: float) -> tuple[Any, float, float]:
    windows = np.lib.stride_tricks.sliding_window_view(noisy, (PATCH, PATCH))
    rows, cols = windows.shape[:2]
    patches = windows.reshape(-1, PATCH * PATCH)
    means = patches.mean(1, keepdims=True)
    points = np.asfortranarray((patches - means).T)
    bound = PATCH * PATCH * (GAIN * sigma) ** 2
    start = time.perf_counter()
    atoms = spams.trainDL(points, K=ATOMS, mode=1, lambda1=bound, batchsize=BATCH, iter=PASSES * len(patches) // BATCH,
                          numThreads=1, verbose=False)
    learned = time.perf_counter()
    codes = spams.omp(points, atoms, L=PATCH * PATCH // 2, eps=bound, numThreads=1)
    coded = time.perf_counter()
    found = (codes.T.dot(atoms.T) + means).reshape(rows, cols, PATCH, PATCH)
    total, count = np.zeros_like(noisy), np.zeros_like(noisy)
    for r in range(PATCH):
        for c in range(PATCH):
            total[r : r + rows, c : c + cols] += found[:, :, r, c]
            count[r : r + rows, c : c + cols] += 1
    weight = 0.034 * sigma
    return (noisy + weight * total) / (1 + weight * count), learned - start, coded - learned


def by_gsc(program: str, noisy: Any, sigma: float, folder: Path) -> tuple[Any, float, float]:
    source, target, metrics = folder / "noisy.tif", folder / "denoised.tif", folder / "metrics.json"
    Image.fromarray(noisy.astype(np.float32)).save(source)
    subprocess.run([program, "denoise", source, "-o", target, "--method", "online", "--sigma", str(sigma), "--iterations",
                    str(PASSES), "--threads", "1", "--metrics", metrics, "--quiet"], check=True)
    told = json.loads(metrics.read_text())
    found = np.asarray(Image.open(target)).astype(float)
    model = told["models"][0] if "models" in told else told
    return found, model["seconds_learning"], model["seconds_inferring"]


def lasso_seconds(weight: float) -> float:
    """Of SPAMS, for a data point of unit norm, as gsc_bench_lasso prints it."""
    random = np.random.default_rng(1)
    atoms, points = (np.asfortranarray(random.normal(size=(PATCH * PATCH, count))) for count in (ATOMS, 1000))
    atoms /= np.linalg.norm(atoms, axis=0)
    points /= np.linalg.norm(points, axis=0)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        spams.lasso(points, atoms, lambda1=weight, mode=2, numThreads=1)
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)) / points.shape[1]


def main() -> None:
    program, picture = sys.argv[1:]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for weight in (0.15, 0.2, 0.3):
        print(f"spams.lasso, lambda {weight}: {1e6 * lasso_seconds(weight):.1f} us a data point")
    clean = np.asarray(Image.open(picture).convert("L")).astype(float)
    print(f"{'sigma':>5} {'':6} {'PSNR':>6} {'learning':>9} {'coding':>7}")
    for sigma in (15, 25, 50):
        noisy = (clean + np.random.default_rng(1).normal(0, sigma, clean.shape)).astype(np.float32).astype(float)
        with tempfile.TemporaryDirectory() as folder:
            ours = by_gsc(program, noisy, sigma, Path(folder))
        theirs = by_spams(noisy, sigma)
        for name, (found, learning, coding) in (("gsc", ours), ("spams", theirs)):
            print(f"{sigma:5} {name:6} {psnr(clean, found):6.2f} {learning:8.2f}s {coding:6.2f}s")
        print(f"{'':5} gsc / spams, time: {sum(ours[1:]) / sum(theirs[1:]):.2f}", flush=True)


if __name__ == "__main__":
    main()
