"""Spike-and-slab sparse coding by truncated EM.

Learns components of data with the probability that each is active, its amplitude and its uncertainty; denoises pictures
of unknown noise level; separates mixed sources.
"""

from . import _core, datasets
from ._base import Posterior
from ._beta_process import BetaProcessCoding
from ._coding import SpikeSlabCoding
from ._dictionary import DictionaryCoding
from ._errors import DataError, GscError, UsageError
from ._fastica import FastICASeparation
from ._inpainting import HeldOut, Inpainted, inpaint
from ._pictures import Denoised, NoiseLevel, amari_index, denoise, denoise_options, estimate_sigma, psnr, ssim
from ._separation import SpikeSlabSeparation
from .io import load, load_beta_process, load_dictionary, load_model, save_model

__version__: str = _core.version
__all__ = [
    "BetaProcessCoding",
    "DataError",
    "Denoised",
    "DictionaryCoding",
    "FastICASeparation",
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
    "load",
    "load_beta_process",
    "load_dictionary",
    "load_model",
    "psnr",
    "save_model",
    "ssim",
]
