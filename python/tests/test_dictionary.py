"""Dictionaries: K-SVD, online dictionary learning, feature-sign search."""

import pickle

import numpy as np
import pytest
from conftest import parameters_of
from sklearn.exceptions import NotFittedError

import gsc

METHODS = {
    "ksvd": {"method": "ksvd", "sigma": 0.05, "max_active": 2},
    "online": {"method": "online", "alpha": 0.5, "batch_size": 200},
    "pursuit": {"method": "online", "coding": "omp", "atoms_per_point": 2, "batch_size": 100},
    "feature-sign": {"method": "feature-sign", "alpha": 0.5},
}


def planted(n_samples=2000, n_atoms=12, n_features=20, seed=1):
    """Data of two atoms each, of twelve, and noise of 0.05."""
    random = np.random.default_rng(seed)
    atoms = random.normal(size=(n_atoms, n_features))
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    codes = np.zeros((n_samples, n_atoms))
    for row in codes:
        row[random.choice(n_atoms, 2, replace=False)] = random.choice([-1, 1], 2) * random.uniform(1, 2, 2)
    return codes @ atoms + 0.05 * random.normal(size=(n_samples, n_features)), atoms


DATA, ATOMS = planted()


def make(name, **more):
    values = {"n_components": 12, "max_iter": 40, "intercept": "none", "random_state": 1, "n_jobs": 1}
    return gsc.DictionaryCoding(**{**values, **METHODS[name], **more})


@pytest.fixture(scope="module", params=METHODS)
def fitted(request):
    return make(request.param).fit(DATA)


def test_finds_the_atoms_that_the_data_is_made_of(fitted):
    resemblance = np.abs(ATOMS @ fitted.components_.T)
    assert (resemblance.max(axis=1) > 0.95).sum() >= 9
    lengths = np.linalg.norm(fitted.components_, axis=1)
    assert (lengths < 1 + 1e-6).all() and (fitted.method != "ksvd" or (lengths > 1 - 1e-6).all())
    objective = fitted.history_["squared_error" if fitted.method == "ksvd" else "lasso_objective"]
    assert objective[-1] < objective[0]
    # Of a data point, as computed from the codes; the lasso's of the online method is of dictionaries on the way.
    codes = fitted.transform(DATA)
    error = ((DATA - fitted.inverse_transform(codes)) ** 2).sum(axis=1)
    expected = error if fitted.method == "ksvd" else error / 2 + 0.5 * np.abs(codes).sum(axis=1)
    if fitted.coding == "lasso":
        np.testing.assert_allclose(fitted.objective_, expected.mean(), rtol=0.1)


def test_codes_are_sparse_and_stand_for_the_data(fitted):
    codes = fitted.transform(DATA)
    assert codes.shape == (2000, 12) and (codes != 0).sum(axis=1).mean() < 3
    error = DATA - fitted.inverse_transform(codes)
    assert (error**2).sum() < 0.2 * (DATA**2).sum()
    np.testing.assert_allclose((codes != 0).mean(axis=0), fitted.activation_probability_, atol=0.02)
    assert list(fitted.get_feature_names_out()[:2]) == ["dictionarycoding0", "dictionarycoding1"]
    single = fitted.transform(DATA[:50].astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, codes[:50], atol=1e-2)


def test_lasso_codes_are_its_optimum():
    """|D'(x - D a)| <= alpha everywhere, with equality and the coefficient's sign where it is not zero."""
    for name in ("online", "feature-sign"):
        coding = make(name).fit(DATA)
        codes = coding.transform(DATA[:100])
        slope = (DATA[:100] - coding.inverse_transform(codes)) @ coding.components_.T
        assert np.abs(slope).max() < 0.5 + 1e-8
        np.testing.assert_allclose(slope[codes != 0], 0.5 * np.sign(codes[codes != 0]), atol=1e-8)


def test_pursuit_ends_where_the_noise_begins():
    coding = make("ksvd").fit(DATA).set_params(max_active=None)  # codes follow the parameters as they are now
    error = ((DATA - coding.inverse_transform(coding.transform(DATA))) ** 2).sum(axis=1)
    assert (error <= 20 * (1.15 * 0.05) ** 2 + 1e-9).mean() > 0.9
    two = coding.set_params(atoms_per_point=2).transform(DATA)
    assert ((two != 0).sum(axis=1) == 2).all()
    assert (coding.set_params(atoms_per_point=None, max_active=1).transform(DATA) != 0).sum(axis=1).max() == 1


def test_the_same_seed_the_same_bits(fitted):
    again = gsc.DictionaryCoding(**fitted.get_params()).fit(DATA)
    other = gsc.DictionaryCoding(**fitted.get_params()).set_params(random_state=2).fit(DATA)
    for name, values in parameters_of(fitted).items():
        np.testing.assert_array_equal(values, parameters_of(again)[name], err_msg=name)
    assert not np.array_equal(fitted.components_, other.components_)


