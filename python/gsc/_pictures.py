"""Denoising of pictures, and how good a picture is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._errors import UsageError
from ._options import seed_of, text_of, threads_of

Array = np.ndarray[Any, Any]


def bands_of(image: Any, channel_axis: int | None, name: str = "image", many: str = "a colour picture") -> tuple[Array, str]:
    """A view of channels x height x width, and what the numbers are. ``many``: what three axes are called."""
    picture = np.asarray(image)
    if picture.dtype.kind not in "uifb":
        raise UsageError(f"{name} is an array of {picture.dtype}; pictures are of whole or real numbers")
    if picture.ndim == 3 and channel_axis is None:
        raise UsageError(
            f"{name} has shape {picture.shape}, three axes; say which one the colours are on, as channel_axis=-1"
        )
    if picture.ndim != (2 if channel_axis is None else 3):
        raise UsageError(f"{name} has {picture.ndim} axes; a grey picture has 2, {many} 3 with channel_axis")
    bands = picture[np.newaxis] if channel_axis is None else np.moveaxis(picture, channel_axis, 0)
    return bands, str(picture.dtype)


def _planes(image: Any, channel_axis: int | None, name: str = "image") -> tuple[Array, str]:
    """Channels x height x width as doubles, and what the numbers were."""
    planes, dtype = bands_of(image, channel_axis, name)
    if planes.shape[0] not in (1, 3):
        raise UsageError(
            f"{name} has {planes.shape[0]} channels on axis {channel_axis}; there must be 1 or 3 (leave alpha out)"
        )
    planes = np.ascontiguousarray(planes, dtype=np.float64)
    if planes.size and not np.isfinite(planes).all():
        raise UsageError(f"{name} contains NaN or infinity; replace those pixels first")
    return planes, dtype


def _like(planes: Array, image: Any, shape: tuple[int, ...], channel_axis: int | None) -> Array:
    """Back to the axes of the picture, as real numbers: float32 stays float32, all else becomes float64."""
    planes = planes.reshape(shape)
    picture = planes[0] if channel_axis is None else np.moveaxis(planes, 0, channel_axis)
    single = np.asarray(image).dtype == np.float32
    return np.ascontiguousarray(picture, dtype=np.float32 if single else np.float64)


def require_callback(callback: Any) -> None:
    """What is told how much is done must be callable."""
    if callback is not None and not callable(callback):
        raise UsageError(f"callback is {callback!r}; it must be a function of one argument, the part that is done")


def asked_for(
    result: dict[str, Any],
    image: Any,
    shape: tuple[int, ...],
    channel_axis: int | None,
    return_std: bool,
    return_all: Callable[[Array, Any], Any] | None,
) -> Any:
    """The picture, the picture and its deviations, or what ``return_all`` makes of both."""
    picture = _like(result["picture"], image, shape, channel_axis)
    if not return_std and return_all is None:
        return picture
    std = None if result["std"] is None else _like(result["std"], image, shape, channel_axis)
    return (picture, std) if return_all is None else return_all(picture, std)


@dataclass(frozen=True)
class NoiseLevel:
    """How strong the noise of a picture is.

    Attributes
    ----------
    std : float
        Standard deviation, in the units of the pixels.
    error : float
        Its relative standard error, a guess.
    uncertain : bool
        Whether the picture leaves it open: texture everywhere, too few pixels, or most of them clipped.
    why : str
        Is it uncertain.
    """

    std: float
    error: float
    uncertain: bool
    why: str = field(default="")


@dataclass(frozen=True)
class Denoised:
    """A denoised picture with all that is known about it.

    Attributes
    ----------
    image : ndarray
        The picture, in the units it came in and never clipped.
    std : ndarray or None
        Standard deviation of the error of each pixel; None by a method that has none (``method="ksvd"``).
    noise : NoiseLevel
        As told, or measured before learning.
    components : ndarray of shape (n_components, patch, patch[, channels])
        What was learned from the patches of the picture.
    """

    image: Array
    std: Array | None
    noise: NoiseLevel
    components: Array


def denoise_options() -> dict[str, list[str]]:
    """The options of :func:`denoise` with the words that can be chosen; none: a number."""
    return {"alpha" if name == "lambda" else name: list(words) for name, words in _core.denoise_options().items()}


def denoise(
    image: Any,
    *,
    quality: str = "standard",
    channel_axis: int | None = None,
    return_std: bool = False,
    return_all: bool = False,
    n_jobs: int | None = None,
    random_state: Any = 1,
    callback: Callable[[float], Any] | None = None,
    **options: Any,
) -> Any:
    """Denoises a picture by learning from its own patches. Nobody has to know the noise level.

    Parameters
    ----------
    image : array-like of shape (height, width), or with three channels on ``channel_axis``
        The noisy picture, of whole or real numbers in any units.
    quality : {'fast', 'standard', 'best'}, default='standard'
        Trades time for quality.
    channel_axis : int or None, default=None
        Where the colours are; None: the picture is grey.
    return_std : bool, default=False
        Also the standard deviation of the error of each pixel.
    return_all : bool, default=False
        A :class:`Denoised` instead.
    n_jobs : int or None, default=None
        Threads; None: as many as there are physical cores, or what OMP_NUM_THREADS and threadpoolctl allow.
    random_state : int, RandomState instance or None, default=1
        An integer gives the same result each time, and that of the program with this seed.
    callback : callable or None, default=None
        Called with the part of the work that is done, 0 to 1. Where it returns something true, the work is given up with
        a ``GscError``.
    **options
        What is otherwise chosen by ``quality`` and the noise; :func:`denoise_options` lists them. What the program
        calls ``--lambda`` is ``alpha`` here. An option that is not of the ``method`` is refused.

    Returns
    -------
    image : ndarray
        The denoised picture in the input's units, never clipped; float32 stays float32, all else is float64.
    std : ndarray
        Only if ``return_std``.

    Examples
    --------
    >>> import numpy as np, gsc
    >>> truth = np.outer(np.hanning(48), np.hanning(48)) * 200
    >>> noisy = truth + np.random.default_rng(0).normal(0, 20, truth.shape)
    >>> clean = gsc.denoise(noisy, quality="fast")
    >>> gsc.psnr(truth, clean, data_range=255) > gsc.psnr(truth, noisy, data_range=255) + 5
    True
    """
    planes, depth = _planes(image, channel_axis)
    # As in DictionaryCoding: lambda is no name in Python.
    texts = {
        "lambda" if name == "alpha" else name: text_of(name, value)
        for name, value in options.items()
        if value is not None
    }
    texts |= {"quality": text_of("quality", quality), "seed": str(seed_of(random_state)), "threads": str(threads_of(n_jobs))}
    require_callback(callback)
    without_std = _core.point_estimate(texts.get("method", "truncated"))
    if without_std and return_std:
        raise UsageError(f"return_std is True, but the {texts['method']} method has no posterior deviation of pixels")
    try:
        result = _core.denoise(planes, depth, texts, callback)
    except UsageError as error:
        raise UsageError(re.sub(r"\blambda(?= is )", "alpha", str(error))) from None
    if without_std:
        result["std"] = None

    def everything(clean: Array, std: Array | None) -> Denoised:
        learned = result["learned"][0]
        side = learned["patch"]
        shape = (side, side) if channel_axis is None else (side, side, planes.shape[0])
        components = learned["model"].arrays()["W"].T
        return Denoised(clean, std, NoiseLevel(**result["noise"]), np.ascontiguousarray(components).reshape(-1, *shape))

    return asked_for(result, image, planes.shape, channel_axis, return_std, everything if return_all else None)


def estimate_sigma(image: Any, *, channel_axis: int | None = None, return_level: bool = False) -> Any:
    """How strong the noise of a picture is, from its smooth parts and its spectra.

    Parameters
    ----------
    image : array-like of shape (height, width), or with three channels on ``channel_axis``
        The noisy picture.
    channel_axis : int or None, default=None
        Where the colours are; None: the picture is grey.
    return_level : bool, default=False
        A :class:`NoiseLevel` instead, which also says how certain that is.

    Returns
    -------
    sigma : float
        Standard deviation in the units of the pixels, of all channels together.
    """
    planes, depth = _planes(image, channel_axis)
    level = NoiseLevel(**_core.measure_noise(planes, depth))
    return level if return_level else level.std


def _peak(truth: Any, data_range: float | None) -> float:
    if data_range is not None:
        if not data_range > 0:
            raise UsageError(f"data_range is {data_range}; it must be positive, as 255 or 1")
        return float(data_range)
    kind = np.asarray(truth).dtype
    if kind.kind in "ui":
        return float(np.iinfo(kind).max)
    raise UsageError("data_range is left out, and real numbers do not tell it; say what white is, as data_range=1")


def _compare(measure: Any, truth: Any, image: Any, data_range: float | None, channel_axis: int | None) -> float:
    peak = _peak(truth, data_range)
    return float(measure(_planes(truth, channel_axis, "truth")[0], _planes(image, channel_axis)[0], peak))


def psnr(truth: Any, image: Any, *, data_range: float | None = None, channel_axis: int | None = None) -> float:
    """Peak signal-to-noise ratio in decibels.

    Parameters
    ----------
    truth, image : array-like of shape (height, width), or with three channels on ``channel_axis``
        The two pictures.
    data_range : float or None, default=None
        What white is; None: the largest number of the type of ``truth``, where that is of whole numbers.
    channel_axis : int or None, default=None
        Where the colours are; None: the pictures are grey.

    Returns
    -------
    psnr : float
        Infinite for equal pictures.
    """
    return _compare(_core.psnr, truth, image, data_range, channel_axis)


def ssim(truth: Any, image: Any, *, data_range: float | None = None, channel_axis: int | None = None) -> float:
    """Mean structural similarity (Gaussian window of 1.5 pixels), 1 for equal pictures.

    Parameters
    ----------
    truth, image : array-like of shape (height, width), or with three channels on ``channel_axis``
        The two pictures.
    data_range : float or None, default=None
        What white is; None: the largest number of the type of ``truth``, where that is of whole numbers.
    channel_axis : int or None, default=None
        Where the colours are; None: the pictures are grey.

    Returns
    -------
    ssim : float
    """
    return _compare(_core.ssim, truth, image, data_range, channel_axis)


def amari_index(learned: Any, generating: Any) -> float:
    """How far a learned mixing matrix is from the one that made the data.

    Parameters
    ----------
    learned, generating : array-like of shape (n_sources, n_sources)
        Mixing matrices, a column for each source.

    Returns
    -------
    amari : float
        0 if they agree up to order and scale of the columns.
    """
    matrices = [np.ascontiguousarray(matrix, dtype=np.float64) for matrix in (learned, generating)]
    for name, matrix in zip(("learned", "generating"), matrices, strict=True):
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise UsageError(f"{name} has shape {matrix.shape}; mixing matrices must be square to be compared")
    return float(_core.amari_index(*matrices))
