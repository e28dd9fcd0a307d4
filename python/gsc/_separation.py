"""The estimator of blind source separation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from . import _core
from ._base import FLOATS, ModelEstimator, SeparationEstimator, unchanged_on_failure
from ._coding import _defaults, watching
from ._errors import GscError, UsageError
from ._options import describe, texts_of, threads_of


class SpikeSlabSeparation(SeparationEstimator, ModelEstimator):
    """Blind source separation: the sources in a mixture of several channels.

    The channels are ``x = b + W (s.z) + noise`` with a column of W for each source. The method is chosen unless one of
    ``method``, ``n_candidates`` and ``max_active`` is given: exact for up to 12 sources, then truncated. Where one is,
    the method is truncated unless it says otherwise, and ``max_active`` left out is all candidates.

    Parameters
    ----------
    n_components : int or None, default=None
        How many sources to find; None: as many as there are channels.
    whiten : {'auto', 'on', 'off'}, default='auto'
        Whether channels are made uncorrelated first; auto: unless most of what that leaves is noise.
    n_init : int, default=10
        Starts, of which the best is kept.
    fastica_start : bool, default=True
        Whether the first of the starts is from what FastICA finds; not with more components than channels.
    nonlinearity : {'tanh', 'cube', 'gauss'}, default='tanh'
        What FastICA looks at, as of :class:`FastICASeparation`.
    decorrelation : {'symmetric', 'deflation'}, default='symmetric'
        How FastICA keeps directions apart.
    {options}
    n_jobs : int or None, default=None
        Starts that run side by side. None: as many as there are physical cores, or fewer where OMP_NUM_THREADS,
        threadpoolctl or a worker of joblib say so. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same result each time, and that of the program with this seed.
    verbose : int, default=0
        Whether a line is printed after every iteration of every start.
    callback : callable or None, default=None
        Called with a dictionary about every iteration of every start. Where it returns something true, separation is
        given up with a ``GscError``.

    Attributes
    ----------
    mixing_ : ndarray of shape (n_features, n_components)
        W, what each source adds to each channel.
    components_ : ndarray of shape (n_components, n_features)
        The same with a row for each source.
    activation_probability_ : ndarray of shape (n_components,)
        How often each source is active.
    slab_mean_, slab_covariance_, intercept_, noise_variance_
        The rest of the model of the channels as they came, as of ``SpikeSlabCoding``; whitened, the noise is full.
    whitened_ : bool
        Whether channels were whitened first.
    noise_share_ : float or None
        Part of the variance of whitened channels that is noise.
    notes_ : list of str
        What there is to know about the mixture and the result.
    lower_bound_, lower_bounds_, history_, rescues_, n_iter_, converged_
        As of ``SpikeSlabCoding``.
    n_features_in_ : int
        Channels.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where the data had any.

    See Also
    --------
    FastICASeparation : Finds the sources without a model: faster, but without noise, posterior and likelihood.
    SpikeSlabCoding : Learns a model of data.

    Examples
    --------
    >>> from gsc import SpikeSlabSeparation, amari_index
    >>> from gsc.datasets import make_mixture
    >>> mixture = make_mixture(2000, n_sources=3, noise=0.05, random_state=1)
    >>> separation = SpikeSlabSeparation(n_init=4, max_iter=60, random_state=1).fit(mixture.data)
    >>> bool(amari_index(separation.mixing_, mixture.mixing) < 0.2)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: str = "auto",
        n_init: int = 10,
        fastica_start: bool = True,
        nonlinearity: str = "tanh",
        decorrelation: str = "symmetric",
        method: str | None = None,
        n_candidates: int | None = None,
        max_active: int | None = None,
        selection: str = "conditional",
        noise: str = "scalar",
        slab: str = "diagonal",
        intercept: str = "learned",
        init: str = "random",
        max_iter: int = 350,
        tol: float = 1e-6,
        precision: str = "double",
        device: str = "cpu",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.n_init = n_init
        self.fastica_start = fastica_start
        self.nonlinearity = nonlinearity
        self.decorrelation = decorrelation
        self.method = method
        self.n_candidates = n_candidates
        self.max_active = max_active
        self.selection = selection
        self.noise = noise
        self.slab = slab
        self.intercept = intercept
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.precision = precision
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_start(self) -> None:
        if not isinstance(self.n_init, (int, np.integer)) or self.n_init < 1:
            raise UsageError(f"n_init is {self.n_init!r}; it must be a whole number, at least 1")
        for name, usual in zip(("nonlinearity", "decorrelation"), _core.fastica_usual, strict=False):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise UsageError(f"{name} is {value!r}; choose one of {', '.join(getattr(_core, f'{name}_words'))}")
            if not self.fastica_start and value != usual:
                raise UsageError(f"{name} is {value}, but fastica_start is {self.fastica_start}; leave one of them out")

    def _separate(self, X: Any) -> Any:
        with unchanged_on_failure(self):
            X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2, ensure_min_features=2)
            n_components = X.shape[1] if self.n_components is None else self.n_components
            texts = texts_of(self.get_params(deep=False), n_components)
            self._check_start()
            starts = int(self.n_init), self.whiten, bool(self.fastica_start), self.nonlinearity, self.decorrelation
            result = _core.separate(X, texts, *starts, watching(self))
            if result["reason"] == "interrupted":
                raise GscError("the callback gave up the separation: nothing was learned")
            self._take_model(result["model"])
            self._take_history(result, X.shape[0])
            self.mixing_ = np.ascontiguousarray(self.components_.T)
            self.whitened_ = bool(result["whitened"])
            self.noise_share_ = result["noise_share"]
            self.notes_ = list(result["notes"])
            self.n_samples_seen_ = X.shape[0]
            self._learned_with = dict(result["options"])
            self._method_state = result["method"]
        if self.verbose:
            for note in self.notes_:
                print(f"[{type(self).__name__}] {note}", flush=True)
        return result["sources"].astype(X.dtype, copy=False)

    def _inference_texts(self) -> dict[str, str]:
        """As it was learned; where nothing was chosen, separation chose."""
        return {**self._learned_with, "threads": str(threads_of(self.n_jobs)), "device": self.device}


if SpikeSlabSeparation.__doc__:  # which python -OO leaves out
    SpikeSlabSeparation.__doc__ = SpikeSlabSeparation.__doc__.replace(
        "{options}", describe(_defaults(SpikeSlabSeparation))
    )
