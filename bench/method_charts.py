"""Quality against seconds of learning for each kind of task, by all methods that can do it: docs/pictures/methods.png.

    python bench/method_charts.py GSC DATA OUT.png [SECONDS]     with numpy, scipy and matplotlib

DATA is the folder of the benchmark data. Three tasks:

    picture   House with noise of 25, 256 latents of 8 x 8 patches: PSNR (gsc compare)
    table     5000 data points made by 20 known directions, each on in one of ten: Amari index (gsc compare)
    mixture   1000 samples of seven sources, Sergio7, mixed orthogonally, mean of five mixings: Amari index (gsc separate;
              methods that it does not have: gsc compare)

Every point is a run of its own, of more and more iterations until SECONDS are over. Where other work disturbs the
machine seconds are too many. The JSON of all runs stays beside OUT.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.io import loadmat

METHODS = ("truncated", "exact", "factored", "ksvd", "online", "feature-sign", "beta-process", "beta-variational", "fastica")
COLOURS = dict(zip(METHODS, ("#0072b2", "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000", "#7f7f7f", "#8c510a")))
MARKERS = dict(zip(METHODS, "osD^vP*Xd"))
MIXINGS = 5
STEPS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280)
Curves = dict[str, list[tuple[float, float]]]


def run(program: str, *words: Any) -> None:
    subprocess.run([program, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def compared(program: str, folder: Path, source: Path, methods: str, *words: Any, seconds: float, steps: tuple[int, ...] = STEPS) -> Curves:
    """Who has had SECONDS takes part no more, but for company: two methods are the least that can be compared."""
    curves: Curves = {method: [] for method in methods.split(",")}
    for iterations in steps:
        running = [method for method, points in curves.items() if not points or points[-1][0] < seconds]
        if not running:
            break
        named = list(dict.fromkeys([*running, *curves]))[: max(2, len(running))]
        run(program, "compare", source, "--methods", ",".join(named), "--iterations", iterations, "-o", folder / "out.json", *words)
        for found in json.loads((folder / "out.json").read_text())["methods"]:
            quality = found.get("psnr", found.get("amari"))
            if found["method"] in running and quality is not None:
                curves[found["method"]].append((found["seconds_learning"], quality))
    return curves


def picture(program: str, data: Path, folder: Path, seconds: float) -> Curves:
    methods = "truncated,factored,ksvd,online,feature-sign,beta-process,beta-variational"
    return compared(program, folder, data / "images/house256.png", methods, "--add-noise", 25, "--patch", 8, "--latents", 256,
                    seconds=seconds)


def table(program: str, folder: Path, seconds: float) -> Curves:
    rng = np.random.default_rng(1)
    basis = rng.normal(size=(20, 20))
    basis /= np.linalg.norm(basis, axis=0)
    codes = rng.normal(size=(5000, 20)) * 3 * (rng.random((5000, 20)) < 0.1)
    np.save(folder / "x.npy", codes @ basis.T + 0.1 * rng.normal(size=(5000, 20)))
    np.save(folder / "truth.npy", basis)
    methods = "truncated,factored,ksvd,online,feature-sign,beta-process,beta-variational"
    return compared(program, folder, folder / "x.npy", methods, "--truth", folder / "truth.npy", "--tolerance", 0,
                    seconds=seconds / 4)


def mixture(program: str, data: Path, folder: Path) -> Curves:
    """Least seconds and mean index over mixings. Of separate the first start alone, which for learning is FastICA's."""
    sums: dict[str, list[Any]] = {}
    file = data / "icalab/Sergio7.mat"
    sources = loadmat(file)["source"][:, :1000].astype(float)
    for seed in range(1, MIXINGS + 1):
        for method, steps in (("fastica", (1, 2, 3, 5, 8, 13, 25, 50)), ("exact", (1, 3, 10, 30, 100)), ("factored", (1, 3, 10, 30, 100))):
            restarts = () if method == "fastica" else ("--restarts", 1)
            points = []
            for iterations in steps:
                run(program, "separate", "--sources", file, "--mix", "orthogonal", "--mix-seed", seed, "--samples", 1000, "--method", method,
                    "--iterations", iterations, "--tolerance", 1e-12 if method == "fastica" else 0, "-o", folder / "out", "--metrics",
                    folder / "out.json", *restarts)  # fmt: skip
                metrics = json.loads((folder / "out.json").read_text())
                points.append((metrics["seconds"], 1 if metrics["amari"] is None else metrics["amari"]))
            sums.setdefault(method, []).append(points)
        rng = np.random.default_rng(seed)
        mixing, _ = np.linalg.qr(rng.normal(size=(7, 7)))
        mixed = (mixing @ sources).T
        np.save(folder / "x.npy", mixed / mixed.std())
        np.save(folder / "truth.npy", mixing)
        found = compared(program, folder, folder / "x.npy", "ksvd,online,feature-sign,beta-process", "--truth", folder / "truth.npy",
                         "--tolerance", 0, seconds=float("inf"), steps=(1, 3, 10, 30, 100))  # fmt: skip
        for method, points in found.items():
            sums.setdefault(method, []).append(points)
    return {
        method: [(min(point[0] for point in step), float(np.mean([point[1] for point in step]))) for step in zip(*runs)]
        for method, runs in sums.items()
    }


def draw(tasks: dict[str, tuple[str, Curves]], target: Path) -> None:
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e4e4e4"})
    figure, axes = plt.subplots(1, len(tasks), figsize=(11, 3.9))
    lines = {}
    for panel, (title, (quality, curves)) in zip(axes, tasks.items()):
        for method in METHODS:
            points = curves.get(method)
            if not points:
                continue
            x, y = zip(*points)
            (lines[method],) = panel.plot(x, y, color=COLOURS[method], marker=MARKERS[method], markersize=4, linewidth=1.4, label=method,
                                          markevery=max(1, len(x) // 12))  # fmt: skip
        panel.set(xscale="log", xlabel="seconds of learning", ylabel=quality)
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
        if quality.startswith("Amari"):
            panel.set_ylim(bottom=0)
        else:
            best = max(y for curve in curves.values() for _, y in curve)
            panel.set_ylim(bottom=max(best - 4, min(y for curve in curves.values() for _, y in curve) - 0.1))
    figure.legend([lines[m] for m in METHODS if m in lines], [m for m in METHODS if m in lines], loc="lower center", ncols=9, frameon=False,
                  handlelength=1.6, columnspacing=1.2)  # fmt: skip
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(target, dpi=100)


def main() -> None:
    program, data, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 20
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = {
            "A picture: higher is better": ("PSNR in dB", picture(program, data, folder, seconds)),
            "A table: lower is better": ("Amari index", table(program, folder, seconds)),
            "A mixture: lower is better": ("Amari index", mixture(program, data, folder)),
        }
    target.with_suffix(".json").write_text(json.dumps(tasks))
    draw(tasks, target)
    for title, (_, curves) in tasks.items():
        print(title)
        for method, points in curves.items():
            print(f"  {method:18} ends at {points[-1][1]:7.3f} after {points[-1][0]:7.2f} s")


if __name__ == "__main__":
    main()
