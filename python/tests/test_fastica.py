"""FastICA as an estimator."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import gsc


def mixture(n_sources=4, n_samples=3000, seed=1):
    random = np.random.default_rng(seed)
    mixing = random.normal(size=(n_sources, n_sources))
    return random.laplace(size=(n_samples, n_sources)) @ mixing.T + 5, mixing


X, MIXING = mixture()


@pytest.mark.parametrize("nonlinearity", ["tanh", "cube", "gauss"])
@pytest.mark.parametrize("decorrelation", ["symmetric", "deflation"])
def test_finds_the_sources(nonlinearity, decorrelation):
    separation = gsc.FastICASeparation(nonlinearity=nonlinearity, decorrelation=decorrelation, random_state=1)
    sources = separation.fit_transform(X)
    assert gsc.amari_index(separation.mixing_, MIXING) < 0.15 and separation.converged_
    np.testing.assert_allclose(np.cov(sources.T), np.eye(4), atol=1e-3)
    np.testing.assert_allclose(separation.transform(X), sources, atol=1e-10)
    np.testing.assert_allclose(separation.inverse_transform(sources), X, atol=1e-10)
    np.testing.assert_allclose(separation.intercept_, X.mean(axis=0))
    np.testing.assert_array_equal(separation.components_, separation.mixing_.T)


def test_is_scikit_learns():
    theirs = FastICA(whiten="unit-variance", tol=1e-12, max_iter=1000, random_state=0).fit(X)
    ours = gsc.FastICASeparation(mixing_init=theirs.mixing_).fit(X)
    # From what scikit-learn has found it goes nowhere.
    assert ours.n_iter_ <= 3
    np.testing.assert_allclose(np.abs(ours.mixing_), np.abs(theirs.mixing_), atol=1e-6)


def test_fewer_sources_than_channels():
    separation = gsc.FastICASeparation(2, random_state=1).fit(X)
    assert separation.mixing_.shape == (4, 2) and separation.transform(X).shape == (len(X), 2)
    np.testing.assert_allclose(separation.transform(X), gsc.FastICASeparation(2, random_state=1).fit_transform(X), atol=1e-10)
    assert list(separation.get_feature_names_out()) == ["fasticaseparation0", "fasticaseparation1"]


def test_says_what_there_is_to_know():
    still = X.copy()
    still[:, 2] = 7
    separation = gsc.FastICASeparation(random_state=1).fit(still)
    assert separation.mixing_.shape == (4, 3) and "channel 3 is constant" in separation.notes_[0]
    with pytest.warns(ConvergenceWarning, match="has not converged in 2 iterations.*try more iterations.*or another nonlin"):
        assert not gsc.FastICASeparation(max_iter=2, random_state=1).fit(X).converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gsc.FastICASeparation(random_state=1).fit(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_seed_the_same_bits(n_jobs):
    one = gsc.FastICASeparation(random_state=3, n_jobs=1).fit(X)
    np.testing.assert_array_equal(one.mixing_, gsc.FastICASeparation(random_state=3, n_jobs=n_jobs).fit(X).mixing_)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"nonlinearity": "sinh"}, "nonlinearity is 'sinh'; choose one of tanh, cube, gauss"),
        ({"decorrelation": None}, "decorrelation is 'None'; choose one of symmetric, deflation"),
        ({"n_components": 5}, "n_components is 5, but there are 4 channels"),
        ({"n_components": 0}, "n_components is 0; it must be a whole number, at least 1"),
        ({"n_components": 2.5}, "n_components is 2.5; it must be a whole number"),
        ({"max_iter": 0}, "max_iter is 0; it must be a whole number, at least 1"),
        ({"tol": "small"}, "tol is 'small'; it must be a number"),
        ({"tol": 2.0}, "tol is 2; with fastica it must be from 0 to below 1"),
        ({"mixing_init": np.eye(3)}, r"mixing_init has shape \(3, 3\); expected \(4, 4\)"),
        ({"mixing_init": np.ones((4, 4))}, "mixing matrix to start from follow from each other"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_parameters(parameters, words):
    separation = gsc.FastICASeparation(**parameters)
    with pytest.raises(ValueError, match=words):
        separation.fit(X)
    assert not hasattr(separation, "mixing_")


def test_what_it_has_not():
    separation = gsc.FastICASeparation()
    for name in ("score", "posterior", "sample", "save"):
        assert not hasattr(separation, name)
    with pytest.raises(NotFittedError):
        separation.transform(X)
