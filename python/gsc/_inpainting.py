"""Filling what is missing of a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._base import ModelEstimator
from ._errors import UsageError
from ._options import seed_of, threads_of
from ._pictures import Array, asked_for, bands_of, require_callback


@dataclass(frozen=True)
class HeldOut:
    """What observed values say that were set aside while a picture was filled.

    Attributes
    ----------
    values : int
        How many; 0: there were too few.
    rmse : float
        Root mean square error with which they were predicted, without their own noise.
    psnr : float
        The same of the whole picture, in decibels.
    at_least : bool
        Whether noise of what is observed hides the error: that is ``rmse`` at most, and ``psnr`` at least.
    coverage : float
        Share of them within two standard deviations, each half judged by what the other half says.
    """

    values: int
    rmse: float
    psnr: float
    at_least: bool
    coverage: float


@dataclass(frozen=True)
class Inpainted:
    """A filled picture with all that is known about it.

    Attributes
    ----------
    image : ndarray
        The picture, in the units it came in and never clipped.
    std : ndarray or None
        Standard deviation of each value's error, 0 where it is kept; None without rounds of groups.
    sigma : float
        Noise of what is observed.
    kept : bool
        Whether observed values are as they were.
    held_out : HeldOut
        How good it is, without the truth.
    """

    image: Array
    std: Array | None
    sigma: float
    kept: bool
    held_out: HeldOut


def _damaged(image: Any, mask: Any, channel_axis: int | None) -> tuple[Array, str]:
    """Bands x height x width with NaN for what is missing, and what the numbers were."""
    bands, dtype = bands_of(image, channel_axis, many="one with bands")
    planes = np.array(bands, dtype=np.float64, order="C")
    if mask is not None:
        hidden = np.asarray(mask)
        if hidden.dtype.kind not in "buif":
            raise UsageError(f"mask is an array of {hidden.dtype}; it must be of booleans, True where something is missing")
        shape = np.shape(image)
        if hidden.shape not in (shape, bands.shape[1:]):
            raise UsageError(
                f"mask has shape {hidden.shape}, but image has {shape}; it must be that, or height and width "
                f"{bands.shape[1:]} for whole pixels"
            )
        if hidden.ndim == 3:
            hidden = np.moveaxis(hidden, channel_axis, 0)  # type: ignore[arg-type]
        planes[np.broadcast_to(hidden != 0, planes.shape)] = np.nan
    if np.isinf(planes).any():
        raise UsageError("image contains infinity; say by mask that those values are missing")
    return planes, dtype


def _learned(estimator: Any) -> tuple[Any, dict[str, str]] | None:
    """The model and how posteriors are inferred."""
    if estimator is None:
        return None
    if not isinstance(estimator, ModelEstimator):
        raise UsageError(
            f"learn_from is a {type(estimator).__name__}; it must be a fitted SpikeSlabCoding, as gsc.io.load_model returns it"
        )
    return estimator._model(), estimator._inference_texts()


def inpaint(
    image: Any,
    mask: Any = None,
    *,
    quality: str = "standard",
    channel_axis: int | None = None,
    return_std: bool = False,
    return_all: bool = False,
    sigma: float | None = None,
    keep_observed: bool | None = None,
    patch: int | None = None,
    groups: int | None = None,
    learn_from: ModelEstimator | None = None,
    n_jobs: int | None = None,
    random_state: Any = 1,
    callback: Callable[[float], Any] | None = None,
) -> Any:
    """Fills what is missing of a picture from what is there.

    Parameters
    ----------
    image : array-like of shape (height, width), or with bands on ``channel_axis``
        The damaged picture, of whole or real numbers in any units. NaN is missing, too.
    mask : array-like of the same shape, or of shape (height, width) for whole pixels, default=None
        True (not 0) where something is missing; what ``image`` has there does not matter. None: NaN alone says it.
    quality : {'fast', 'standard', 'best'}, default='standard'
        Trades time for quality.
    channel_axis : int or None, default=None
        Where the colours or bands are, of which there may be any number; None: the picture is grey.
    return_std : bool, default=False
        Also the standard deviation of each value's error.
    return_all : bool, default=False
        An :class:`Inpainted` instead.
    sigma : float or None, default=None
        Standard deviation of the noise of what is observed, which is taken out; None: there is none, or with
        ``keep_observed=False`` it is measured.
    keep_observed : bool or None, default=None
        Whether observed values stay as they are; None: unless ``sigma`` says that they have noise.
    patch, groups : int or None, default=None
        Pixels a side of the patches, and rounds; None: by ``quality``.
    learn_from : fitted SpikeSlabCoding or None, default=None
        A model of square patches, over all bands (in the order row, column, band), in the units of ``image``, that was
        learned elsewhere: it makes the first guess of what is missing. :func:`gsc.io.load_model` reads one.
    n_jobs : int or None, default=None
        Threads; None: as many as there are physical cores, or what OMP_NUM_THREADS and threadpoolctl allow.
    random_state : int, RandomState instance or None, default=1
        An integer gives the same result each time, and that of the program with this seed.
    callback : callable or None, default=None
        Called with the part of the work that is done, 0 to 1. Where it returns something true, the work is given up with
        a ``GscError``.

    Returns
    -------
    image : ndarray
        The whole picture in the input's units, never clipped; float32 stays float32, all else is float64.
    std : ndarray
        Only if ``return_std``.

    Examples
    --------
    >>> import numpy as np, gsc
    >>> truth = np.outer(np.hanning(48), np.hanning(48)) * 200
    >>> mask = np.random.default_rng(0).random(truth.shape) < 0.7
    >>> whole = gsc.inpaint(np.where(mask, 0, truth), mask, quality="fast")
    >>> bool(np.abs(whole - truth).max() < 20)
    True
    """
    planes, depth = _damaged(image, mask, channel_axis)
    require_callback(callback)
    if return_std and groups == 0:
        raise UsageError("return_std is True, but groups is 0, and a first guess does not know how far off it is")
    given = {
        "quality": quality,
        "patch": patch,
        "groups": groups,
        "sigma": sigma,
        "keep_observed": keep_observed,
        "seed": seed_of(random_state),
        "threads": threads_of(n_jobs),
        "learned": _learned(learn_from),
    }
    given = {name: value for name, value in given.items() if value is not None}
    result = _core.inpaint(planes, depth, given, callback)

    def everything(whole: Array, std: Array | None) -> Inpainted:
        return Inpainted(whole, std, result["sigma"], result["kept"], HeldOut(**result["held_out"]))

    return asked_for(result, image, planes.shape, channel_axis, return_std, everything if return_all else None)
