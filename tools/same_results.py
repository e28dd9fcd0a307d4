#!/usr/bin/env python3
"""Records what the programs compute, so that a change that must not change results can be held against it.

    tools/same_results.py record build/test/bin -o before.json
    (change and build)
    tools/same_results.py record build/test/bin -o after.json
    tools/same_results.py compare before.json after.json

`record` runs the programs of a folder on small data that it makes itself: every method, the options that lead to
code of its own, pictures, mixtures and recordings, with seeds and numbers of threads that are fixed. Of everything
that a run writes or prints there is a digest: figures and options one by one, a model data set by data set, pictures
and arrays as a whole. Times, versions and what the machine has are left out. Runs whose program was not built
(gsc-mpi, gsc-reproduce, gsc-emulated) are skipped.

`compare` says of each run whether it is the same to the bit, and exits with 1 if one is not. A figure, option or
attribute that only one recording has counts, too, unless --allow-names is given.

Recordings are comparable if they come from the same machine, compiler and libraries: another processor rounds
differently. Models are read with h5py; Debian's /usr/bin/python3 has it (python3-h5py).
"""

import argparse
import array
import ast
import hashlib
import io
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

try:
    import h5py
except ImportError:
    h5py = None

DEMO = pathlib.Path(__file__).resolve().parent.parent / "assets" / "demo.png"

# Figures that are times, versions or properties of the machine, or that hang on these.
LEFT_OUT = re.compile(r"(^|[./])(seconds\w*|version|overran|judged_part|bytes|cpu|gpus)(\.|$)")


# The runs: (name, program, options). Files that a run makes are called after it, so later ones can use them.


def fits():
    """gsc fit by truncated EM and by the exact posterior."""
    small = "--latents 10 --candidates 6 --max-active 4 --iterations 8"
    wide = "--latents 40 --candidates 8 --max-active 4 --iterations 4"
    few = "--latents 8 --iterations 6"
    return {
        "scalar": f"bars.npy {small}",
        "one-thread": f"bars.npy {small} --threads 1 --seed 5",
        "three-threads": f"bars.npy {small} --threads 3",
        "diagonal-noise": f"bars.npy {small} --noise diagonal",
        "full-noise": f"bars.npy {small} --noise full",
        "full-slab": f"bars.npy {small} --slab full",
        "full-slab-full-noise": f"bars.npy {small} --slab full --noise full --threads 3",
        "full-slab-diagonal-noise": f"bars.npy {small} --slab full --noise diagonal --precision single",
        "paper": f"bars.npy {small} --slab full --noise full --noise-update paper --slab-update paper "
                 "--intercept none",
        "singleton": f"bars.npy {small} --selection singleton",
        "single": f"bars.npy {small} --precision single",
        "random-start": f"bars.csv {small} --init random --seed 7",
        "no-intercept": f"bars.npy {small} --intercept none",
        "mean-intercept": f"float.npy {small} --intercept mean",
        "known-noise": f"bars.npy {small} --sigma 1.5",
        "wide": f"patches.npy {wide}",
        "wide-single": f"patches.npy {wide} --precision single --noise diagonal --threads 3",
        "wide-singleton": f"patches.npy {wide} --selection singleton --slab full",
        "wide-clustered": f"patches.npy {wide} --partition local",
        "wide-three-threads": f"patches.npy {wide} --threads 3",
        "wide-full": f"patches.npy {wide} --noise full --slab full --threads 3",
        "wide-exact": "patches.npy --latents 10 --iterations 3 --method exact --noise full",
        "exact": f"bars.npy {few} --method exact",
        "exact-full": f"bars.npy {few} --method exact --slab full --noise full --threads 1",
        "exact-single": f"bars.npy {few} --method exact --precision single",
        "batch": f"bars.npy {small} --batch 64 --polish 2",
        "batch-estimated": f"patches.npy {wide} --batch 256 --polish 0 --precision single --threads 3",
        "restarts": f"bars.npy {small} --restarts 3",
        "checkpoint": f"bars.npy {small} --tolerance 0 --checkpoint checkpoint-part.h5 --checkpoint-every 5",
        "resume": "bars.npy --resume checkpoint-part.h5 --iterations 12",
        "checkpoint-batch": f"bars.npy {small} --batch 64 --checkpoint checkpoint-batch-part.h5 --checkpoint-every 3",
        "resume-batch": "bars.npy --resume checkpoint-batch-part.h5 --iterations 12",
        "init-model": "bars.npy --init scalar.h5 --iterations 3 --noise diagonal",
        "gaps": f"gaps.npy {small} --missing nan",
        "gaps-little-memory": f"gaps.npy {small} --missing nan --gap-memory 0",
        "gaps-mask": f"bars.npy {small} --mask mask.npy --noise diagonal --slab full",
        "gaps-sign": f"sign.npy {small} --missing=-99 --precision single --selection singleton",
        "gaps-exact": f"gaps.npy {few} --missing nan --method exact --threads 3",
        "gaps-batch": f"gaps.npy {small} --missing nan --batch 64",
        "gaps-batch-little-memory": f"gaps.npy {small} --missing nan --batch 64 --gap-memory 0",
        "gaps-wide": f"patches.npy {wide} --mask patches-mask.npy",
        "gaps-wide-single": f"patches.npy {wide} --mask patches-mask.npy --noise diagonal --slab full "
                            "--precision single --gap-memory 0 --threads 3",
        "transposed": "sources.npy --transpose --latents 3 --iterations 5 --candidates 3 --max-active 2",
        "config": "bars.npy --config run.toml --iterations 5",
        "windows": "recording.csv --window 16 --hop 5 --latents 6 --iterations 4",
        "windows-gaps": "recording-gaps.csv --window 8 --hop 3 --latents 6 --iterations 4 --missing nan",
    }


