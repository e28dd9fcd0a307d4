"""Pictures of what was learned, on matplotlib (``pip install gsc-learn[plot]``).

Displays follow scikit-learn's: ``from_estimator`` draws and returns an object with ``figure_`` and ``axes_``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    import matplotlib.pyplot as plt
except ImportError as error:  # pragma: no cover
    raise ImportError("gsc.plot needs matplotlib; install it with pip install matplotlib") from error

from sklearn.utils.validation import check_is_fitted

from ._errors import UsageError

__all__ = ["ActivationDisplay", "ComponentsDisplay", "DenoisedDisplay", "LowerBoundDisplay", "TracesDisplay"]

Array = np.ndarray[Any, Any]


class _Display:
    figure_: Any
    axes_: Any

    def _keep(self, figure: Any, axes: Any) -> None:
        self.figure_, self.axes_ = figure, axes


def _by_use(estimator: Any, n: int | None) -> Array:
    """Indices of components, those used most first."""
    order = np.argsort(-estimator.activation_probability_, kind="stable")
    return order[:n] if n is not None else order


class ComponentsDisplay(_Display):
    """Components as a grid of small pictures, those used most first."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, shape: tuple[int, ...], n_components: int | None = None, n_columns: int | None = None
    ) -> ComponentsDisplay:
        """Draws the components of a fitted estimator.

        Parameters
        ----------
        estimator : SpikeSlabCoding, BetaProcessCoding or DictionaryCoding
            A fitted one.
        shape : tuple of int
            Of a component: (height, width) or (height, width, 3).
        n_components : int or None, default=None
            How many; None: all.
        n_columns : int or None, default=None
            Of the grid; None: about a square.

        Returns
        -------
        display : ComponentsDisplay
        """
        check_is_fitted(estimator)
        order = _by_use(estimator, n_components)
        if int(np.prod(shape)) != estimator.components_.shape[1]:
            raise UsageError(f"shape is {shape}, but a component has {estimator.components_.shape[1]} numbers")
        return cls.from_components(estimator.components_[order].reshape(-1, *shape), n_columns=n_columns)

    @classmethod
    def from_components(cls, components: Any, *, n_columns: int | None = None) -> ComponentsDisplay:
        """The same of an array of pictures.

        Parameters
        ----------
        components : array-like of shape (n_components, height, width[, 3])
            The pictures.
        n_columns : int or None, default=None
            Of the grid; None: about a square.

        Returns
        -------
        display : ComponentsDisplay
        """
        pictures = np.asarray(components, dtype=float)
        columns = n_columns or int(np.ceil(np.sqrt(len(pictures))))
        rows = -(-len(pictures) // columns)
        height, width = pictures.shape[1:3]
        grid = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1, *pictures.shape[3:]), np.nan)
        for i, picture in enumerate(pictures):
            largest = np.abs(picture).max() or 1.0  # each on a scale of its own, with zero in the middle
            row, column = divmod(i, columns)
            top, left = row * (height + 1) + 1, column * (width + 1) + 1
            grid[top : top + height, left : left + width] = picture / largest
        if grid.ndim == 3:
            grid = np.nan_to_num((grid + 1) / 2, nan=1.0)
        figure, axes = plt.subplots(figsize=(6, 6 * grid.shape[0] / grid.shape[1]), layout="constrained")
        axes.imshow(grid, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
        axes.set_axis_off()
        display = cls()
        display._keep(figure, axes)
        return display


class TracesDisplay(_Display):
    """Components, or any signals, as curves below each other."""

    @classmethod
    def from_estimator(cls, estimator: Any, *, n_components: int = 8) -> TracesDisplay:
        """Draws components as curves, those used most first.

        Parameters
        ----------
        estimator : SpikeSlabCoding or SpikeSlabSeparation
            A fitted one.
        n_components : int, default=8
            How many.

        Returns
        -------
        display : TracesDisplay
        """
        check_is_fitted(estimator)
        order = _by_use(estimator, n_components)
        return cls.from_signals(estimator.components_[order].T, names=[f"component {h}" for h in order])

    @classmethod
    def from_signals(cls, signals: Any, *, rate: float | None = None, names: Any = None) -> TracesDisplay:
        """Draws signals, such as sources.

        Parameters
        ----------
        signals : array-like of shape (n_samples, n_signals)
            A column each.
        rate : float or None, default=None
            Samples a second; None: the axis counts samples.
        names : sequence of str or None, default=None
            What each is called.

        Returns
        -------
        display : TracesDisplay
        """
        values = np.asarray(signals, dtype=float)
        count = values.shape[1]
        time = np.arange(len(values)) / (rate or 1)
        figure, axes = plt.subplots(count, 1, sharex=True, squeeze=False, figsize=(7, 0.9 * count + 0.6), layout="constrained")
        for i in range(count):
            axis = axes[i, 0]
            axis.plot(time, values[:, i], linewidth=0.6 if len(values) > 500 else 1.2, color="C0")
            axis.set_yticks([])
            axis.set_ylabel(names[i] if names is not None else str(i), rotation=0, ha="right", va="center")
            axis.spines[["top", "right", "left"]].set_visible(False)
        axes[-1, 0].set_xlabel("seconds" if rate else "sample")
        display = cls()
        display._keep(figure, axes[:, 0])
        return display


class LowerBoundDisplay(_Display):
    """How learning went: free energy, or what the method has in its place, and noise, iteration by iteration."""

    @classmethod
    def from_estimator(cls, estimator: Any) -> LowerBoundDisplay:
        """Draws the history of a fitted estimator.

        Parameters
        ----------
        estimator : SpikeSlabCoding, SpikeSlabSeparation, BetaProcessCoding or DictionaryCoding
            A fitted one.

        Returns
        -------
        display : LowerBoundDisplay
        """
        check_is_fitted(estimator)
        history, objective = estimator.history_, getattr(estimator, "_objective", "free_energy")
        figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
        points = getattr(estimator, "n_samples_seen_", None)  # which files do not have
        axes[0].plot(history["iteration"], history[objective] / (points or 1), marker=".", color="C0")
        axes[0].set_ylabel(objective.replace("_", " ") + (" a data point" if points else ""))
        axes[1].plot(history["iteration"], history["noise_std"], marker=".", color="C1")
        axes[1].set_ylabel("standard deviation of the noise")
        for axis in axes:
            axis.set_xlabel("iteration")
        display = cls()
        display._keep(figure, axes)
        return display


class ActivationDisplay(_Display):
    """How often components are active."""

    @classmethod
    def from_estimator(cls, estimator: Any) -> ActivationDisplay:
        """Draws activation probabilities, the largest first.

        Parameters
        ----------
        estimator : SpikeSlabCoding, SpikeSlabSeparation, BetaProcessCoding or DictionaryCoding
            A fitted one.

        Returns
        -------
        display : ActivationDisplay
        """
        check_is_fitted(estimator)
        probabilities = np.sort(estimator.activation_probability_)[::-1]
        figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
        axes.bar(np.arange(len(probabilities)), probabilities, width=0.9)
        axes.set_xlabel("component, by how often it is active")
        axes.set_ylabel("activation probability")
        axes.set_title(f"{probabilities.sum():.2f} active in a data point, on average", fontsize="medium")
        display = cls()
        display._keep(figure, axes)
        return display


class DenoisedDisplay(_Display):
    """A picture before and after, and how uncertain every pixel is."""

    @classmethod
    def from_pictures(cls, noisy: Any, denoised: Any, std: Any = None) -> DenoisedDisplay:
        """Draws them beside each other.

        Parameters
        ----------
        noisy, denoised : array-like of shape (height, width) or (height, width, 3)
            Before and after.
        std : array-like or None, default=None
            The posterior standard deviation of each pixel, as ``denoise`` gives it.

        Returns
        -------
        display : DenoisedDisplay
        """
        before, after = np.asarray(noisy, dtype=float), np.asarray(denoised, dtype=float)
        low, high = np.percentile(before, [1, 99])
        count = 2 if std is None else 3
        figure, axes = plt.subplots(1, count, figsize=(3.4 * count, 3.4), layout="constrained")
        for axis, picture, title in zip(axes, (before, after), ("noisy", "denoised"), strict=False):
            axis.imshow(np.clip((picture - low) / (high - low), 0, 1), cmap="gray", interpolation="nearest")
            axis.set_title(title, fontsize="medium")
        if std is not None:
            deviation = np.asarray(std, dtype=float)
            shown = axes[2].imshow(deviation.mean(-1) if deviation.ndim == 3 else deviation, interpolation="nearest")
            axes[2].set_title("standard deviation", fontsize="medium")
            figure.colorbar(shown, ax=axes[2], shrink=0.8)
        for axis in axes:
            axis.set_axis_off()
        display = cls()
        display._keep(figure, axes)
        return display
