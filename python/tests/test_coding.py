"""SpikeSlabCoding: how it lies among numpy, scikit-learn and other packages."""

import pickle
import subprocess
import sys
import threading

import joblib
import numpy as np
import pytest
from conftest import parameters_of
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

import gsc
from gsc import SpikeSlabCoding, _core


def same(one, other):
    return all(np.array_equal(value, parameters_of(other)[name]) for name, value in parameters_of(one).items())


def test_finds_the_bars(bars):
    coding = SpikeSlabCoding(10, n_candidates=7, max_active=5, n_init=12, random_state=1).fit(bars.data)
    assert coding.lower_bounds_.shape == (12,) and coding.lower_bound_ == coding.lower_bounds_.max()
    assert coding.noise_variance_ == pytest.approx(bars.noise_variance, rel=0.2)
    found = coding.components_ / np.linalg.norm(coding.components_, axis=1, keepdims=True)
    truth = bars.components / np.linalg.norm(bars.components, axis=1, keepdims=True)
    assert np.abs(found @ truth.T).max(axis=0).min() > 0.9  # two bars in one component have 0.7
    assert np.diff(coding.history_["free_energy"]).min() > -1e-6


def test_what_follows_from_the_parameters(coding, X):
    posterior = coding.posterior(X, variance=True, n_states=2)
    np.testing.assert_array_equal(coding.transform(X), posterior.mean)
    np.testing.assert_array_equal(coding.score_samples(X), posterior.log_likelihood)
    assert coding.score(X) == pytest.approx(coding.lower_bound_, rel=1e-12)
    assert posterior.states.shape == (600, 2, 4) and posterior.state_weights.shape == (600, 2)
    assert (posterior.variance >= 0).all() and (posterior.probability <= 1).all()
    # A state's weight is a part of the probability of each latent in it.
    first, weight = posterior.states[:, 0], posterior.state_weights[:, 0]
    for n in range(20):
        active = first[n][first[n] >= 0]
        assert (posterior.probability[n, active] >= weight[n] - 1e-12).all()
    np.testing.assert_allclose(
        coding.inverse_transform(posterior.mean), posterior.mean @ coding.components_ + coding.intercept_
    )


@pytest.mark.parametrize("slab", ["diagonal", "full"])
def test_covariance_is_that_of_samples(X, slab):
    coding = SpikeSlabCoding(6, slab=slab, noise="diagonal", max_iter=5, tol=0, random_state=1).fit(X)
    drawn, codes = coding.sample(200_000, random_state=1, return_codes=True)
    expected = coding.get_covariance()
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.02 * np.abs(expected).max())
    np.testing.assert_allclose((codes != 0).mean(axis=0), coding.activation_probability_, atol=0.01)


