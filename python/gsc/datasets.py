"""Artificial data, as ``gsc sample --generator`` of the program draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._errors import UsageError
from ._options import seed_of

__all__ = ["Bars", "Mixture", "make_bars", "make_mixture"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Bars:
    """Data of :func:`make_bars`.

    Attributes
    ----------
    data : ndarray of shape (n_samples, (n_bars / 2)**2)
        A picture in every row.
    components : ndarray of shape (n_bars, (n_bars / 2)**2)
        The bars.
    codes : ndarray of shape (n_samples, n_bars)
        How strong each bar is in each picture; 0 where it is off.
    noise_variance : float
        Of the noise.
    """

    data: Array
    components: Array
    codes: Array
    noise_variance: float


def make_bars(n_samples: int = 1000, *, n_bars: int = 10, noise: float | None = None, random_state: Any = None) -> Bars:
    """Pictures that are superpositions of horizontal and vertical bars, about two in each.

    Parameters
    ----------
    n_samples : int, default=1000
        How many pictures.
    n_bars : int, default=10
        How many bars, an even number; pictures have n_bars / 2 pixels a side.
    noise : float or None, default=None
        Standard deviation of the noise; None: the square root of 2.
    random_state : int, RandomState instance or None, default=None
        An integer gives what the program draws with that seed.

    Returns
    -------
    bars : Bars
    """
    _check_count(n_samples)
    data, spikes, slabs, model = _core.sample_bars(int(n_bars), int(n_samples), noise, seed_of(random_state))
    arrays = model.arrays()
    return Bars(data, np.ascontiguousarray(arrays["W"].T), spikes * slabs, float(arrays["noise"][0, 0]))


@dataclass(frozen=True)
class Mixture:
    """Data of :func:`make_mixture`.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_sources)
        The channels.
    mixing : ndarray of shape (n_sources, n_sources)
        What each source, a column, adds to each channel.
    """

    data: Array
    mixing: Array


def make_mixture(
    n_samples: int = 1000,
    *,
    n_sources: int = 10,
    coefficients: str = "laplace",
    noise: float = 1.0,
    perturbation: float = 0.0,
    random_state: Any = None,
) -> Mixture:
    """Mixtures of independent sources with heavy tails.

    Parameters
    ----------
    n_samples : int, default=1000
        How many samples.
    n_sources : int, default=10
        How many sources, and channels.
    coefficients : {'laplace', 'cauchy'}, default='laplace'
        How the sources are distributed, with unit scale.
    noise : float, default=1.0
        Standard deviation of the noise.
    perturbation : float, default=0.0
        The mixing is orthogonal, plus normal numbers with this standard deviation.
    random_state : int, RandomState instance or None, default=None
        An integer gives what the program draws with that seed.

    Returns
    -------
    mixture : Mixture
    """
    _check_count(n_samples)
    if coefficients not in ("laplace", "cauchy"):
        raise UsageError(f"coefficients is {coefficients!r}; choose one of laplace, cauchy")
    if n_sources < 1 or noise < 0 or perturbation < 0:
        raise UsageError(
            f"n_sources is {n_sources}, noise {noise}, perturbation {perturbation}; there must be at least one source, "
            "and the others must not be negative"
        )
    seed = seed_of(random_state)
    data, mixing = _core.sample_mixture(
        coefficients, int(n_sources), int(n_samples), float(noise), float(perturbation), seed
    )
    return Mixture(data, mixing)


def _check_count(n_samples: int) -> None:
    if n_samples < 1:
        raise UsageError(f"n_samples is {n_samples}; it must be at least 1")
