"""What the tests share."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gsc import SpikeSlabCoding
from gsc.datasets import make_bars

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def bars():
    return make_bars(600, n_bars=10, random_state=1)


@pytest.fixture(scope="session")
def X(bars):
    return bars.data


@pytest.fixture(scope="session")
def coding(X):
    return SpikeSlabCoding(10, n_candidates=5, max_active=4, tol=1e-4, random_state=1, n_jobs=1).fit(X)


@pytest.fixture(scope="session")
def program():
    """The program; a function that runs it."""
    builds = [ROOT / "build" / preset / "bin/gsc" for preset in ("test", "release")]
    path = Path(os.environ.get("GSC_PROGRAM") or next(filter(Path.exists, builds), builds[0]))
    if not path.exists():
        pytest.skip("the program is not built")

    def run(*words):
        subprocess.run([path, *map(str, words), "--quiet"], check=True, timeout=120)

    return run


def parameters_of(estimator):
    """All that was learned, as arrays."""
    names = ("components_", "activation_probability_", "slab_mean_", "slab_covariance_", "intercept_", "noise_variance_")
    return {name: np.asarray(getattr(estimator, name)) for name in names}
