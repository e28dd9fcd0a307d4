"""The Beta process, by sampling and by variational Bayes."""

import pickle

import numpy as np
import pytest
from conftest import parameters_of
from sklearn.exceptions import NotFittedError

import gsc

METHODS = {
    "beta-process": {"method": "beta-process", "n_chains": 2, "burn_in": 40},
    "beta-variational": {"method": "beta-variational"},
}
NOISE = 0.3


def planted(n_samples=600, n_components=6, n_features=16, seed=1):
    """Data of six components, each on in a fifth of the data points, and noise."""
    random = np.random.default_rng(seed)
    components = random.normal(size=(n_components, n_features))
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    codes = (random.random((n_samples, n_components)) < 0.2) * random.normal(0, 2, (n_samples, n_components))
    return codes @ components + NOISE * random.normal(size=(n_samples, n_features)), components


DATA, COMPONENTS = planted()


def make(name, **more):
    values = {"n_components": 10, "max_iter": 80, "intercept": "none", "random_state": 1, "n_jobs": 1}
    return gsc.BetaProcessCoding(**{**values, **METHODS[name], **more})


@pytest.fixture(scope="module", params=METHODS)
def fitted(request):
    return make(request.param).fit(DATA)


def test_learns_components_and_noise_told_nothing(fitted):
    lengths = np.linalg.norm(fitted.components_, axis=1)
    resemblance = np.abs(COMPONENTS @ fitted.components_.T) / np.maximum(lengths, 1e-9)  # nobody needs all ten
    assert (resemblance.max(axis=1) > 0.9).sum() >= 5
    assert fitted.noise_variance_**0.5 == pytest.approx(NOISE, rel=0.05)
    assert fitted.components_variance_.shape == (10, 16) and (fitted.components_variance_ > 0).all()
    assert (fitted.slab_mean_ == 0).all() and np.ptp(fitted.slab_covariance_) == 0
    assert fitted.history_["iteration"][-1] == fitted.n_iter_ == 80


def test_says_how_certain_it_is():
    draws = make("beta-process").fit(DATA)
    assert 0 < draws.noise_std_deviation_ < 0.02
    assert abs(draws.noise_variance_**0.5 - NOISE) < 5 * draws.noise_std_deviation_
    assert set(draws.r_hat_) == {"noise_std", "log_joint"} and min(draws.r_hat_.values()) > 0.9
    assert draws.objective_ == draws.history_["log_joint"][-1] / len(DATA) and not draws.converged_
    alone = make("beta-process", n_chains=1, max_iter=5).fit(DATA)  # fewer than burn_in: the second half is averaged
    assert alone.r_hat_ == {} and alone.noise_std_deviation_ > 0 and alone.components_variance_.shape == (10, 16)
    nothing = make("beta-process", n_chains=1, max_iter=0).fit(DATA)
    assert nothing.r_hat_ == {} and nothing.noise_std_deviation_ is None and nothing.components_variance_ is None
    bound = make("beta-variational").fit(DATA)
    assert np.diff(bound.history_["bound"]).min() > -1e-6 * abs(bound.history_["bound"][-1])
    assert bound.objective_ == bound.history_["bound"][-1] / len(DATA) and bound.noise_std_deviation_ is None
    assert make("beta-variational", tol=1e-3).fit(DATA).converged_


def test_posteriors(fitted):
    posterior = fitted.posterior(DATA, variance=True)
    np.testing.assert_array_equal(posterior.mean, fitted.transform(DATA))
    assert (posterior.variance >= 0).all() and (posterior.probability <= 1).all() and posterior.states is None
    error = DATA - fitted.inverse_transform(posterior.mean)
    assert (error**2).mean() < 1.1 * NOISE**2
    single = fitted.transform(DATA[:50].astype(np.float32))
    assert single.dtype == np.float32 and np.isfinite(single).all()
    assert fitted.get_feature_names_out()[0] == "betaprocesscoding0"
    if fitted.method == "beta-process":
        assert posterior.log_likelihood is None and not hasattr(fitted, "score") and not hasattr(fitted, "score_samples")
    else:
        np.testing.assert_array_equal(fitted.score_samples(DATA), posterior.log_likelihood)
        assert fitted.score(DATA) == pytest.approx(posterior.log_likelihood.mean())


def test_more_draws_bring_codes_together():
    coding = make("beta-process", n_components=6, n_chains=1).fit(DATA)
    twice = np.vstack([DATA[:100], DATA[:100]])  # other rows, other draws

    def apart(n_draws):
        codes = coding.set_params(n_draws=n_draws).transform(twice)
        return ((codes[:100] - codes[100:]) ** 2).mean()

    assert apart(1) > 4 * apart(50)


def test_draws_are_of_the_model(fitted):
    drawn, codes = fitted.sample(100_000, random_state=1, return_codes=True)
    expected = fitted.get_covariance() - np.diag(fitted.components_variance_.T @ (
        fitted.activation_probability_ * fitted.slab_covariance_))  # one model, not all that are possible
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.03 * np.abs(expected).max())
    assert codes.shape == (100_000, 10)


