"""The estimator of FastICA."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _core
from ._base import FLOATS, SeparationEstimator, unchanged_on_failure
from ._errors import UsageError
from ._options import seed_of, threads_of


class FastICASeparation(SeparationEstimator):
    """Blind source separation by FastICA: directions in which the whitened mixture is least Gaussian.

    There is no noise, no likelihood and no posterior: sources follow from the channels, ``x = intercept_ + mixing_ s``,
    and have variance 1. It takes a hundredth of the time of :class:`SpikeSlabSeparation`, whose first start it is.

    Parameters
    ----------
    n_components : int or None, default=None
        How many sources to find, at most as many as channels; None: as many as there are channels.
    nonlinearity : {'tanh', 'cube', 'gauss'}, default='tanh'
        What FastICA looks at. tanh suits nearly all; cube is the kurtosis, for light tails; gauss bears outliers best.
    decorrelation : {'symmetric', 'deflation'}, default='symmetric'
        How directions are kept apart: all of them alike, or each from those found before it.
    mixing_init : array-like of shape (n_channels, n_components) or None, default=None
        A mixing matrix to start from; None: random.
    max_iter : int, default=1000
        Most iterations; with deflation of each direction. At least 1.
    tol : float, default=1e-8
        It ends when no direction turns by more in an iteration, as 1 - abs(cosine). From 0 to below 1.
    n_jobs : int or None, default=None
        Threads, as of :class:`SpikeSlabCoding`. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        An integer gives the same result each time, and that of the program with this seed.

    Attributes
    ----------
    mixing_ : ndarray of shape (n_features, n_components)
        What each source adds to each channel.
    components_ : ndarray of shape (n_components, n_features)
        The same with a row for each source, as in the other estimators here; scikit-learn's FastICA calls the unmixing
        so.
    unmixing_ : ndarray of shape (n_components, n_features)
        The pseudo-inverse of ``mixing_``: sources are ``(X - intercept_) @ unmixing_.T``.
    intercept_ : ndarray of shape (n_features,)
        The means of the channels.
    notes_ : list of str
        What there is to know about the mixture and the result.
    n_iter_ : int
        Iterations; with deflation of the direction that took most.
    converged_ : bool
        Whether all directions have.
    n_features_in_ : int
        Channels.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where the data had any.

    See Also
    --------
    SpikeSlabSeparation : Learns a model of the mixture, noise included.

    Examples
    --------
    >>> from gsc import FastICASeparation, amari_index
    >>> from gsc.datasets import make_mixture
    >>> mixture = make_mixture(2000, n_sources=3, random_state=1)
    >>> separation = FastICASeparation(random_state=1).fit(mixture.data)
    >>> bool(amari_index(separation.mixing_, mixture.mixing) < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        nonlinearity: str = "tanh",
        decorrelation: str = "symmetric",
        mixing_init: Any = None,
        max_iter: int = 1000,
        tol: float = 1e-8,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.nonlinearity = nonlinearity
        self.decorrelation = decorrelation
        self.mixing_init = mixing_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def transform(self, X: Any) -> Any:
        """Sources of a mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_channels)
            The mixture, a row for each moment.

        Returns
        -------
        sources : ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        sources: np.ndarray[Any, Any] = (X - self.intercept_) @ self.unmixing_.T
        return sources.astype(X.dtype, copy=False)

    def _separate(self, X: Any) -> Any:
        with unchanged_on_failure(self):
            X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2, ensure_min_features=2)
            self._check_numbers()
            start = self._start(X.shape[1])
            result = _core.separate_by_fastica(
                X,
                # 0 is the library's sign for as many as there are, constant channels left out.
                0 if self.n_components is None else int(self.n_components),
                str(self.nonlinearity),
                str(self.decorrelation),
                int(self.max_iter),
                float(self.tol),
                start,
                seed_of(self.random_state),
                threads_of(self.n_jobs),
            )
            self.mixing_ = result["mixing"]
            self.components_ = np.ascontiguousarray(self.mixing_.T)
            self.unmixing_ = np.linalg.pinv(self.mixing_)
            self.intercept_ = result["mean"]
            self.n_iter_, self.converged_ = int(result["iterations"]), bool(result["converged"])
            self.notes_ = list(result["notes"])
            if not self.converged_:
                warnings.warn(self.notes_[-1], ConvergenceWarning, stacklevel=3)
        return result["sources"].astype(X.dtype, copy=False)

    def _start(self, n_channels: int) -> Any:
        if self.mixing_init is None:
            return None
        start = check_array(self.mixing_init, dtype=np.float64, order="C", input_name="mixing_init")
        expected = (n_channels, n_channels if self.n_components is None else int(self.n_components))
        if start.shape != expected:
            raise UsageError(f"mixing_init has shape {start.shape}; expected {expected}, a column for each source")
        return start

    def _check_numbers(self) -> None:
        for name, least in (("n_components", 1), ("max_iter", 1)):
            value = getattr(self, name)
            if value is None and name == "n_components":
                continue
            if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
                raise UsageError(f"{name} is {value!r}; it must be a whole number, at least {least}")
        if not isinstance(self.tol, numbers.Real):
            raise UsageError(f"tol is {self.tol!r}; it must be a number")
