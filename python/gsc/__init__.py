"""Spike-and-slab sparse coding by truncated EM.

Learns components of data with the probability that each is active, its amplitude and its uncertainty; denoises pictures
of unknown noise level; separates mixed sources.
"""

from . import _core, datasets
from ._base import Posterior
from ._coding import SpikeSlabCoding
from ._dictionary import DictionaryCoding
from ._errors import DataError, GscError, UsageError
from ._inpainting import HeldOut, Inpainted, inpaint
from ._pictures import Denoised, NoiseLevel, amari_index, denoise, denoise_options, estimate_sigma, psnr, ssim
from ._separation import SpikeSlabSeparation
from .io import load_dictionary, load_model, save_model

__version__: str = _core.version
__all__ = [
    "DataError",
    "Denoised",
    "DictionaryCoding",
    "GscError",
    "HeldOut",
    "Inpainted",
    "NoiseLevel",
    "Posterior",
    "SpikeSlabCoding",
    "SpikeSlabSeparation",
    "UsageError",
    "__version__",
    "amari_index",
    "datasets",
    "denoise",
    "denoise_options",
    "estimate_sigma",
    "inpaint",
    "load_dictionary",
    "load_model",
    "psnr",
    "save_model",
    "ssim",
]
