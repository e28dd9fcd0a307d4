"""The estimator of methods that learn a dictionary and give codes in place of a posterior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import validate_data

from . import _core
from ._base import FLOATS, CodingEstimator, unchanged_on_failure
from ._coding import _defaults, watching
from ._options import DICTIONARY_OPTIONS, describe, dictionary_texts_of

#: Parameters that codes depend on.
OF_CODES = ("method", "coding", "alpha", "max_active", "atoms_per_point", "error_gain", "missing", "n_jobs")


class DictionaryCoding(CodingEstimator):
    """A dictionary and sparse codes: K-SVD, online dictionary learning, or feature-sign search.

    A data point is a sum of a few components (atoms), ``y ~ intercept_ + code @ components_``. Codes are
    point estimates: there is no posterior, no probability and no likelihood; :class:`SpikeSlabCoding` has them, and
    learns the noise, too.

    ``"ksvd"`` and, with ``coding="bounded"`` or ``"omp"``, ``"online"`` code to the error that the noise explains, so
    tell them how strong it is: ``sigma``. Otherwise it is estimated from the data's covariance, which is too much
    where structure fills all directions. ``"feature-sign"`` and ``"online"`` as it is give the codes of the lasso.

    A parameter that is of another method alone is refused where it has another value than its default. None is the 0 of
    the texts below; ``max_active=None`` stands for half as many as there are features.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to learn; None: as many as there are features, or data points where these are fewer.
    {options}
    known_noise : float or None, default=None
        What ``sigma`` was called before; still understood.
    n_jobs : int or None, default=None
        Threads, as of :class:`SpikeSlabCoding`.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same result each time, and that of the program with this seed.
    verbose : int, default=0
        Whether a line is printed after every iteration, and the noise level where it was estimated.
    callback : callable or None, default=None
        Called with a dictionary about every iteration, a row of ``history_``. Where it returns something true, learning
        ends with what it has.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The atoms, of norm 1; of ``"online"`` and ``"feature-sign"`` of norm 1 or less.
    intercept_ : ndarray of shape (n_features,)
        The mean of the data, or zero with ``intercept="none"``.
    noise_variance_ : float
        Of the noise that was told or estimated.
    activation_probability_ : ndarray of shape (n_components,)
        The share of data points that use each atom.
    slab_mean_, slab_covariance_ : ndarray of shape (n_components,)
        Mean and variance of its coefficients there.
    objective_ : float
        What learning makes smaller, a data point: the squared error of ``"ksvd"``, the objective of the lasso of the
        others.
    history_ : dict of ndarray
        A value for each iteration, the start included: iteration, squared_error or lasso_objective, noise_std,
        mean_active, latents_in_use, seconds, dip, estimated, rescues.
    rescues_ : dict of int
        How often something went beyond the plain formulas: ``replaced_atoms`` are those that were hardly used.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it ended because ``tol`` was reached.
    n_features_in_ : int
        Features of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where the data had any.

    See Also
    --------
    SpikeSlabCoding : Learns a model with a posterior.
    BetaProcessCoding : Learns the noise level, too, and how certain the components are.

    Examples
    --------
    >>> import numpy as np
    >>> from gsc import DictionaryCoding
    >>> random = np.random.default_rng(1)
    >>> codes = random.normal(size=(500, 8)) * (random.random((500, 8)) < 0.2)
    >>> X = codes @ random.normal(size=(8, 16)) + 0.1 * random.normal(size=(500, 16))
    >>> coding = DictionaryCoding(8, sigma=0.1, max_iter=20, random_state=1).fit(X)
    >>> coding.transform(X[:2]).shape
    (2, 8)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: str = "ksvd",
        sigma: float | None = None,
        error_gain: float = 1.15,
        max_active: int | None = None,
        atoms_per_point: int | None = None,
        coding: str = "lasso",
        alpha: float | None = None,
        atom_update: str = "exact",
        decay: float | None = None,
        intercept: str = "learned",
        init: str = "data",
        max_iter: int = 100,
        batch_size: int | None = None,
        tol: float = 1e-6,
        missing: str = "error",
        known_noise: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.sigma = sigma
        self.error_gain = error_gain
        self.max_active = max_active
        self.atoms_per_point = atoms_per_point
        self.coding = coding
        self.alpha = alpha
        self.atom_update = atom_update
        self.decay = decay
        self.intercept = intercept
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.tol = tol
        self.missing = missing
        self.known_noise = known_noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @property
    def _objective(self) -> str:
        return _core.objective_name(self.method)

    def _inference_texts(self) -> dict[str, str]:
        return dictionary_texts_of({**{name: getattr(self, name) for name in OF_CODES}, "random_state": 0},
                                   self.components_.shape[0])

    def fit(self, X: Any, y: Any = None) -> DictionaryCoding:
        """Learns a dictionary from data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data. ``"ksvd"`` and ``"feature-sign"`` hold a copy of it in memory; ``"online"`` reads it batch by batch.
        y : ignored

        Returns
        -------
        self : DictionaryCoding
        """
        with unchanged_on_failure(self):
            X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2, ensure_all_finite=self._finite())
            n_components = min(X.shape) if self.n_components is None else self.n_components
            options = _core.check_options(dictionary_texts_of(self.get_params(deep=False), n_components))
            result = _core.fit(X, options, 1, None, None, watching(self))
            self._take_model(result["model"])
            self._take_rows(result)
            self.objective_ = float(self.history_[self._objective][-1])
            if self.method == "ksvd":  # whose squared error is a sum; objectives of the lasso are means
                self.objective_ /= X.shape[0]
            self._method_state = {"numbers": result["method"]["numbers"], "arrays": result["method"]["arrays"]}
            self._learned_with = options
        if self.verbose:
            for note in result["notes"]:
                print(f"[{type(self).__name__}] {note}", flush=True)
        return self

    def transform(self, X: Any) -> Any:
        """Codes: coefficients of the atoms, most of them zero.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data; float32 stays float32, and no array is copied as a whole.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
        """
        return super().transform(X)

    def impute(self, X: Any, *, denoise_observed: bool = False) -> Any:
        """Data with its missing values (NaN) filled in by what the codes of the observed ones stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data with NaN where a value is missing, whatever the parameter ``missing`` is.
        denoise_observed : bool, default=False
            Also replace observed values.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        return self._imputed(X, denoise_observed)[0]


if DictionaryCoding.__doc__:  # which python -OO leaves out
    DictionaryCoding.__doc__ = DictionaryCoding.__doc__.replace(
        "{options}", describe(_defaults(DictionaryCoding), options=DICTIONARY_OPTIONS)
    )