def test_threads_agree(coding, X):
    two = clone(coding).set_params(n_jobs=2).fit(X)
    np.testing.assert_allclose(two.components_, coding.components_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(two.lower_bound_, coding.lower_bound_, rtol=1e-12)


def test_from_several_python_threads(coding, X):
    results = [None] * 4

    def work(i):
        results[i] = clone(coding).fit(X)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(same(result, coding) for result in results)


@pytest.mark.parametrize("through", [pickle, joblib])
def test_goes_through_files(coding, X, tmp_path, through):
    if through is pickle:
        back = pickle.loads(pickle.dumps(coding))
    else:
        joblib.dump(coding, tmp_path / "coding.joblib")
        back = joblib.load(tmp_path / "coding.joblib")
    assert same(back, coding)
    np.testing.assert_array_equal(back.transform(X), coding.transform(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pipeline_and_grid(X):
    pipeline = make_pipeline(StandardScaler(), SpikeSlabCoding(max_iter=5, random_state=0))
    grid = GridSearchCV(pipeline, {"spikeslabcoding__n_components": [2, 6]}, cv=2, n_jobs=2).fit(X)
    assert grid.best_params_ == {"spikeslabcoding__n_components": 6}


def test_frames_out(coding, X):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    codes = clone(coding).set_output(transform="pandas").fit_transform(pandas.DataFrame(X[:100]).add_prefix("pixel"))
    assert isinstance(codes, pandas.DataFrame) and codes.columns[0] == "spikeslabcoding0"
    codes = clone(coding).set_output(transform="polars").fit_transform(X[:100])
    assert isinstance(codes, polars.DataFrame)


def test_float32_in_and_out(coding, X):
    single = clone(coding).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.inverse_transform(single.transform(X.astype(np.float32))).dtype == np.float32
    np.testing.assert_allclose(single.components_, coding.components_, rtol=1e-2, atol=1e-2)


def test_any_strides(coding, X, tmp_path):
    wide = np.zeros((1200, 50))
    wide[::2, ::2] = X
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=float, shape=X.shape)
    mapped[:] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    views = [np.asfortranarray(X), wide[::2, ::2], X[::-1, ::-1].copy()[::-1, ::-1], frozen, np.load(tmp_path / "X.npy", mmap_mode="r")]
    for view in views:
        assert same(clone(coding).fit(view), coding)
        np.testing.assert_array_equal(coding.transform(view), coding.transform(X))


PEAK = """
import numpy as np, resource
from sklearn.utils.validation import validate_data
import gsc
small = np.random.default_rng(0).normal(size=(2000, 64)).astype(np.float32)
coding = gsc.SpikeSlabCoding(8, n_candidates=4, max_active=2, max_iter=2, tol=0, n_jobs=2, random_state=1).fit(small)
rows = 800_000
X = np.empty((rows, {factor} * 64), dtype=np.float32)
for first in range(0, rows, 2000): X[first:first + 2000] = np.tile(small, {factor})
X = X[:, ::{factor}]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
"""


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("call", ["coding.fit(X)", "coding.score(X)", "coding.partial_fit(X)"])
def test_memory(factor, call):
    """Beside the data there is less than 0.3 of it, also where it is not contiguous."""
    script = PEAK.format(factor=factor, call=call)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.3


def test_respects_limits(monkeypatch):
    with threadpool_limits(1):
        assert _core.usual_threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert _core.usual_threads() <= 3


def test_leaves_numpys_blas_alone(coding, X):
    threads = lambda: [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info()]  # noqa: E731
    before = threads()
    clone(coding).set_params(n_jobs=2).fit(X)
    assert threads() == before


def test_after_a_fork(coding, X):
    import multiprocessing

    clone(coding).set_params(n_jobs=2).fit(X)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert same(pool.apply_async(coding.fit, (X,)).get(timeout=60), coding)


def test_warm_start_goes_on(X):
    coding = SpikeSlabCoding(10, max_iter=5, tol=0, warm_start=True, random_state=1).fit(X)
    bound = coding.lower_bound_
    assert coding.fit(X).history_["free_energy"][0] / len(X) == pytest.approx(bound, rel=1e-12)
    assert coding.lower_bound_ > bound


def test_dict_init(bars):
    coding = SpikeSlabCoding(10, dict_init=bars.components, max_iter=0, random_state=1).fit(bars.data)
    np.testing.assert_array_equal(coding.components_, bars.components)


def test_partial_fit(X, tmp_path):
    coding = SpikeSlabCoding(10, batch_size=50, random_state=1)
    scores = []
    for _ in range(6):
        for first in range(0, 600, 200):
            coding.partial_fit(X[first : first + 200])
        scores.append(coding.score(X))
    assert scores[-1] > scores[0] + 1
    assert coding.n_samples_seen_ == 3600 and coding.n_iter_ == 18 and len(coding.history_["free_energy"]) == 18
    # The sums go with the estimator, so that a copy goes on to the same bits.
    copy = pickle.loads(pickle.dumps(coding))
    assert same(copy.partial_fit(X[:200]), coding.partial_fit(X[:200]))
    coding.partial_fit(X[:1])
    coding.save(tmp_path / "model.h5")
    assert same(gsc.load_model(tmp_path / "model.h5"), coding)
    assert same(gsc.load(tmp_path / "model.h5"), coding)


def test_says_when_iterations_run_out(X):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations"):
        SpikeSlabCoding(5, max_iter=2).fit(X)


def test_says_what_is_clamped(X):
    with pytest.warns(UserWarning, match="n_candidates is 12, but there are 4 components; 4 is used"):
        SpikeSlabCoding(4, n_candidates=12, max_iter=1, tol=0).fit(X)


def test_says_how_many_states_were_singular(X):
    coding = SpikeSlabCoding(3, max_iter=1, tol=0).fit(X)
    assert coding.posterior(X).clamped_pivots == 0
    coding.components_ = np.tile(coding.components_[0], (3, 1))
    coding.slab_covariance_ = np.full(3, 1e30)
    with pytest.warns(RuntimeWarning, match=f"singular state \\({len(X)} times"):
        assert coding.posterior(X).clamped_pivots == len(X)
    with pytest.warns(RuntimeWarning, match="singular state"):
        coding.transform(X)
    gaps = np.array(X)
    gaps[0, 0] = np.nan
    with pytest.warns(RuntimeWarning, match="singular state"):
        coding.impute(gaps)


def test_verbose(X, capsys):
    SpikeSlabCoding(4, max_iter=2, tol=0, verbose=1).fit(X)
    assert capsys.readouterr().out.count("free energy") == 3