def test_the_same_seed_the_same_bits(fitted):
    again = gsc.BetaProcessCoding(**fitted.get_params()).set_params(n_jobs=2).fit(DATA)
    other = gsc.BetaProcessCoding(**fitted.get_params()).set_params(random_state=2).fit(DATA)
    for name, values in parameters_of(fitted).items():
        if fitted.method == "beta-process":
            np.testing.assert_array_equal(values, parameters_of(again)[name], err_msg=name)
        else:
            np.testing.assert_allclose(values, parameters_of(again)[name], rtol=1e-9, atol=1e-11, err_msg=name)
    assert not np.array_equal(fitted.components_, other.components_)


def test_pickles_and_files(fitted, tmp_path):
    fitted.save(tmp_path / "model.h5")
    for copy in (pickle.loads(pickle.dumps(fitted)), gsc.load_beta_process(tmp_path / "model.h5")):
        np.testing.assert_array_equal(copy.transform(DATA), fitted.transform(DATA))
        assert {**copy.get_params(), "n_jobs": 1} == fitted.get_params()
        assert copy.noise_std_deviation_ == fitted.noise_std_deviation_ and copy.r_hat_ == fitted.r_hat_
    with pytest.raises(ValueError, match=f"learned by {fitted.method} and not of .*gsc.load_beta_process reads it"):
        gsc.load_model(tmp_path / "model.h5")
    with pytest.raises(ValueError, match="not of DictionaryCoding; gsc.load_beta_process reads it"):
        gsc.load_dictionary(tmp_path / "model.h5")
    gsc.SpikeSlabCoding(3, max_iter=2, tol=0).fit(DATA[:100]).save(tmp_path / "other.h5")
    with pytest.raises(ValueError, match="is a spike-and-slab model and not of BetaProcessCoding; gsc.load_model reads"):
        gsc.load_beta_process(tmp_path / "other.h5")


def test_missing_values():
    missing = np.random.default_rng(3).random(DATA.shape) < 0.2
    gaps = np.where(missing, np.nan, DATA)
    coding = make("beta-process", missing="nan", n_chains=1).fit(gaps)
    filled, std = coding.impute(gaps, return_std=True)
    np.testing.assert_array_equal(filled[~missing], DATA[~missing])
    assert (std[~missing] == 0).all() and (std[missing] > 0).all()
    error = (filled - DATA)[missing]
    assert np.mean(error**2) < 0.5 * np.mean(DATA[missing] ** 2)
    assert 0.85 < (np.abs(error) < 2 * std[missing]).mean() < 0.99
    assert np.isfinite(coding.transform(gaps)).all()
    with pytest.raises(ValueError, match="NaN"):
        make("beta-process").fit(gaps)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "truncated"}, "method is 'truncated', which learns a spike-and-slab.*gsc.SpikeSlabCoding has it"),
        ({"method": "ksvd"}, "method is 'ksvd', which learns a dictionary.*gsc.DictionaryCoding has it"),
        ({"method": "magic"}, "method is 'magic'; choose one of beta-process, beta-variational"),
        ({"method": None}, "method is None; choose one of beta-process"),
        ({"method": "beta-variational", "n_chains": 2}, "n_chains is 2, but method is beta-variational"),
        ({"method": "beta-variational", "burn_in": 2}, "burn_in is 2, but method is beta-variational"),
        ({"method": "beta-variational", "n_draws": 2}, "n_draws is 2, but method is beta-variational"),
        ({"method": "beta-variational", "missing": "nan"}, "missing is nan"),
        ({"n_chains": 0}, "n_chains is 0; it must lie between 1 and 1000"),
        ({"burn_in": -1}, "burn_in is -1; it must not be negative"),
        ({"n_draws": 0}, "n_draws is 0; it must lie between 1 and a million"),
        ({"usage_prior": "mine"}, "usage_prior is 'mine'; choose one of program, paper"),
        ({"n_components": 0}, "n_components is 0"),
        ({"n_components": 3000}, "n_components is 3000, but .* only 600 data points"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"callback": 3}, "callback is 3; it must be a function"),
    ],
)
def test_bad_parameters(parameters, words):
    coding = gsc.BetaProcessCoding(**{"n_components": 10, "max_iter": 2, **parameters})
    with pytest.raises(ValueError, match=words):
        coding.fit(DATA)
    assert not hasattr(coding, "components_")


def test_what_it_has_not():
    coding = gsc.BetaProcessCoding(3)
    for name in ("score", "score_samples", "partial_fit"):
        assert not hasattr(coding, name)
    assert "sigma" not in coding.get_params() and hasattr(coding.set_params(method="beta-variational"), "score")
    with pytest.raises(NotFittedError):
        coding.transform(DATA)


def test_tells_what_it_does(capsys):
    rows = []
    stopped = make("beta-process", verbose=1, callback=lambda row: rows.append(row) or len(rows) == 3).fit(DATA)
    assert [row["iteration"] for row in rows] == [0, 1, 2] and "log_joint" in rows[0] and stopped.n_iter_ == 2
    assert "[BetaProcessCoding] iteration   1  log joint " in capsys.readouterr().out