def other_fits():
    """gsc fit by the other methods."""
    factored = "--method factored --latents 10 --iterations 12"
    atoms = "--latents 12 --iterations 4"
    return {
        "factored": f"bars.npy {factored}",
        "factored-flat": f"bars.npy {factored} --basis-prior none --shared-prior false --threads 3",
        "factored-smooth": f"bars.npy {factored} --basis-prior gp --shape 5x5",
        "factored-length": f"bars.npy {factored} --basis-prior gp --length-scale 1.5 --sweep-order fixed",
        "factored-diagonal": f"bars.npy {factored} --noise diagonal --threads 1",
        "factored-wide": "patches.npy --method factored --latents 40 --iterations 4",
        "factored-wide-gaps": "patches.npy --mask patches-mask.npy --method factored --latents 40 --iterations 3 "
                              "--threads 3",
        "factored-gaps": f"gaps.npy {factored} --missing nan",
        "factored-gaps-flat": f"gaps.npy {factored} --missing nan --basis-prior none --noise diagonal",
        "factored-gaps-smooth": f"gaps.npy {factored} --missing nan --basis-prior gp",
        "factored-windows": "recording.csv --method factored --window 16 --hop 5 --latents 4 --iterations 4 "
                            "--basis-prior gp",
        "factored-part": f"bars.npy {factored} --checkpoint factored-checkpoint.h5 --checkpoint-every 5",
        "factored-resume": "bars.npy --resume factored-checkpoint.h5 --iterations 15",
        "ksvd": f"bars.npy --method ksvd {atoms} --sigma 1.4",
        "ksvd-approximate": f"bars.npy --method ksvd {atoms} --atom-update approximate --error-gain 1.3 --threads 3",
        "ksvd-counted": "patches.npy --method ksvd --latents 70 --iterations 3 --atoms-per-point 3",
        "ksvd-gaps": f"gaps.npy --method ksvd {atoms} --sigma 1.4 --missing nan",
        "online": f"bars.npy --method online {atoms} --batch 128",
        "online-lambda": f"bars.npy --method online {atoms} --lambda 3 --decay 0.9 --threads 3",
        "online-bounded": f"bars.npy --method online {atoms} --coding bounded --sigma 1.4",
        "online-pursuit": "patches.npy --method online --latents 70 --iterations 2 --coding omp --sigma 10",
        "online-gaps": f"gaps.npy --method online {atoms} --missing nan --batch 100",
        "online-wide-gaps": "patches.npy --mask patches-mask.npy --method online --latents 70 --iterations 1",
        "feature-sign": f"bars.npy --method feature-sign {atoms}",
        "feature-sign-lambda": "patches.npy --method feature-sign --latents 70 --iterations 2 --lambda 30 --threads 3",
        "beta-process": "bars.npy --method beta-process --latents 12 --iterations 12 --burn-in 6",
        "beta-process-chains": "bars.npy --method beta-process --latents 8 --iterations 10 --burn-in 4 --chains 2 "
                               "--usage-prior paper --threads 3",
        "beta-process-gaps": "bars.npy --mask mask.npy --method beta-process --latents 12 --iterations 12 --burn-in 6",
        "beta-variational": "bars.npy --method beta-variational --latents 12 --iterations 12",
        "beta-variational-paper": "patches.npy --method beta-variational --usage-prior paper --latents 40 "
                                  "--iterations 5",
    }