def test_pickles_and_files(fitted, tmp_path):
    fitted.save(tmp_path / "dictionary.h5")
    for copy in (pickle.loads(pickle.dumps(fitted)), gsc.load_dictionary(tmp_path / "dictionary.h5")):
        np.testing.assert_array_equal(copy.transform(DATA), fitted.transform(DATA))
        ours, theirs = fitted.get_params(), copy.get_params()
        assert {**theirs, "n_jobs": 1} == ours
    with pytest.raises(ValueError, match="is a dictionary learned by .*gsc.load_dictionary reads it"):
        gsc.load_model(tmp_path / "dictionary.h5")
    gsc.SpikeSlabCoding(3, max_iter=2, tol=0).fit(DATA[:100]).save(tmp_path / "model.h5")
    with pytest.raises(ValueError, match="is a spike-and-slab model and not of DictionaryCoding; gsc.load_model reads it"):
        gsc.load_dictionary(tmp_path / "model.h5")


@pytest.mark.parametrize("name", ["ksvd", "online", "pursuit"])
def test_missing_values(name):
    gaps = DATA.copy()
    gaps[np.random.default_rng(3).random(DATA.shape) < 0.1] = np.nan
    coding = make(name, missing="nan").fit(gaps)
    filled = coding.impute(gaps)
    missing = np.isnan(gaps)
    np.testing.assert_array_equal(filled[~missing], gaps[~missing])
    assert np.mean((filled - DATA)[missing] ** 2) < 0.3 * np.mean(DATA[missing] ** 2)
    assert np.isfinite(coding.transform(gaps)).all()
    with pytest.raises(ValueError, match="NaN"):
        make(name).fit(gaps)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "ksvd", "alpha": 0.1}, "alpha is 0.1, but method is ksvd; alpha is for online, feature-sign"),
        ({"method": "ksvd", "coding": "omp"}, "coding is omp, but method is ksvd"),
        ({"method": "ksvd", "batch_size": 50}, "batch_size is 50, but method is ksvd"),
        ({"method": "ksvd", "decay": 0.5}, "decay is 0.5, but method is ksvd"),
        ({"method": "online", "atom_update": "approximate"}, "atom_update is approximate, but method is online"),
        ({"method": "feature-sign", "error_gain": 2.0}, "error_gain is 2, but method is feature-sign"),
        ({"method": "feature-sign", "atoms_per_point": 2}, "atoms_per_point is 2, but method is feature-sign"),
        ({"method": "feature-sign", "missing": "nan"}, "missing is nan"),
        ({"method": "truncated"}, "method is 'truncated', which learns a spike-and-slab model.*gsc.SpikeSlabCoding has it"),
        ({"method": "beta-process"}, "method is 'beta-process', which learns with the Beta.*gsc.BetaProcessCoding has it"),
        ({"method": "magic"}, "method is 'magic'; choose one of ksvd, online, feature-sign"),
        ({"method": None}, "method is None; choose one of ksvd"),
        ({"n_components": 0}, "n_components is 0"),
        ({"n_components": 3000}, "n_components is 3000, but .* only 2000 data points"),
        ({"n_components": 2.5}, "n_components is '2.5'; it must be a whole number"),
        ({"method": "online", "alpha": -1.0}, "alpha is -1; it must be positive"),
        ({"method": "online", "coding": "pink"}, "coding is 'pink'; choose one of lasso, bounded, omp"),
        ({"sigma": -1.0}, "sigma is -1"),
        ({"error_gain": 0.0}, "error_gain is 0; it must lie between"),
        ({"atoms_per_point": 13}, "atoms_per_point is 13; it must not exceed"),
        ({"max_active": -1}, "max_active is -1; it must not be negative"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"callback": 3}, "callback is 3; it must be a function"),
    ],
)
def test_bad_parameters(parameters, words):
    coding = gsc.DictionaryCoding(**{"n_components": 12, "max_iter": 2, **parameters})
    with pytest.raises(ValueError, match=words):
        coding.fit(DATA)
    assert not hasattr(coding, "components_")


def test_what_a_dictionary_has_not():
    coding = gsc.DictionaryCoding(3)
    for name in ("score", "score_samples", "posterior", "sample", "get_covariance", "partial_fit"):
        assert not hasattr(coding, name)
    with pytest.raises(NotFittedError):
        coding.transform(DATA)
    with pytest.raises(TypeError, match="return_std"):
        coding.impute(DATA, return_std=True)


def test_tells_what_it_does(capsys):
    rows = []
    make("ksvd", sigma=None, verbose=1, callback=lambda row: rows.append(row) or len(rows) == 3).fit(DATA)
    assert [row["iteration"] for row in rows] == [0, 1, 2] and "squared_error" in rows[0]
    printed = capsys.readouterr().out
    assert "[DictionaryCoding] iteration   1  squared error " in printed
    assert "must be told the noise level" in printed
