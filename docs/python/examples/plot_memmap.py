"""
Data larger than memory
=======================

Two ways: ``fit`` reads a memory-mapped array block by block, and ``partial_fit`` learns from pieces as they come.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gsc import SpikeSlabCoding
from gsc.datasets import make_bars

# %%
# A file of float32, written piece by piece. Nothing of its size is ever in memory here.
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "large.npy"
large = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(100_000, 64))
truth = make_bars(100_000, n_bars=16, random_state=1)
for first in range(0, 100_000, 10_000):
    large[first : first + 10_000] = truth.data[first : first + 10_000]
large.flush()

# %%
# Pieces of 5000 data points, an M-step after every 500.
X = np.load(path, mmap_mode="r")
test = np.asarray(X[-2000:])
coding = SpikeSlabCoding(16, n_candidates=8, max_active=4, batch_size=500, random_state=2)
scores = []
for first in range(0, 98_000, 5000):
    coding.partial_fit(X[first : min(first + 5000, 98_000)])
    scores.append(coding.score(test))
print(f"{coding.n_samples_seen_} data points seen, noise {coding.noise_variance_ ** 0.5:.2f} (true {truth.noise_variance ** 0.5:.2f})")

# %%
# The same array given to ``fit`` whole: it is not copied either.
whole = SpikeSlabCoding(16, n_candidates=8, max_active=4, batch_size=500, max_iter=4, tol=0, random_state=2).fit(X[:98_000])
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(np.arange(1, len(scores) + 1) * 5000, scores, marker=".", label="partial_fit")
axes.axhline(whole.score(test), color="C1", label="fit, four passes")
axes.set_xlabel("data points seen")
axes.set_ylabel("log-likelihood a data point, left-out data")
axes.legend()
del X, large
folder.cleanup()