def inferences():
    """gsc infer: MODEL DATA and options; {} is the name of the run."""
    everything = "--variance --states 3 --with-candidates"
    filled = "--impute {}-filled.npy --impute-std {}-std.npy"
    runs = {
        "scalar": f"bars.npy {everything}",
        "diagonal-noise": f"bars.npy {everything} --precision single",
        "full-noise": f"bars.npy {everything} --threads 3",
        "full-slab": f"bars.npy {everything} --selection singleton --candidates 5",
        "full-slab-full-noise": f"bars.npy {everything} --threads 1",
        "exact": "bars.npy --variance --states 4",
        "exact-full": "bars.npy --variance --states 2 --threads 3",
        "wide": f"patches.npy {everything} --max-active 5",
        "wide-single": f"patches.npy {everything}",
        "gaps": f"gaps.npy {everything} {filled}",
        "gaps-mask": f"bars.npy --mask mask.npy {everything} {filled} --denoise-observed",
        "gaps-wide": f"patches.npy --mask patches-mask.npy {filled} --threads 3",
        "gaps-sign": f"sign.npy {filled} --threads 3",
        "gaps-exact": f"gaps.npy --variance --states 2 {filled}",
        "windows": "recording.csv --variance",
        "windows-gaps": "recording-gaps.csv --impute {}-filled.csv",
        "factored": "bars.npy --variance",
        "factored-flat": "bars.npy --variance --threads 3",
        "factored-gaps": f"gaps.npy --variance {filled}",
        "ksvd": "bars.npy",
        "ksvd-gaps": "gaps.npy --impute {}-filled.npy",
        "online": "bars.npy --threads 3",
        "online-lambda": "bars.npy --lambda 6",
        "online-bounded": "bars.npy",
        "online-gaps": "gaps.npy --impute {}-filled.npy",
        "feature-sign": "bars.npy",
        "beta-process": "bars.npy --draws 5 --variance --threads 3",
        "beta-process-gaps": f"bars.npy --mask mask.npy {filled}",
        "beta-variational": "bars.npy --variance",
    }
    return {f"infer-{model}": f"{model}.h5 {options}" for model, options in runs.items()}


def pictures():
    """gsc denoise and gsc inpaint."""
    noisy = "denoise grey.pgm -o {}.png --add-noise 25"
    whole = f"{noisy} --std {{}}.tif --save-model {{}}.h5"
    holes = "inpaint grey.pgm -o {}.png"
    return {
        "denoise-fast": f"{whole} --quality fast --keep-noisy {{}}-noisy.png",
        "denoise-standard": f"{whole} --depth 16",
        "denoise-best": "denoise small.pgm -o {}.tif --depth float --add-noise 25 --quality best --threads 3",
        "denoise-blind": "denoise denoise-fast-noisy.png -o {}.png --quality fast --clean grey.pgm --std {}.tif",
        "denoise-strong": "denoise grey.pgm -o {}.png --add-noise 60 --clip --quality fast --noise-seed 3 --threads 1",
        "denoise-told": f"{noisy} --quality fast --sigma 25 --selection singleton --precision double",
        "denoise-paper": f"{whole} --noise-level learned --patch-mean keep --nonlocal 0 --groups 0 --models 1 "
                         "--latents 32 --iterations 5 --batch 0 --init data",
        "denoise-nonlocal": f"{whole} --nonlocal 2 --groups 0 --models 2 --latents 32 --iterations 4",
        "denoise-colour": "denoise colour.ppm -o {}.png --add-noise 25 --quality fast --std {}.tif",
        "denoise-colour-standard": "denoise colour.ppm -o {}.png --add-noise 25 --iterations 3 --latents 48",
        "denoise-folder": "denoise small.pgm colour.ppm -o {}/ --metrics {}/ --add-noise 15 --quality fast "
                          "--iterations 3 --std {}-std/",
        "denoise-clustered": f"{noisy} --quality fast --partition local --batch 0 --latents 32",
        "denoise-factored": f"{whole} --method factored --iterations 8 --latents 32",
        "denoise-factored-smooth": f"{noisy} --method factored --basis-prior gp --iterations 5 --latents 24",
        "denoise-ksvd": f"{noisy} --method ksvd --iterations 4 --latents 64 --sigma 25",
        "denoise-online": f"{noisy} --method online --latents 64",
        "denoise-online-lasso": f"{noisy} --method online --latents 64 --coding lasso",
        "denoise-feature-sign": f"{noisy} --method feature-sign --iterations 3 --latents 64",
        "denoise-beta-process": f"{whole} --method beta-process --iterations 10 --latents 64",
        "denoise-beta-variational": f"{whole} --method beta-variational --iterations 10 --latents 64",
        "inpaint-dropped": f"{holes} --observe 0.4 --keep-damaged {{}}-damaged.png --std {{}}.tif",
        "inpaint-few": f"{holes} --observe 0.15 --quality fast --mask-seed 2 --threads 3",
        "inpaint-best": "inpaint small.pgm -o {}.png --observe 0.5 --quality best",
        "inpaint-mask": f"{holes} --mask lines.pgm --quality fast --std {{}}.tif",
        "inpaint-deep": f"{holes} --mask hole.pgm --clean grey.pgm",
        "inpaint-noisy": "inpaint denoise-fast-noisy.png -o {}.png --observe 0.6 --denoise-observed --quality fast",
        "inpaint-told": "inpaint denoise-fast-noisy.png -o {}.png --mask lines.pgm --noise-level 25 --quality fast",
        "inpaint-colour": "inpaint colour.ppm -o {}.png --observe 0.4 --quality fast",
        "inpaint-pixels": "inpaint colour.ppm -o {}.png --observe 0.4 --whole-pixels --quality fast --threads 1",
        "inpaint-cube": "inpaint cube.npy -o {}.npy --missing nan --quality fast --std {}-std.npy",
        "inpaint-smooth": f"{holes} --observe 0.4 --groups 0",
        "inpaint-model": f"{holes} --observe 0.3 --learn-from denoise-fast.h5 --quality fast",
    }


