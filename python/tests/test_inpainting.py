"""Filling what is missing of a picture."""

import numpy as np
import pytest

import gsc


@pytest.fixture(scope="module")
def picture():
    y, x = np.mgrid[:64, :64]
    truth = 120 + 60 * np.sin(x / 3) * np.cos(y / 4) + 40 * (x > y)
    return truth, np.random.default_rng(0).random(truth.shape) < 0.6


def test_inpaint(picture):
    truth, mask = picture
    whole, std = gsc.inpaint(np.where(mask, 0, truth), mask, quality="fast", return_std=True)
    assert gsc.psnr(truth, whole, data_range=255) > 30
    np.testing.assert_array_equal(whole[~mask], truth[~mask])
    assert (std[~mask] == 0).all() and (std[mask] > 0).all()
    assert (np.abs(whole - truth)[mask] < 2 * std[mask]).mean() > 0.8


def test_what_is_hidden_cannot_matter(picture):
    truth, mask = picture
    results = [
        gsc.inpaint(np.where(mask, hidden, truth), mask, quality="fast", n_jobs=n_jobs)
        for hidden, n_jobs in ((0, 1), (1e300, 2), (np.nan, 1), (np.inf, 1))
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(results[0], result)
    np.testing.assert_array_equal(results[0], gsc.inpaint(np.where(mask, np.nan, truth), quality="fast"))


@pytest.mark.parametrize(("axis", "bands"), [(0, 3), (-1, 3), (-1, 5)])
def test_bands_and_types(picture, axis, bands):
    truth, mask = picture
    colours = np.stack([truth[:40, :40] + 5 * b for b in range(bands)], axis=axis).astype(np.float32)
    everything = gsc.inpaint(colours, mask[:40, :40], channel_axis=axis, quality="fast", return_all=True)
    assert everything.image.shape == colours.shape and everything.image.dtype == np.float32
    assert everything.kept and everything.held_out.values > 40
    assert np.abs(everything.image - colours).mean() < 12
    values = np.stack([mask[:40, :40]] * bands, axis=axis)
    np.testing.assert_array_equal(everything.image, gsc.inpaint(colours, values, channel_axis=axis, quality="fast"))


def test_noise_is_taken_out(picture):
    truth, mask = picture
    noisy = truth + np.random.default_rng(1).normal(0, 15, truth.shape)
    denoised = gsc.inpaint(noisy, mask & False, quality="fast", sigma=15)
    assert gsc.psnr(truth, denoised, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 2
    kept = gsc.inpaint(noisy, mask, quality="fast", sigma=15, keep_observed=True)
    np.testing.assert_array_equal(kept[~mask], noisy[~mask])


def test_callback(picture):
    truth, mask = picture
    parts = []
    gsc.inpaint(truth, mask, quality="fast", callback=parts.append)
    assert parts and min(parts) >= 0 and max(parts) <= 1
    with pytest.raises(gsc.GscError, match="interrupted while inpainting"):
        gsc.inpaint(truth, mask, quality="fast", callback=lambda part: True)


def patches(image, side):
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side))
    return windows.reshape(-1, side * side).astype(float)


def test_learned_elsewhere(picture):
    truth, mask = picture
    coder = gsc.SpikeSlabCoding(16, n_candidates=6, max_active=3, max_iter=5).fit(patches(truth, 6))
    damaged = np.where(mask, np.nan, truth)
    whole = gsc.inpaint(damaged, quality="fast", learn_from=coder)
    assert (whole != gsc.inpaint(damaged, quality="fast")).any()
    assert gsc.psnr(truth, whole, data_range=255) > 30
    np.testing.assert_array_equal(whole[~mask], truth[~mask])
    table = gsc.SpikeSlabCoding(4, max_iter=1).fit(np.random.default_rng(2).normal(size=(50, 7)))
    with pytest.raises(gsc.UsageError, match="7"):
        gsc.inpaint(damaged, learn_from=table)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mask": np.zeros((5, 5), bool)}, r"mask has shape \(5, 5\), but image has \(64, 64\)"),
        ({"mask": np.ones((64, 64), bool)}, "every value of the picture is missing"),
        ({"mask": np.full((64, 64), "x")}, "mask is an array of <U1"),
        ({"quality": "great"}, "quality is 'great'; choose one of fast, standard, best"),
        ({"patch": 1}, "patch is 1"),
        ({"sigma": -1.0}, "noise is -1"),
        ({"channel_axis": -1}, "image has 2 axes"),
        ({"callback": 3}, "callback is 3"),
        ({"learn_from": "model.h5"}, "learn_from is a str; it must be a fitted SpikeSlabCoding"),
        ({"learn_from": gsc.SpikeSlabCoding(4)}, "not fitted"),
    ],
)
def test_refusals(picture, arguments, words):
    truth, mask = picture
    with pytest.raises((gsc.GscError, ValueError), match=words):
        gsc.inpaint(truth, **{"mask": mask, **arguments})
    with pytest.raises(gsc.UsageError, match="infinity"):
        gsc.inpaint(np.full((8, 8), np.inf))
