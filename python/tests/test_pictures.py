"""Pictures and measures of them."""

import numpy as np
import pytest

import gsc


@pytest.fixture(scope="module")
def pictures():
    y, x = np.mgrid[:64, :64]
    truth = 120 + 60 * np.sin(x / 5) * np.cos(y / 7) + 40 * (x > y)
    return truth, truth + np.random.default_rng(0).normal(0, 20, truth.shape)


def test_denoise(pictures):
    truth, noisy = pictures
    clean, std = gsc.denoise(noisy, quality="fast", return_std=True)
    assert gsc.psnr(truth, clean, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 5
    assert gsc.ssim(truth, clean, data_range=255) > gsc.ssim(truth, noisy, data_range=255) + 0.2
    assert std.shape == truth.shape and (std > 0).all()
    # Most errors lie within two standard deviations.
    assert (np.abs(clean - truth) < 2 * std).mean() > 0.7
    np.testing.assert_array_equal(clean, gsc.denoise(noisy, quality="fast"))


def test_a_dictionary_has_no_deviations(pictures):
    truth, noisy = pictures
    clean = gsc.denoise(noisy, method="ksvd", sigma=20)
    assert gsc.psnr(truth, clean, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 4
    everything = gsc.denoise(noisy, method="ksvd", sigma=20, return_all=True)
    assert everything.std is None and everything.noise.std == 20
    with pytest.raises(gsc.UsageError, match="ksvd method has no posterior deviation"):
        gsc.denoise(noisy, method="ksvd", return_std=True)
    with pytest.raises(gsc.UsageError, match="sigma is 0"):
        gsc.denoise(noisy, method="ksvd", sigma=0)


@pytest.mark.parametrize(
    "options",
    [{"coding": "bounded"}, {"coding": "omp", "decay": 1.0}, {"alpha": 50.0}, {"method": "feature-sign", "alpha": 40.0}],
)
def test_options_of_dictionaries_arrive(pictures, options):
    truth, noisy = pictures
    method = {"method": "online", "sigma": 20, "n_jobs": 1}
    clean = gsc.denoise(noisy, **{**method, **options})
    assert gsc.psnr(truth, clean, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 4
    as_it_is = gsc.denoise(noisy, **{**method, "method": options.get("method", "online")})
    assert np.array_equal(clean, as_it_is) == (options == {"coding": "bounded"})  # which is what denoising chooses


@pytest.mark.parametrize("method", ["beta-process", "beta-variational"])
def test_the_beta_process_learns_the_noise(pictures, method):
    truth, noisy = pictures
    found = gsc.denoise(noisy, method=method, quality="fast", iterations=20, latents=64, return_all=True)
    assert gsc.psnr(truth, found.image, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 5
    assert (found.std > 0).all() and (np.abs(found.image - truth) < 2 * found.std).mean() > 0.7
    assert found.components.shape == (64, 8, 8)
    if method == "beta-process":
        again = gsc.denoise(noisy, method=method, quality="fast", iterations=20, latents=64)
        np.testing.assert_array_equal(found.image, again)


def test_units_and_types_stay(pictures):
    _, noisy = pictures
    single = gsc.denoise((noisy - 1000).astype(np.float32), quality="fast")
    assert single.dtype == np.float32 and single.max() < 0
    whole = gsc.denoise(np.clip(np.round(noisy), 0, 255).astype(np.uint8), quality="fast")
    assert whole.dtype == np.float64 and not np.array_equal(whole, np.round(whole))


@pytest.mark.parametrize("axis", [0, -1])
def test_colours(pictures, axis):
    _, noisy = pictures
    colours = np.stack([noisy[:40, :40], noisy[20:60, :40], noisy[:40, 20:60]], axis=axis)
    everything = gsc.denoise(colours, quality="fast", channel_axis=axis, return_all=True)
    assert everything.image.shape == colours.shape and everything.std.shape == colours.shape
    assert everything.components.shape[1:] == (*everything.components.shape[1:3], 3)
    assert everything.noise.std == pytest.approx(gsc.estimate_sigma(colours, channel_axis=axis))


def test_estimate_sigma(pictures):
    assert gsc.estimate_sigma(pictures[1]) == pytest.approx(20, rel=0.2)
    level = gsc.estimate_sigma(pictures[1], return_level=True)
    assert level.std == gsc.estimate_sigma(pictures[1]) and isinstance(level.uncertain, bool)


def test_measures():
    picture = np.random.default_rng(0).integers(0, 255, (32, 32)).astype(np.uint8)
    assert gsc.psnr(picture, picture) == np.inf and gsc.ssim(picture, picture) == pytest.approx(1)
    assert gsc.psnr(picture, picture + 16.0) == pytest.approx(20 * np.log10(255 / 16))
    mixing = np.random.default_rng(0).normal(size=(3, 3))
    assert gsc.amari_index(mixing[:, [2, 0, 1]] * [2, -1, 3], mixing) == pytest.approx(0, abs=1e-12)
    assert gsc.amari_index(np.eye(3) + 0.2, mixing) > 0.1