def mixtures():
    """gsc separate."""
    experiment = "--sources sources.npy --mix 0.3 --mix-seed 3"
    return {
        "separate": "mixture.npy --restarts 3 --iterations 30 --csv",
        "separate-plain": "mixture.npy --restarts 2 --iterations 30 --whiten off --threads 1",
        "separate-white": "mixture.npy --restarts 2 --iterations 30 --whiten on --init random --noise diagonal",
        "separate-noisy": f"{experiment} --add-noise 0.3 --restarts 2 --iterations 30 --threads 3",
        "separate-truncated": f"{experiment} --restarts 2 --iterations 20 --candidates 2 --max-active 2",
        "separate-factored": f"{experiment} --restarts 2 --iterations 30 --method factored",
        "separate-more": f"{experiment} --restarts 2 --iterations 20 --latents 4",
        "separate-full": "mixture.npy --restarts 2 --iterations 20 --noise full --slab full --normalise",
        "separate-recording": "recording.csv --restarts 2 --iterations 20 --offset 10 --samples 400",
        "separate-fastica": f"{experiment} --method fastica",
        "separate-fastica-cube": f"{experiment} --method fastica --nonlinearity cube --decorrelation deflation",
        "separate-fastica-gauss": "mixture.npy --method fastica --nonlinearity gauss --threads 3 --latents 2",
        "separate-sound": "recording.wav --restarts 2 --iterations 10",
    }


