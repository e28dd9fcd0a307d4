"""Callbacks and Ctrl-C."""

import signal
import threading

import numpy as np
import pytest
from conftest import parameters_of

import gsc

BIG = np.random.default_rng(0).normal(size=(60_000, 64))
LONG = {
    "fit": lambda: gsc.SpikeSlabCoding(64, max_iter=10**6, tol=0).fit(BIG),
    "factored": lambda: gsc.SpikeSlabCoding(64, method="factored", max_iter=10**6, tol=0).fit(BIG),
    "ksvd": lambda: gsc.DictionaryCoding(64, sigma=0.1, max_iter=10**6, tol=0).fit(BIG),
    "online": lambda: gsc.DictionaryCoding(64, method="online", alpha=0.5, max_iter=10**6, tol=0).fit(BIG),
    "beta-process": lambda: gsc.BetaProcessCoding(64, n_chains=2, max_iter=10**6).fit(BIG[:10_000]),
    "beta-variational": lambda: gsc.BetaProcessCoding(64, method="beta-variational", max_iter=10**6, tol=0).fit(BIG),
    "fastica": lambda: gsc.FastICASeparation(max_iter=10**6, tol=0).fit(BIG[:, :8]),
    "starts": lambda: gsc.SpikeSlabCoding(16, n_init=8, max_iter=10**6, tol=0).fit(BIG[:5000]),
    "partial_fit": lambda: gsc.SpikeSlabCoding(256, n_candidates=18, max_active=9).partial_fit(BIG),
    "separate": lambda: gsc.SpikeSlabSeparation(n_init=8, max_iter=10**6, tol=0).fit(BIG[:, :8]),
    "denoise": lambda: gsc.denoise(BIG[:400, :].reshape(160, 160), quality="best"),
}


@pytest.fixture(autouse=True)
def _ctrl_c_raises():
    """In the background of a shell Ctrl-C is ignored, and what is started there inherits that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c(name):
    """It ends what would otherwise take minutes."""
    threading.Timer(0.7, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        LONG[name]()


def test_ctrl_c_in_inference():
    coding = gsc.SpikeSlabCoding(128, n_candidates=14, max_active=8, max_iter=1, tol=0).fit(BIG[:500])
    threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            coding.posterior(BIG, variance=True)


def test_callback_sees_rows_and_stops(X):
    rows = []

    def callback(row):
        rows.append(row)
        return row["iteration"] == 3

    coding = gsc.SpikeSlabCoding(8, max_iter=50, tol=0, random_state=1, callback=callback).fit(X)
    assert [row["iteration"] for row in rows] == [0, 1, 2, 3]
    assert coding.n_iter_ == 3 and not coding.converged_
    assert [row["free_energy"] for row in rows] == list(coding.history_["free_energy"])


class Trouble(Exception):
    pass


def raising(_):
    raise Trouble("mine")


@pytest.mark.parametrize("n_init", [1, 3])
def test_callback_that_raises_changes_nothing(coding, X, n_init):
    import copy

    estimator = copy.deepcopy(coding).set_params(callback=raising, n_init=n_init)
    before = dict(vars(estimator))
    with pytest.raises(Trouble, match="mine"):
        estimator.fit(X[:, :20])
    assert vars(estimator).keys() == before.keys()
    assert all(vars(estimator)[name] is value for name, value in before.items())
    assert parameters_of(estimator)["components_"].shape == (10, 25)
    fresh = gsc.SpikeSlabCoding(8, callback=raising)
    with pytest.raises(Trouble):
        fresh.fit(X)
    assert not hasattr(fresh, "n_features_in_")


def test_callbacks_of_tasks(X):
    picture = np.outer(np.hanning(40), np.hanning(40)) * 100 + np.random.default_rng(0).normal(0, 5, (40, 40))
    parts = []
    gsc.denoise(picture, quality="fast", callback=parts.append)
    assert parts == sorted(parts) and 0 <= parts[0] and parts[-1] <= 1 and len(parts) > 2
    with pytest.raises(Trouble):
        gsc.denoise(picture, quality="fast", callback=raising)
    with pytest.raises(gsc.GscError):
        gsc.denoise(picture, quality="fast", callback=lambda part: True)
    with pytest.raises(Trouble):
        gsc.SpikeSlabSeparation(callback=raising).fit(X[:, :4])
    with pytest.raises(gsc.GscError, match="gave up"):
        gsc.SpikeSlabSeparation(callback=lambda row: True).fit(X[:, :4])
