"""What users get for what cannot be."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import gsc

GOOD = np.random.default_rng(0).normal(size=(30, 4))


def changed(value):
    data = GOOD.copy()
    data[3, 2] = value
    return data


@pytest.mark.parametrize("estimator", [gsc.SpikeSlabCoding(2, max_iter=2), gsc.SpikeSlabSeparation(2, n_init=1, max_iter=2)])
@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (changed(np.nan), ValueError, "contains NaN"),
        (changed(np.inf), ValueError, "contains infinity"),
        (np.empty((0, 4)), ValueError, "0 sample"),
        (np.empty((4, 0)), ValueError, "0 feature"),
        (GOOD[0], ValueError, "1D array"),
        (GOOD[np.newaxis], ValueError, "dim 3"),
        (np.array([["a", "b"], ["c", "d"]]), ValueError, "could not convert"),
        (np.array([[{}, {}], [{}, {}]], dtype=object), TypeError, "must be a string or a real number"),
        (scipy.sparse.csr_matrix(GOOD), TypeError, "dense data is required"),
        (GOOD * 1j, ValueError, "Complex data not supported"),
        (GOOD[:1], ValueError, "minimum of 2"),
        (np.ones((10, 4)), ValueError, "equal|constant"),
    ],
)
def test_data(estimator, data, kind, words):
    with pytest.raises(kind, match=words):
        estimator.fit(data)
    assert not hasattr(estimator, "components_") and not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components is 0; it must lie between 1 and 65535"),
        ({"n_components": 70000}, "n_components is 70000"),
        ({"n_components": 2.5}, "n_components is '2.5'; it must be a whole number"),
        ({"n_components": 25, "method": "exact"}, "exact goes up to 20"),
        ({"method": "magic"}, "method is 'magic'; choose one of truncated, exact, factored"),
        ({"method": "ksvd"}, "method is 'ksvd', which learns a dictionary.*gsc.DictionaryCoding has it"),
        ({"method": "beta-process"}, "method is 'beta-process', which learns with the Beta.*gsc.BetaProcessCoding has it"),
        ({"method": "fastica"}, "method is 'fastica', which separates sources.*gsc.FastICASeparation has it"),
        ({"noise": "pink"}, "noise is 'pink'; choose one of scalar, diagonal, full"),
        ({"noise": None, "slab": 3}, "slab is '3'; choose one of diagonal, full"),
        ({"max_iter": -1}, "max_iter is -1; it must not be negative"),
        ({"tol": "small"}, "tol is 'small'; it must be a number"),
        ({"tol": float("nan")}, "tol is 'nan'"),
        ({"n_candidates": 0}, "n_candidates is 0; it must be at least 1"),
        ({"batch_size": -5}, "batch_size is -5; give how many data points"),
        ({"n_init": 0}, "n_init is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "one"}, "cannot be used to seed"),
        ({"dict_init": GOOD}, r"dict_init has shape \(30, 4\); expected \(4, 4\)"),
        ({"device": "abacus"}, "abacus.*cpu"),
        ({"shape": {1: 2}}, "shape is {1: 2}; a dict is nothing"),
        ({"callback": 3}, "callback is 3; it must be a function"),
    ],
)
def test_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        gsc.SpikeSlabCoding(**parameters).fit(GOOD)


def test_before_fit():
    for call in ("transform", "score", "score_samples", "posterior", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(gsc.SpikeSlabCoding(2), call)(GOOD)
    for call in ("sample", "get_covariance"):
        with pytest.raises(NotFittedError):
            getattr(gsc.SpikeSlabCoding(2), call)()
    with pytest.raises(NotFittedError):
        gsc.SpikeSlabCoding(2).save("never.h5")


def test_after_fit(coding, X, tmp_path):
    with pytest.raises(ValueError, match="X has 4 features, but SpikeSlabCoding is expecting 25"):
        coding.transform(GOOD)
    with pytest.raises(ValueError, match="X has 4 columns, but codes of this model have 10"):
        coding.inverse_transform(GOOD)
    with pytest.raises(ValueError, match="n_states is -1"):
        coding.posterior(X, n_states=-1)
    with pytest.raises(ValueError, match="n_samples is 0"):
        coding.sample(0)
    with pytest.raises(FileNotFoundError):
        coding.save(tmp_path / "nowhere" / "model.h5")


def test_files_from_elsewhere(coding, tmp_path):
    import h5py

    with pytest.raises(FileNotFoundError, match="is the name spelt right"):
        gsc.load_model(tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("hello")
    with pytest.raises(ValueError, match="is not a model file"):
        gsc.load_model(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["parameters/W"] = GOOD
    with pytest.raises(ValueError, match="not a gsc model"):
        gsc.load_model(tmp_path / "other.h5")
    for change, words in (
        (lambda file: file.attrs.modify("format_version", 9), "format version 9.*update gsc"),
        (lambda file: file.pop("parameters/pi"), "/parameters/pi is missing"),
        (lambda file: file["parameters/pi"].write_direct(np.full(10, 2.0)), "pi"),
    ):
        coding.save(tmp_path / "damaged.h5")
        with h5py.File(tmp_path / "damaged.h5", "r+") as file:
            change(file)
        with pytest.raises(ValueError, match=words) as raised:
            gsc.load_model(tmp_path / "damaged.h5")
        assert "damaged.h5" in str(raised.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gsc.denoise(np.zeros((20, 20, 3))), "three axes; say which one the colours are on, as channel_axis=-1"),
        (lambda: gsc.denoise(np.zeros((20, 20, 4)), channel_axis=-1), "4 channels on axis -1; there must be 1 or 3"),
        (lambda: gsc.denoise(np.zeros(20)), "1 axes"),
        (lambda: gsc.denoise(np.full((20, 20), np.nan)), "NaN"),
        (lambda: gsc.denoise(np.array([["a"]])), "whole or real numbers"),
        (lambda: gsc.denoise(np.eye(20), quality="super"), "quality is 'super'; choose one of fast, standard, best"),
        (lambda: gsc.denoise(np.eye(20), patch=2.5), "patch is '2.5'; it must be a whole number"),
        (lambda: gsc.denoise(np.eye(20), blur=2), "denoising has no option 'blur'; the options are quality, patch"),
        (lambda: gsc.denoise(np.eye(20), coding="omp"), "coding is omp, but method is truncated; coding is for online"),
        (lambda: gsc.denoise(np.eye(20), method="ksvd", alpha=3.0), "alpha is 3, but method is ksvd; alpha is for online, feature-sign"),
        (lambda: gsc.denoise(np.eye(20), method="online", alpha=-1.0), "alpha is -1; it must be positive"),
        (lambda: gsc.denoise(np.eye(20), method="online", coding="pink"), "coding is 'pink'; choose one of lasso, bounded"),
        (lambda: gsc.denoise(np.eye(20), method="online", decay=2), "decay is 2; it must lie between 0 and 1"),
        (lambda: gsc.denoise(np.eye(20), method="ksvd", candidates=3), "candidates is 3, but method is ksvd; candidates is for truncated"),
        (lambda: gsc.denoise(np.eye(20), method="beta-process", batch=9), "batch is 9, but method is beta-process; batch is for"),
        (lambda: gsc.denoise(np.eye(20), method="beta-process", sigma=2), "sigma is 2, but the beta-process method learns"),
        (lambda: gsc.denoise(np.ones((3, 3))), "."),
        (lambda: gsc.psnr(np.eye(20), np.eye(20)), "say what white is"),
        (lambda: gsc.psnr(np.eye(20), np.eye(21), data_range=1), "."),
        (lambda: gsc.ssim(np.eye(20), np.eye(20), data_range=-1), "data_range is -1; it must be positive"),
        (lambda: gsc.amari_index(GOOD, GOOD), "must be square"),
        (lambda: gsc.datasets.make_bars(n_bars=7), "7"),
        (lambda: gsc.datasets.make_mixture(coefficients="normal"), "choose one of laplace, cauchy"),
        (lambda: gsc.SpikeSlabSeparation(whiten="perhaps").fit(GOOD), "whiten is 'perhaps'; choose one of auto, on, off"),
        (lambda: gsc.SpikeSlabSeparation(nonlinearity="sinh").fit(GOOD), "nonlinearity is 'sinh'; choose one of tanh, cube"),
        (lambda: gsc.SpikeSlabSeparation(nonlinearity=None).fit(GOOD), "nonlinearity is None; choose one of tanh, cube"),
        (
            lambda: gsc.SpikeSlabSeparation(decorrelation="deflation", fastica_start=False).fit(GOOD),
            "decorrelation is deflation, but fastica_start is False",
        ),
        (lambda: gsc.SpikeSlabCoding(2, method="factored").partial_fit(GOOD), "cannot learn from pieces"),
        (lambda: gsc.SpikeSlabCoding(2, n_init=2, dict_init=GOOD[:2]).fit(GOOD), "all starts would be the same"),
    ],
)
def test_functions(call, words):
    with pytest.raises(ValueError, match=words):
        call()