def all_runs():
    """(name, program, ranks, options) of every run, in their order."""
    runs = []

    def add(name, options, program="gsc", ranks=0):
        words = shlex.split(options.replace("{}", name))
        if "--threads" not in words and words[0] not in ("info", "sample", "options-markdown"):
            words += ["--threads", "1" if ranks else "2"]
        runs.append((name, program, ranks, words))

    add("options", "options-markdown")
    for name, options in {**fits(), **other_fits()}.items():
        add(name, f"fit -o {{}}.h5 --metrics - --quiet {options}")
    for name, options in inferences().items():
        add(name, f"infer -o {{}}.npz --metrics - --quiet {options}")
    add("infer-text", "infer scalar.h5 bars.csv -o {}.csv --states 2 --quiet")
    for name, options in {
        "sample-bars": "-o {}.npz --generator bars --latents 10 -n 100 --with-latents --save-model {}-truth.h5",
        "sample-laplace": "-o {}.h5 --generator laplace --latents 4 -n 100 --perturbation 0.2 --with-latents",
        "sample-cauchy": "-o {}.csv --generator cauchy --latents 4 -n 100 --noise-std 0.5 --seed 4",
        "sample-model": "full-slab-full-noise.h5 -o {}.npz -n 100 --with-latents",
        "sample-factored": "factored.h5 -o {}.npy -n 100 --seed 9",
        "sample-sound": "windows.h5 -o {}.wav -n 20",
    }.items():
        add(name, f"sample {options} --quiet")
    for model in ["scalar", "full-slab", "windows", "gaps-sign", "factored-smooth", "ksvd", "beta-process-chains"]:
        add(f"info-{model}", f"info {model}.h5 --json")
    add("info-table", "info bars.npy --json")
    for name, options in pictures().items():
        add(name, options + ("" if "--metrics" in options else " --metrics -") + " --quiet")
    for name, options in mixtures().items():
        add(name, f"separate -o {{}} --quiet {options}")
    for name, options in {
        "compare-truth": "sample-laplace.h5:data --truth sample-laplace.h5:mixing --latents 4 --iterations 6 "
                         "--methods truncated,factored,exact --candidates 3 --max-active 2",
        "compare-table": "bars.npy --latents 12 --iterations 4 --methods truncated,ksvd,online,feature-sign,"
                         "beta-process,beta-variational --burn-in 2",
        "compare-gaps": "gaps.npy --latents 6 --iterations 3 --methods exact,factored,ksvd --missing nan --threads 3",
        "compare-picture": "small.pgm --add-noise 25 --latents 16 --iterations 3 --methods truncated,factored,ksvd",
    }.items():
        add(name, f"compare -o - --quiet {options}")

    # Several processes, and a GPU that is none.
    small = "--latents 10 --candidates 6 --max-active 4 --iterations 6"
    for name, ranks, options in [
        ("mpi", 2, f"fit bars.npy -o {{}}.h5 {small}"),
        ("mpi-three", 3, f"fit patches.npy -o {{}}.h5 {small} --slab full --noise diagonal"),
        ("mpi-global", 2, f"fit patches.npy -o {{}}.h5 {small} --partition global"),
        ("mpi-gaps", 2, f"fit gaps.npy -o {{}}.h5 {small} --missing nan"),
        ("mpi-batch", 2, f"fit bars.csv -o {{}}.h5 {small} --batch 64 --threads 2"),
        ("mpi-restarts", 2, f"fit bars.npy -o {{}}.h5 {small} --restarts 3"),
        ("mpi-factored", 2, "fit bars.npy -o {}.h5 --method factored --latents 10 --iterations 8"),
        ("mpi-local", 2, f"fit patches.npy -o {{}}.h5 {small} --partition local --precision single --threads 2"),
        ("mpi-denoise", 2, "denoise small.pgm -o {}.png --add-noise 25 --quality fast --std {}.tif"),
        ("mpi-separate", 2, "separate mixture.npy -o {} --restarts 3 --iterations 10"),
    ]:
        add(name, options + " --metrics - --quiet", "gsc-mpi", ranks)
    for name, options in {
        "cuda": f"fit bars.npy -o {{}}.h5 {small} --device cuda",
        "cuda-single": f"fit bars.npy -o {{}}.h5 {small} --device cuda:0 --precision single --noise diagonal",
        "cuda-full-noise": f"fit bars.npy -o {{}}.h5 {small} --device cuda --noise full --selection singleton",
        "cuda-exact": "fit bars.npy -o {}.h5 --latents 6 --iterations 4 --method exact --device cuda",
        "cuda-batch": f"fit bars.npy -o {{}}.h5 {small} --batch 100 --device cuda",
        "cuda-wide": "fit patches.npy -o {}.h5 --latents 40 --candidates 8 --max-active 3 --iterations 2 --device cuda",
        "cuda-auto": f"fit bars.npy -o {{}}.h5 {small} --device auto",
        "cuda-infer": "infer wide.h5 patches.npy -o {}.npz --variance --states 2 --with-candidates --device cuda",
        "cuda-denoise": "denoise small.pgm -o {}.png --add-noise 25 --quality fast --std {}.tif --iterations 3 "
                        "--device cuda",
        "cuda-denoise-nonlocal": "denoise small.pgm -o {}.png --add-noise 25 --latents 24 --iterations 2 --nonlocal 1 "
                                 "--groups 1 --models 1 --device cuda",
        "cuda-denoise-auto": "denoise small.pgm -o {}.png --add-noise 25 --quality fast --std {}.tif --device auto",
        "cuda-separate": "separate mixture.npy -o {} --restarts 2 --iterations 6 --device cuda",
    }.items():
        add(name, options + " --metrics - --quiet", "gsc-emulated")
    for name in ["consistency", "posteriors", "separation"]:
        add(f"reproduce-{name}", f"reproduce {name} --quick --trials 1 -o {{}} --quiet", "gsc-reproduce")
    assert len({name for name, *_ in runs}) == len(runs)
    return runs


# The data: made here with a fixed seed, so that no change of the programs changes it.


