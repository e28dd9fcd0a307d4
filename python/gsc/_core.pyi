"""The compiled part. Nothing here is for users."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

version: str
whiten_words: list[str]
nonlinearity_words: list[str]
decorrelation_words: list[str]
fastica_usual: tuple[str, str, int, float]

class Model:
    latents: int
    dimensions: int
    def arrays(self) -> dict[str, Any]: ...

def option_list() -> list[dict[str, Any]]: ...
def check_options(texts: Mapping[str, str]) -> dict[str, str]: ...
def usual_threads() -> int: ...
def point_estimate(method: str) -> bool: ...
def objective_name(method: str) -> str: ...
def make_model(
    W: Array,
    pi: Array,
    mu: Array,
    slab_type: str,
    slab: Array,
    noise_type: str,
    noise: Array,
    intercept: Array | None,
    W_variance: Array | None,
) -> Model: ...
def sample(model: Model, count: int, seed: int) -> tuple[Array, Array, Array]: ...
def sample_bars(latents: int, count: int, noise_std: float | None, seed: int) -> tuple[Array, Array, Array, Model]: ...
def sample_mixture(
    coefficients: str, sources: int, count: int, noise_std: float, perturbation: float, seed: int
) -> tuple[Array, Array]: ...
def fit(
    X: Array,
    options: Mapping[str, str],
    restarts: int,
    start: Model | None,
    dictionary: Array | None,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> dict[str, Any]: ...
def fit_piece(
    X: Array,
    options: Mapping[str, str],
    model: Model | None,
    dictionary: Array | None,
    method: Mapping[str, Any],
    pieces: int,
    points: float,
) -> dict[str, Any]: ...
def infer(
    X: Array, model: Model, options: Mapping[str, str], wanted: set[str], states: int, single: bool
) -> dict[str, Any]: ...
def impute(X: Array, model: Model, options: Mapping[str, str], denoise_observed: bool) -> tuple[Array, Array, int]: ...
def separate(
    X: Array,
    options: Mapping[str, str],
    restarts: int,
    whiten: str,
    fastica_start: bool,
    nonlinearity: str,
    decorrelation: str,
    callback: Callable[[dict[str, Any]], Any] | None,
) -> dict[str, Any]: ...
def separate_by_fastica(
    X: Array,
    latents: int,
    nonlinearity: str,
    decorrelation: str,
    iterations: int,
    tolerance: float,
    start: Array | None,
    seed: int,
    threads: int,
) -> dict[str, Any]: ...
def separate_usual() -> dict[str, str]: ...

separate_fastica_start: bool

def denoise_options() -> dict[str, list[str]]: ...
def denoise(
    planes: Array, depth: str, options: Mapping[str, str], callback: Callable[[float], Any] | None
) -> dict[str, Any]: ...
def inpaint(
    planes: Array, depth: str, options: Mapping[str, Any], callback: Callable[[float], Any] | None
) -> dict[str, Any]: ...
def measure_noise(planes: Array, depth: str) -> dict[str, Any]: ...
def psnr(truth: Array, picture: Array, peak: float) -> float: ...
def ssim(truth: Array, picture: Array, peak: float) -> float: ...
def amari_index(learned: Array, generating: Array) -> float: ...
