"""What the Python package adds to the library's time: a House-sized fit, and calls with one data point.

    python bench/python_overhead.py          with the package installed; GSC_PROGRAM is build/release/bin/gsc unless told

The program measures its own learning (metrics.json), without reading files. Prints ratios of one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from gsc import SpikeSlabCoding

PROGRAM = os.environ.get("GSC_PROGRAM", "build/release/bin/gsc")
LATENTS, ITERATIONS, ROUNDS = 64, 10, 3


def house_sized() -> np.ndarray:
    """As many 8 x 8 patches as a picture of 256 x 256 has, each a sum of few of 96 patterns, plus noise."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(249 * 249, 96)) * (rng.random((249 * 249, 96)) < 0.03)
    return codes @ rng.normal(size=(96, 64)) + rng.normal(0, 0.3, (249 * 249, 64))


def seconds_of_program(folder: Path) -> float:
    subprocess.run(
        [PROGRAM, "fit", folder / "X.npy", "-o", folder / "model.h5", "--latents", str(LATENTS), "--iterations",
         str(ITERATIONS), "--tolerance", "0", "--threads", "1", "--quiet", "--metrics", folder / "metrics.json"],
        check=True,
    )  # fmt: skip
    return float(json.loads((folder / "metrics.json").read_text())["seconds"])


def main() -> None:
    X = house_sized()
    coding = SpikeSlabCoding(LATENTS, max_iter=ITERATIONS, tol=0, n_jobs=1, random_state=1)
    program, package, inside = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", X)
        for _ in range(ROUNDS):  # in turns, so that both meet the same machine
            program.append(seconds_of_program(folder))
            start = time.perf_counter()
            coding.fit(X)
            package.append(time.perf_counter() - start)
            inside.append(float(coding.history_["seconds"].sum()))
    outside = min(whole - iterations for whole, iterations in zip(package, inside, strict=True))
    print(f"fit of {len(X)} x 64, {LATENTS} components, {ITERATIONS} iterations, one thread")
    print(f"  program             {min(program):8.3f} s")
    print(f"  package             {min(package):8.3f} s    {min(package) / min(program):.4f} of the program's")
    print(f"  outside iterations  {outside:8.3f} s    {outside / min(package):.2%} (checks, summary, start, arrays)")

    small = SpikeSlabCoding(8, n_candidates=4, max_active=2, max_iter=2, tol=0, n_jobs=1, random_state=1).fit(X[:500])
    one = X[:1]
    model, texts = small._model(), small._inference_texts()
    from gsc import _core

    for call, name in (
        (lambda: _core.infer(one, model, texts, {"mean"}, 0, False), "bindings"),
        (lambda: small.transform(one), "transform"),
    ):
        times = []
        for _ in range(2000):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        print(f"one data point, {name:9s}  {np.median(times) * 1e6:8.0f} microseconds")


if __name__ == "__main__":
    main()