def write_npy(path, rows, kind="d"):
    """A table, or a cube, of numbers."""
    shape, flat = [len(rows)], rows
    while isinstance(flat[0], list):
        shape.append(len(flat[0]))
        flat = [value for row in flat for value in row]
    header = f"{{'descr': '<f{8 if kind == 'd' else 4}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     array.array(kind, flat).tobytes())


def write_csv(path, rows, names=None):
    text = ",".join(names) + "\n" if names else ""
    path.write_text(text + "".join(",".join("" if math.isnan(x) else repr(x) for x in row) + "\n" for row in rows))


def write_pnm(path, rows):
    """A picture of whole numbers, or of triples of them."""
    colour = isinstance(rows[0][0], tuple)
    values = [value for row in rows for pixel in row for value in (pixel if colour else (pixel,))]
    path.write_bytes(f"P{6 if colour else 5} {len(rows[0])} {len(rows)} 255\n".encode() + bytes(values))


def read_grey_png(path):
    """Rows of a PNG of 8 bits without colour that is not interlaced."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour, *_, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlaced) == (8, 0, 0), path
        if kind == b"IDAT":
            packed += body
        at += size + 12
    raw, rows, above = zlib.decompress(packed), [], bytes(width)
    for y in range(height):
        method, row = raw[y * (width + 1)], bytearray(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left, up, corner = row[x - 1] if x else 0, above[x], above[x - 1] if x else 0
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            row[x] = (row[x] + (0, left, up, (left + up) // 2, nearest)[method]) & 255
        rows.append(row)
        above = row
    return rows


def make_data(folder):
    chance = random.Random(1)
    nan = math.nan

    def normal(scale):
        return round(chance.gauss(0, scale), 4)

    def laplace():
        return chance.choice((-1, 1)) * round(chance.expovariate(1.4), 4)

    bars = []
    for _ in range(2000):
        row = [normal(1.4) for _ in range(25)]
        for bar in range(10):
            if chance.random() < 0.2:
                height = normal(6)
                for i in range(5):
                    row[5 * bar + i if bar < 5 else 5 * i + bar - 5] += height
        bars.append(row)
    gone = [[chance.random() < (0.25 if n % 4 else 0) for _ in row] for n, row in enumerate(bars)]
    write_npy(folder / "bars.npy", bars)
    write_npy(folder / "float.npy", bars, "f")
    write_csv(folder / "bars.csv", bars)
    for name, sign in [("gaps.npy", nan), ("sign.npy", -99.0)]:
        write_npy(folder / name, [[sign if g else x for x, g in zip(*both)] for both in zip(bars, gone)])
    write_npy(folder / "mask.npy", [[float(g) for g in row] for row in gone])

    demo = read_grey_png(DEMO)
    grey = [[demo[80 + y][90 + x] for x in range(96)] for y in range(96)]
    write_pnm(folder / "grey.pgm", grey)
    write_pnm(folder / "small.pgm", [row[10:70] for row in grey[10:66]])
    write_pnm(folder / "colour.ppm", [[(demo[60 + y][40 + x], (demo[60 + y][40 + x] + demo[62 + y][43 + x]) // 2,
                                        255 - demo[60 + y][40 + x]) for x in range(40)] for y in range(36)])
    write_pnm(folder / "lines.pgm", [[255 if (x + 2 * y) % 17 < 3 else 0 for x in range(96)] for y in range(96)])
    write_pnm(folder / "hole.pgm", [[255 if abs(x - 30) < 11 and abs(y - 34) < 10 else 0 for x in range(96)]
                                    for y in range(96)])
    write_npy(folder / "cube.npy", [[[nan if chance.random() < 0.4 else demo[y + b][x + b] * (1 + 0.2 * b)
                                      for b in range(5)] for x in range(30)] for y in range(28)])
    patches = []
    for _ in range(12000):
        y, x = chance.randrange(248), chance.randrange(248)
        values = [demo[y + i // 8][x + i % 8] + normal(10) for i in range(64)]
        mean = sum(values) / 64
        patches.append([round(value - mean, 4) for value in values])
    write_npy(folder / "patches.npy", patches)
    write_npy(folder / "patches-mask.npy", [[float(n % 3 > 0 and chance.random() < 0.3) for _ in range(64)]
                                            for n in range(len(patches))])

    sources = [[laplace() for _ in range(1000)] for _ in range(3)]
    mixing = [[1, 0.4, -0.3], [0.2, 1, 0.5], [-0.4, 0.3, 1]]
    write_npy(folder / "sources.npy", sources)
    write_npy(folder / "mixture.npy", [[sum(a * s[t] for a, s in zip(row, sources)) for t in range(1000)]
                                       for row in mixing])
    samples = [[round(0.3 * math.sin(t / 3) * math.sin(t / 40) ** 8, 6) + normal(0.01),
                round(0.3 * math.cos(t / 5) * math.cos(t / 31) ** 8, 6) + normal(0.01)] for t in range(800)]
    (folder / "run.toml").write_text('seed = 3\nlatents = 9\n[fit]\nnoise = "diagonal"\nmax_active = 3\n'
                                     'selection = "singleton"\nprecision = "single"\n')
    names = ["time", "Fz", "Cz"]
    write_csv(folder / "recording.csv", [[t / 250, *row] for t, row in enumerate(samples)], names)
    write_csv(folder / "recording-gaps.csv", [[t / 250, *(nan if chance.random() < 0.1 else x for x in row)]
                                              for t, row in enumerate(samples)], names)
    sound = array.array("h", [int(32000 * x) for row in samples for x in row]).tobytes()
    (folder / "recording.wav").write_bytes(
        b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " +
        struct.pack("<IHHIIHH", 16, 1, 2, 8000, 32000, 4, 16) + b"data" + struct.pack("<I", len(sound)) + sound)


# What a run left behind.


def digest(data):
    return hashlib.sha256(data).hexdigest()


def of_numbers(values, shape):
    """Of an array of numbers: a digest, and for those who look for a difference its shape and its sum."""
    return f"{digest(values.tobytes())} {'x'.join(map(str, shape))} {values.typecode} sum {float(sum(values))!r}"


def of_npy(data):
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    kind = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q"}.get(header["descr"])
    if kind is None or header["fortran_order"]:
        return digest(data)
    return of_numbers(array.array(kind, data[10 + size:]), header["shape"])


def of_h5(path):
    """Every data set and attribute."""
    if h5py is None:
        return {}
    found = {}

    def keep(name, value):
        if LEFT_OUT.search(name.replace("@", "/")):
            return
        if hasattr(value, "dtype") and value.dtype.kind in "fiu" and value.size > 1:
            found[name] = (f"{digest(value.tobytes())} {'x'.join(map(str, value.shape))} {value.dtype.str} "
                           f"sum {float(value.sum())!r}")
        else:
            found[name] = repr(value.tolist() if hasattr(value, "tolist") else value)

    def visit(name, item):
        for attribute, value in item.attrs.items():
            keep(f"{name}@{attribute}", value)
        if isinstance(item, h5py.Dataset):
            keep(name, item[()])

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    return found


def of_json(text):
    """Every figure; long lists as a digest."""
    found = {}

    def walk(name, value):
        if LEFT_OUT.search(name):
            return
        if isinstance(value, list) and len(value) > 8 and not any(isinstance(x, (list, dict)) for x in value):
            found[name] = f"{digest(repr(value).encode())} {len(value)} values, the last {value[-1]!r}"
        elif isinstance(value, (list, dict)) and value:
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                walk(f"{name}.{key}" if name else str(key), item)
        else:
            found[name] = repr(value)  # of a float the shortest that is it to the bit

    walk("", json.loads(text))
    return found


def of_file(path):
    data = path.read_bytes()
    if path.suffix == ".npy":
        return of_npy(data)
    if path.suffix == ".npz":
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            return {name: of_npy(members.read(name)) for name in members.namelist()}
    if path.suffix == ".h5":
        return of_h5(path)
    if path.suffix == ".json":
        return of_json(data)
    return digest(data)


# Recording.


def environment():
    """The caller's, without what chooses threads; Open MPI on this machine alone, as root, too."""
    kept = {name: value for name, value in os.environ.items() if not re.match(r"(OMP|OPENBLAS|GSC)_", name)}
    return {**kept, "LC_ALL": "C", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm_rsh_agent": "/bin/false", "HWLOC_HIDE_ERRORS": "2"}


def files_of(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


def run_one(programs, folder, program, ranks, words):
    """What a run printed and wrote, or why it was skipped."""
    command = [str(programs / program), *words]
    if not (programs / program).exists():
        return {"skipped": f"there is no {program}"}
    if ranks:
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            return {"skipped": "there is no mpirun"}
        command = [mpirun, "--oversubscribe", "-n", str(ranks), *command]
    before = files_of(folder)
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    results = {}
    if done.stdout:
        results["stdout"] = of_json(done.stdout) if done.stdout.startswith("{") else digest(done.stdout.encode())
    for path in sorted(files_of(folder) - before):
        if path.suffix not in (".html", ".trials"):  # these have times in their text
            results[str(path.relative_to(folder))] = of_file(path)
    run = {"code": done.returncode, "results": results}
    if done.returncode != 0:
        run["message"] = done.stderr.strip()[-300:]
    return run


def record(programs, output, keep):
    if h5py is None:
        print("h5py is not installed: models are left out", file=sys.stderr)
    runs, begin, bad = {}, time.monotonic(), 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            sys.exit(f"{folder} is not empty")
        make_data(folder)
        for name, program, ranks, words in all_runs():
            start = time.monotonic()
            run = run_one(programs, folder, program, ranks, words)
            runs[name] = {"command": " ".join([program, *words]), **run}
            word = run.get("skipped") or run.get("message") or ""
            bad += "message" in run
            print(f"{time.monotonic() - start:6.2f} s  {name}  {word}".rstrip(), file=sys.stderr)
    output.write_text(json.dumps({"models": h5py is not None, "runs": runs}, indent=1) + "\n")
    print(f"{len(runs)} runs in {time.monotonic() - begin:.0f} s, {bad} failed, "
          f"{sum('skipped' in run for run in runs.values())} skipped: {output}", file=sys.stderr)
    return 1 if bad else 0


# Comparing.


def short(value):
    return re.sub(r"\b([0-9a-f]{8})[0-9a-f]{56}\b", r"\1...", str(value))


def differences(one, other):
    """(text, whether only a name is new or gone) of all that differs between two runs."""
    for key in ("skipped", "code", "message"):
        if one.get(key) != other.get(key):
            yield f"{key}: {one.get(key)} | {other.get(key)}", False
    a, b = one.get("results", {}), other.get("results", {})
    for output in sorted({**a, **b}):
        if output not in a or output not in b:
            yield f"{output}: {'removed' if output in a else 'added'}", False
            continue
        x, y = a[output], b[output]
        if not (isinstance(x, dict) and isinstance(y, dict)):
            if x != y:
                yield f"{output}: {short(x)} | {short(y)}", False
            continue
        for name in sorted({**x, **y}):
            word = name.lstrip("/@")
            figure = "@" in name or output == "stdout" or output.endswith(".json")
            if name not in y:
                yield f"{output} {word}: removed (was {short(x[name])})", figure
            elif name not in x:
                yield f"{output} {word}: added ({short(y[name])})", figure
            elif x[name] != y[name]:
                yield f"{output} {word}: {short(x[name])} | {short(y[name])}", False


def compare(one, other, allow_names, most):
    a, b = (json.loads(path.read_text()) for path in (one, other))
    if a["models"] != b["models"]:
        print("only one of the recordings has models: h5py was missing for the other")
    count = {"same": 0, "differs": 0, "missing": 0}
    for name in {**a["runs"], **b["runs"]}:
        if name not in a["runs"] or name not in b["runs"]:
            verdict, lines = "missing", [f"only in {one if name in a['runs'] else other}"]
        else:
            found = list(differences(a["runs"][name], b["runs"][name]))
            lines = [text for text, _ in found]
            verdict = "differs" if any(not (allow_names and figure) for _, figure in found) else "same"
        count[verdict] += 1
        skipped = a["runs"].get(name, {}).get("skipped") if verdict == "same" else None
        print(f"{verdict:8} {name}" + (f"  (skipped in both: {skipped})" if skipped else ""))
        for line in lines[:most]:
            print(f"           {line}")
        if len(lines) > most:
            print(f"           ... and {len(lines) - most} more")
    print(", ".join(f"{number} {verdict}" for verdict, number in count.items()))
    return 1 if count["differs"] or count["missing"] or a["models"] != b["models"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the programs of a folder and write what they computed")
    recording.add_argument("programs", type=pathlib.Path, metavar="BUILD_BIN_FOLDER")
    recording.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="FILE.json")
    recording.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="an empty folder, to look at the files")
    comparing = commands.add_parser("compare", help="say which runs differ, and in what")
    comparing.add_argument("one", type=pathlib.Path, metavar="FILE_A.json")
    comparing.add_argument("other", type=pathlib.Path, metavar="FILE_B.json")
    comparing.add_argument("--allow-names", action="store_true",
                           help="figures, options and attributes that only one has do not count")
    comparing.add_argument("--most", type=int, default=12, metavar="N", help="differences to print of each run")
    arguments = parser.parse_args()
    if arguments.command == "record":
        if not (arguments.programs / "gsc").exists():
            parser.error(f"there is no gsc in {arguments.programs}")
        return record(arguments.programs.resolve(), arguments.output, arguments.keep)
    return compare(arguments.one, arguments.other, arguments.allow_names, arguments.most)


if __name__ == "__main__":
    sys.exit(main())
