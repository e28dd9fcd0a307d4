"""Missing values: NaN in X where the estimator allows it."""

import numpy as np
import pytest

import gsc


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    basis = random.normal(size=(6, 12))
    codes = (random.random((400, 6)) < 0.3) * random.normal(1.0, 1.0, (400, 6))
    truth = codes @ basis + 0.1 * random.normal(size=(400, 12))
    missing = random.random(truth.shape) < 0.3
    return truth, np.where(missing, np.nan, truth), missing


def test_nan_is_refused_unless_allowed(table):
    with pytest.raises(ValueError, match="NaN"):
        gsc.SpikeSlabCoding(6).fit(table[1])
    assert not gsc.SpikeSlabCoding(6).__sklearn_tags__().input_tags.allow_nan
    assert gsc.SpikeSlabCoding(6, missing="nan").__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(gsc.UsageError, match="noise is full"):
        gsc.SpikeSlabCoding(6, missing="nan", noise="full").fit(table[1])


def test_missing_values_are_filled_in(table):
    truth, gaps, missing = table
    model = gsc.SpikeSlabCoding(6, missing="nan", method="exact", max_iter=60, tol=0, n_init=2, random_state=0).fit(gaps)
    assert np.isfinite(model.transform(gaps)).all()
    assert np.isfinite(model.score_samples(gaps)).all()
    filled, std = model.impute(gaps, return_std=True)
    np.testing.assert_array_equal(filled[~missing], truth[~missing])
    assert (std[~missing] == 0).all() and (std[missing] > 0).all()
    error = np.mean((filled - truth)[missing] ** 2)
    assert error < 0.5 * np.mean((np.nanmean(gaps, axis=0) - truth)[missing] ** 2)
    denoised = model.impute(gaps, denoise_observed=True)
    assert (denoised[~missing] != truth[~missing]).any()
    np.testing.assert_allclose(denoised[missing], filled[missing], atol=1e-9)
