"""Plots: what is drawn is what there is."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import gsc  # noqa: E402
from gsc import plot  # noqa: E402


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    matplotlib.pyplot.close("all")


def test_components(coding):
    display = plot.ComponentsDisplay.from_estimator(coding, shape=(5, 5), n_columns=5)
    grid = display.axes_.images[0].get_array().filled(np.nan)
    assert grid.shape == (13, 31)
    most = coding.components_[np.argmax(coding.activation_probability_)]
    np.testing.assert_allclose(grid[1:6, 1:6], (most / np.abs(most).max()).reshape(5, 5))
    with pytest.raises(ValueError, match="a component has 25 numbers"):
        plot.ComponentsDisplay.from_estimator(coding, shape=(4, 5))


def test_curves(coding):
    assert len(plot.TracesDisplay.from_estimator(coding, n_components=3).axes_) == 3
    lines = plot.LowerBoundDisplay.from_estimator(coding).axes_[0].lines
    np.testing.assert_allclose(lines[0].get_ydata()[-1], coding.lower_bound_)
    bars = plot.ActivationDisplay.from_estimator(coding).axes_.patches
    assert bars[0].get_height() == coding.activation_probability_.max() and len(bars) == 10


def test_curves_of_other_methods(X):
    draws = gsc.BetaProcessCoding(8, max_iter=4, random_state=1).fit(X)
    axes = plot.LowerBoundDisplay.from_estimator(draws).axes_
    np.testing.assert_allclose(axes[0].lines[0].get_ydata()[-1], draws.objective_)
    assert axes[0].get_ylabel() == "log joint a data point"
    dictionary = gsc.DictionaryCoding(8, method="feature-sign", max_iter=2).fit(X)
    axes = plot.LowerBoundDisplay.from_estimator(dictionary).axes_
    np.testing.assert_allclose(axes[0].lines[0].get_ydata()[-1], dictionary.objective_)
    assert axes[0].get_ylabel() == "lasso objective"


def test_before_and_after():
    picture = np.arange(400.0).reshape(20, 20)
    display = plot.DenoisedDisplay.from_pictures(picture, picture, picture)
    np.testing.assert_array_equal(display.axes_[2].images[0].get_array(), picture)
    colour = np.stack([picture] * 3, axis=-1)
    assert len(plot.DenoisedDisplay.from_pictures(colour, colour).axes_) == 2
