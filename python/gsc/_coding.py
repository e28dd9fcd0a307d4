"""The estimator of spike-and-slab sparse coding."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, validate_data

from . import _core
from ._base import FLOATS, ModelEstimator, unchanged_on_failure
from ._errors import UsageError
from ._options import describe, texts_of


def announce(row: dict[str, Any], name: str, objective: str = "free_energy") -> None:
    """A line about an iteration, as the program prints it."""
    print(
        f"[{name}] iteration {row['iteration']:3d}  {objective.replace('_', ' ')} {row[objective]:.4f}  "
        f"noise std {row['noise_std']:.4g}  active {row['mean_active']:.2f}  in use {row['latents_in_use']}",
        flush=True,
    )


def watching(estimator: Any) -> Callable[[dict[str, Any]], Any] | None:
    """What is to be called after every iteration, if anything."""
    callback, verbose = estimator.callback, estimator.verbose
    if callback is not None and not callable(callback):
        raise UsageError(f"callback is {callback!r}; it must be a function of one argument, a dictionary")
    if not verbose:
        return callback  # type: ignore[no-any-return]

    def both(row: dict[str, Any]) -> Any:
        announce(row, type(estimator).__name__, getattr(estimator, "_objective", "free_energy"))
        return callback(row) if callback is not None else False

    return both


class SpikeSlabCoding(ModelEstimator):
    """Spike-and-slab sparse coding by truncated EM.

    A data point is a sum of a few components. Each is either off or on, and where it is on it has an amplitude of its
    own::

        s_h ~ Bernoulli(pi_h)          on or off (spike)
        z   ~ N(mu, Psi)               amplitudes (slab)
        y   ~ N(b + W (s.z), Sigma)    the data point

    All of it is learned from the data, the noise included, and posteriors say how probable it is that a component is
    active, how large its amplitude is and how certain.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to learn; None: as many as there are features.
    {options}
    dict_init : array-like of shape (n_components, n_features) or None, default=None
        Components to start from; the rest of the start is drawn as without.
    n_init : int, default=1
        Starts with the seeds ``random_state``, ``random_state + 1``, ..., side by side; the best is kept.
    warm_start : bool, default=False
        ``fit`` starts from what was learned before.
    known_noise : float or None, default=None
        What ``sigma`` was called before; still understood.
    n_jobs : int or None, default=None
        Threads. None: as many as there are physical cores, or fewer where OMP_NUM_THREADS, threadpoolctl or a worker of
        joblib say so.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same result each time, and that of the program with this seed.
    verbose : int, default=0
        Whether a line is printed after every iteration.
    callback : callable or None, default=None
        Called with a dictionary about every iteration, a row of ``history_``. Where it returns something true, learning
        ends with what it has.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W', the basis functions.
    components_variance_ : ndarray of shape (n_components, n_features) or None
        How uncertain each entry is; of the factored method.
    activation_probability_ : ndarray of shape (n_components,)
        pi, how often each component is active.
    slab_mean_ : ndarray of shape (n_components,)
        mu, the mean amplitude where it is.
    slab_covariance_ : ndarray of shape (n_components,) or (n_components, n_components)
        Psi: variances of the amplitudes, or with ``slab="full"`` their covariance.
    intercept_ : ndarray of shape (n_features,)
        b, what the data is around when all components are off.
    noise_variance_ : float or ndarray of shape (n_features,) or (n_features, n_features)
        Sigma, as ``noise`` says.
    lower_bound_ : float
        Free energy a data point.
    lower_bounds_ : ndarray of shape (n_init,)
        The same of all starts; NaN of one that failed.
    history_ : dict of ndarray
        A value for each iteration, the start included: iteration, free_energy, noise_std, mean_active, latents_in_use,
        seconds, dip, estimated, rescues.
    rescues_ : dict of int
        What learning had to do beyond the plain formulas, and how often.
    n_iter_ : int
        Iterations of the best start.
    converged_ : bool
        Whether it ended because ``tol`` was reached.
    n_features_in_ : int
        Features of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where the data had any.

    See Also
    --------
    SpikeSlabSeparation : Finds the sources in a mixture.
    BetaProcessCoding : Learns with a prior on all there is, by sampling or variational Bayes.
    DictionaryCoding : Learns a dictionary and gives codes without a posterior.

    Examples
    --------
    >>> from gsc import SpikeSlabCoding
    >>> from gsc.datasets import make_bars
    >>> X = make_bars(1000, n_bars=10, random_state=1).data
    >>> coding = SpikeSlabCoding(10, n_candidates=5, max_active=4, random_state=1).fit(X)
    >>> float(round(coding.noise_variance_ ** 0.5, 1))
    1.5
    >>> coding.transform(X[:2]).shape
    (2, 10)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: str = "truncated",
        n_candidates: int | None = None,
        max_active: int | None = None,
        selection: str = "conditional",
        noise: str = "scalar",
        slab: str = "diagonal",
        intercept: str = "learned",
        init: str = "data",
        dict_init: Any = None,
        n_init: int = 1,
        max_iter: int = 100,
        batch_size: int | None = None,
        polish: int = 3,
        tol: float = 1e-6,
        sigma: float | None = None,
        noise_update: str = "exact",
        slab_update: str = "exact",
        basis_prior: str = "identity",
        length_scale: float | None = None,
        shape: tuple[int, ...] | None = None,
        shared_prior: bool = True,
        sweep_order: str = "random",
        partition: str = "static",
        alpha: float = 5.0,
        precision: str = "double",
        missing: str = "error",
        gap_memory: int = 1024,
        device: str = "cpu",
        warm_start: bool = False,
        known_noise: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_candidates = n_candidates
        self.max_active = max_active
        self.selection = selection
        self.noise = noise
        self.slab = slab
        self.intercept = intercept
        self.init = init
        self.dict_init = dict_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.polish = polish
        self.tol = tol
        self.sigma = sigma
        self.noise_update = noise_update
        self.slab_update = slab_update
        self.basis_prior = basis_prior
        self.length_scale = length_scale
        self.shape = shape
        self.shared_prior = shared_prior
        self.sweep_order = sweep_order
        self.partition = partition
        self.alpha = alpha
        self.precision = precision
        self.missing = missing
        self.gap_memory = gap_memory
        self.device = device
        self.warm_start = warm_start
        self.known_noise = known_noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _options(self, n_features: int) -> dict[str, str]:
        """The library's options, all of them checked before anything is done."""
        n_components = n_features if self.n_components is None else self.n_components
        resolved: dict[str, str] = _core.check_options(texts_of(self.get_params(deep=False), n_components))
        return resolved

    def _dictionary(self, options: dict[str, str], n_features: int) -> Any:
        if self.dict_init is None:
            return None
        dictionary = np.ascontiguousarray(check_array(self.dict_init, dtype=np.float64, input_name="dict_init"))
        expected = (int(options["latents"]), n_features)
        if dictionary.shape != expected:
            raise UsageError(
                f"dict_init has shape {dictionary.shape}; expected {expected}, a row for each of the n_components"
            )
        return dictionary

    def _check_starts(self) -> None:
        if not isinstance(self.n_init, (int, np.integer)) or self.n_init < 1:
            raise UsageError(f"n_init is {self.n_init!r}; it must be a whole number, at least 1")
        if self.n_init > 1 and self.dict_init is not None:
            raise UsageError(f"n_init is {self.n_init}, but with dict_init all starts would be the same; use one of them")

    def fit(self, X: Any, y: Any = None) -> SpikeSlabCoding:
        """Learns from data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data. Arrays of float32 and float64 are read where they lie, whatever their strides.
        y : ignored

        Returns
        -------
        self : SpikeSlabCoding
        """
        with unchanged_on_failure(self):
            again = self.warm_start and hasattr(self, "components_")
            start = self._model() if again else None
            X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2, ensure_all_finite=self._finite())
            self._check_starts()
            options = self._options(X.shape[1])
            if start is not None and (start.latents, start.dimensions) != (int(options["latents"]), X.shape[1]):
                start = None
            dictionary = None if start is not None else self._dictionary(options, X.shape[1])
            result = _core.fit(
                X, options, 1 if start is not None else int(self.n_init), start, dictionary, watching(self)
            )
            options["seed"] = str(int(options["seed"]) + result["winner"])
            self._learned(result, options, X.shape[0])
            if result["reason"] == "iterations" and self.tol > 0 and self.max_iter > 0:
                warnings.warn(
                    f"learning ended after max_iter={self.max_iter} iterations while the free energy still changed by "
                    f"more than tol={self.tol}; raise max_iter, or tol",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return self

    def _learned(self, result: dict[str, Any], options: dict[str, str], n_samples: int) -> None:
        self._take_model(result["model"])
        self._take_history(result, n_samples)
        self.n_samples_seen_ = n_samples
        self._method_state = {"numbers": result["method"]["numbers"], "arrays": result["method"]["arrays"]}
        self._learned_with = options
        self._pieces = 0
        if self.verbose:
            for note in result["notes"]:
                print(f"[{type(self).__name__}] {note}", flush=True)

    def partial_fit(self, X: Any, y: Any = None) -> SpikeSlabCoding:
        """Goes on learning from more data: stepwise EM, whose sums forget slowly.

        There is one M-step for every ``batch_size`` data points of X, or one for all of it where that is None. What was
        learned by ``fit`` or loaded from a file is gone on from. Not of the factored method.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A piece of the data; of the first one at least two data points.
        y : ignored

        Returns
        -------
        self : SpikeSlabCoding
        """
        with unchanged_on_failure(self):
            known = hasattr(self, "components_")
            pieces = getattr(self, "_pieces", 0)
            X = validate_data(
                self,
                X,
                dtype=FLOATS,
                ensure_min_samples=1 if pieces else 2,
                reset=not known,
                ensure_all_finite=self._finite(),
            )
            options = self._options(X.shape[1])
            model = self._model() if known else None
            if model is not None and model.latents != int(options["latents"]):
                raise UsageError(
                    f"n_components is {options['latents']}, but {model.latents} components have been learned before; "
                    "fit starts anew"
                )
            result = _core.fit_piece(
                X,
                options,
                model,
                self._dictionary(options, X.shape[1]) if not known else None,
                self._method_state if pieces else {"numbers": {}, "arrays": {}},
                pieces,
                float(getattr(self, "n_samples_seen_", 0)) if pieces else 0.0,
            )
            self._take_piece(result, options, X.shape[0])
        callback = watching(self)
        if callback is not None:
            callback(result["row"])
        return self

    def _take_piece(self, result: dict[str, Any], options: dict[str, str], n_samples: int) -> None:
        before = self.history_ if result["pieces"] > 1 else {}
        self._take_model(result["model"])
        self.history_ = {
            name: np.append(before.get(name, np.array([], dtype=type(value))), value)
            for name, value in result["row"].items()
        }
        self.rescues_ = {}
        self.n_iter_ = int(result["pieces"])
        self.lower_bound_ = float(result["row"]["free_energy"]) / n_samples
        self.lower_bounds_ = np.array([self.lower_bound_])
        self.converged_ = False
        self.n_samples_seen_ = int(result["points"])
        self._method_state = result["method"]
        self._learned_with = options
        self._pieces = int(result["pieces"])


def _defaults(estimator: type) -> dict[str, Any]:
    parameters = inspect.signature(estimator.__init__).parameters  # type: ignore[misc]
    return {name: parameter.default for name, parameter in parameters.items() if name != "self"}


if SpikeSlabCoding.__doc__:  # which python -OO leaves out
    SpikeSlabCoding.__doc__ = SpikeSlabCoding.__doc__.replace("{options}", describe(_defaults(SpikeSlabCoding)))
