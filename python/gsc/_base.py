"""What a learned model can do, whoever learned it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import _core
from ._errors import UsageError
from ._options import in_parameters, parameter_name, seed_of, texts_of, value_of

FLOATS = [np.float64, np.float32]
#: Parameters that posteriors depend on.
OF_INFERENCE = ("method", "n_candidates", "max_active", "selection", "precision", "missing", "n_jobs",
                "device")


@dataclass(frozen=True)
class Posterior:
    """The posterior of each data point. N rows everywhere.

    Attributes
    ----------
    mean : ndarray of shape (n_samples, n_components)
        Posterior means of the amplitudes, zero where a component is off; what ``transform`` gives.
    probability : ndarray of shape (n_samples, n_components)
        How probable it is that a component is active.
    log_likelihood : ndarray of shape (n_samples,) or None
        What ``score_samples`` gives; None by ``method="beta-process"``, whose draws have none.
    variance : ndarray of shape (n_samples, n_components) or None
        Posterior variances of the amplitudes.
    states : ndarray of shape (n_samples, n_states, max_active) or None
        The most probable states first, each as the indices of its active components, ascending, padded with -1.
    state_weights : ndarray of shape (n_samples, n_states) or None
        Posterior probability of each of them, 0 beyond the last state there is.
    clamped_pivots : int
        Data points with a state that was singular to rounding, and repaired.
    """

    mean: np.ndarray[Any, Any]
    probability: np.ndarray[Any, Any]
    log_likelihood: Any  # so that who asked for it need not tell a type checker
    variance: Any = None
    states: Any = None
    state_weights: Any = None
    clamped_pivots: int = 0


def _warn_of_pivots(count: int) -> None:
    """Nothing is repaired silently."""
    if count > 0:
        warnings.warn(f"data points had a numerically singular state ({count} times)", RuntimeWarning, stacklevel=4)


def _plain(values: Any) -> np.ndarray[Any, Any]:
    return np.ascontiguousarray(values, dtype=np.float64)


@contextlib.contextmanager
def unchanged_on_failure(estimator: object) -> Iterator[None]:
    """Whatever is raised, Ctrl-C included, leaves the estimator as it was; messages speak of its parameters."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException as error:
        vars(estimator).clear()
        vars(estimator).update(before)
        if isinstance(error, UsageError):
            raise UsageError(in_parameters(str(error))) from None
        raise


class Decomposition(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Components, and what codes of them stand for."""

    components_: np.ndarray[Any, Any]
    intercept_: np.ndarray[Any, Any]

    def _finite(self) -> Any:
        """What scikit-learn's checks let through."""
        return "allow-nan" if getattr(self, "missing", "error") == "nan" else True

    def inverse_transform(self, X: Any) -> Any:
        """Data that codes stand for: ``X @ components_ + intercept_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Codes.

        Returns
        -------
        data : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        codes = check_array(X, dtype=FLOATS)
        if codes.shape[1] != self.components_.shape[0]:
            raise ValueError(f"X has {codes.shape[1]} columns, but codes of this model have {self.components_.shape[0]}")
        return codes @ self.components_.astype(codes.dtype) + self.intercept_.astype(codes.dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.allow_nan = self._finite() == "allow-nan"
        return tags


Finder = TypeVar("Finder", bound="SeparationEstimator")


class SeparationEstimator(Decomposition):
    """What finds the sources of a mixture: ``_separate`` takes it and returns them."""

    def _separate(self, X: Any) -> Any:
        raise NotImplementedError

    def fit(self: Finder, X: Any, y: Any = None) -> Finder:
        """Finds the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_channels)
            The mixture, a row for each moment.
        y : ignored

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._separate(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Finds the sources and returns them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_channels)
            The mixture, a row for each moment.
        y : ignored

        Returns
        -------
        sources : ndarray of shape (n_samples, n_components)
        """
        return self._separate(X)


class CodingEstimator(Decomposition):
    """Parameters as attributes, and codes, which follow from them."""

    activation_probability_: np.ndarray[Any, Any]
    slab_mean_: np.ndarray[Any, Any]
    slab_covariance_: np.ndarray[Any, Any]
    noise_variance_: Any
    history_: dict[str, np.ndarray[Any, Any]]

    def _take_model(self, model: Any) -> None:
        arrays = model.arrays()
        self.components_ = np.ascontiguousarray(arrays["W"].T)
        variance = arrays["W_variance"]
        self.components_variance_ = None if variance is None else np.ascontiguousarray(variance.T)
        self.activation_probability_ = arrays["pi"]
        self.slab_mean_ = arrays["mu"]
        slab, noise = arrays["slab"], arrays["noise"]
        self.slab_covariance_ = slab if arrays["slab_type"] == "full" else slab[:, 0]
        if arrays["noise_type"] == "scalar":
            self.noise_variance_ = float(noise[0, 0])
        else:
            self.noise_variance_ = noise if arrays["noise_type"] == "full" else noise[:, 0]
        intercept = arrays["intercept"]
        self.intercept_ = np.zeros(self.components_.shape[1]) if intercept is None else intercept

    def _take_rows(self, result: dict[str, Any]) -> None:
        self.history_ = {name: np.asarray(values) for name, values in result["history"].items()}
        self.rescues_ = dict(result["rescues"])
        self.n_iter_ = int(self.history_["iteration"][-1])
        self.converged_ = result["reason"] == "converged"

    def _model(self) -> Any:
        check_is_fitted(self, "components_")
        slab, noise = _plain(self.slab_covariance_), np.asarray(self.noise_variance_, dtype=np.float64)
        intercept = _plain(self.intercept_)
        variance = getattr(self, "components_variance_", None)
        return _core.make_model(
            W=_plain(self.components_.T),
            pi=_plain(self.activation_probability_),
            mu=_plain(self.slab_mean_),
            slab_type="full" if slab.ndim == 2 else "diagonal",
            slab=slab if slab.ndim == 2 else slab[:, np.newaxis],
            noise_type=("scalar", "diagonal", "full")[noise.ndim],
            noise=noise if noise.ndim == 2 else _plain(noise.reshape(-1, 1)),
            intercept=intercept if intercept.any() else None,
            W_variance=None if variance is None else _plain(variance.T),
        )

    def _take_options(self, options: dict[str, str]) -> None:
        """Parameters from the options of a file."""
        for option, text in options.items():
            parameter = parameter_name(option)
            if option != "threads" and hasattr(self, parameter):
                setattr(self, parameter, value_of(option, text))

    def _inference_texts(self) -> dict[str, str]:
        """Options as the parameters are now: a model can be asked with more candidates than it was learned with."""
        # Not get_params(), which reads the signature anew each time: a third of a call with one data point.
        asked = {name: getattr(self, name) for name in OF_INFERENCE if hasattr(self, name)}
        return texts_of({**asked, "random_state": 0}, self.components_.shape[0])

    def _infer(self, X: Any, wanted: set[str], n_states: int = 0) -> dict[str, Any]:
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=FLOATS, reset=False, ensure_all_finite=self._finite())
        with unchanged_on_failure(self):
            result: dict[str, Any] = _core.infer(
                X, self._model(), self._inference_texts(), wanted, n_states, X.dtype == np.float32
            )
        _warn_of_pivots(result["clamped_pivots"])
        return result

    def _imputed(self, X: Any, denoise_observed: bool) -> tuple[Any, Any]:
        check_is_fitted(self, "components_")
        X = validate_data(self, X, dtype=FLOATS, reset=False, ensure_all_finite="allow-nan")
        with unchanged_on_failure(self):
            mean, std, clamped = _core.impute(X, self._model(), self._inference_texts(), denoise_observed)
        _warn_of_pivots(clamped)
        return mean, std

    def transform(self, X: Any) -> Any:
        """Posterior means of the amplitudes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data; float32 stays float32, and no array is copied as a whole.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
        """
        return self._infer(X, {"mean"})["mean"]

    def save(self, path: Any) -> None:
        """Writes a model file, which the program reads, too.

        Parameters
        ----------
        path : path-like
            Where to; ``.h5``. The old file or the complete new one is there at any time.
        """
        from .io import save_model

        save_model(path, self)


class GenerativeEstimator(CodingEstimator):
    """The posterior of a model that data can be drawn from."""

    def _posterior(self, X: Any, variance: bool, n_states: int = 0) -> Posterior:
        wanted = {"mean", "probability", "log_likelihood"}
        wanted |= {"variance"} if variance else set()
        wanted |= {"states", "state_weights"} if n_states else set()
        found = self._infer(X, wanted, n_states)
        rows = found["mean"].shape[0]
        log_likelihood = found.get("log_likelihood")
        return Posterior(
            mean=found["mean"],
            probability=found["probability"],
            log_likelihood=None if log_likelihood is None else log_likelihood.ravel(),
            variance=found.get("variance"),
            states=found["states"].reshape(rows, n_states, found["max_active"]) if n_states else None,
            state_weights=found.get("state_weights"),
            clamped_pivots=found["clamped_pivots"],
        )

    def _log_likelihood(self, X: Any) -> Any:
        return self._infer(X, {"log_likelihood"})["log_likelihood"].ravel()

    def impute(self, X: Any, *, denoise_observed: bool = False, return_std: bool = False) -> Any:
        """Data with its missing values (NaN) filled in; what was observed stays.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data with NaN where a value is missing, whatever the parameter ``missing`` is.
        denoise_observed : bool, default=False
            Also replace observed values by what the model says of them without noise.
        return_std : bool, default=False
            Also how far off each value may be: a missing one from what would have been measured, a denoised one from the
            value without noise, 0 where the value was kept.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        std : ndarray of shape (n_samples, n_features)
            Only if ``return_std``.
        """
        mean, std = self._imputed(X, denoise_observed)
        return (mean, std) if return_std else mean

    def sample(self, n_samples: int = 1, random_state: Any = None, *, return_codes: bool = False) -> Any:
        """Data drawn from the model.

        Parameters
        ----------
        n_samples : int, default=1
            How many data points.
        random_state : int, RandomState instance or None, default=None
            An integer gives what the program draws with that seed.
        return_codes : bool, default=False
            Also the codes that the data points were made of.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        codes : ndarray of shape (n_samples, n_components)
            Only if ``return_codes``.
        """
        if n_samples < 1:
            raise UsageError(f"n_samples is {n_samples}; it must be at least 1")
        data, spikes, slabs = _core.sample(self._model(), int(n_samples), seed_of(random_state))
        return (data, spikes * slabs) if return_codes else data

    def get_covariance(self) -> Any:
        """Covariance of the data under the model.

        With codes c = s.z it is ``W cov(c) W' + Sigma``, where cov(c) has pi_h (psi_hh + (1 - pi_h) mu_h^2) on its
        diagonal and pi_g pi_h psi_gh beside it.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        pi, mu, slab = self.activation_probability_, self.slab_mean_, self.slab_covariance_
        covariance = np.outer(pi, pi) * slab if slab.ndim == 2 else np.zeros((pi.size, pi.size))
        psi = np.diag(slab) if slab.ndim == 2 else slab
        np.fill_diagonal(covariance, pi * (psi + (1 - pi) * mu**2))
        noise = np.asarray(self.noise_variance_)
        total = self.components_.T @ covariance @ self.components_
        total += noise if noise.ndim == 2 else np.eye(total.shape[0]) * noise
        variance = getattr(self, "components_variance_", None)
        if variance is not None:  # of each entry of W, independent of the others
            total += np.diag((pi * (psi + mu**2)) @ variance)
        return total


class ModelEstimator(GenerativeEstimator):
    """The posterior of the spike-and-slab model."""

    def _take_history(self, result: dict[str, Any], n_samples: int) -> None:
        self._take_rows(result)
        self.lower_bound_ = float(self.history_["free_energy"][-1]) / n_samples
        self.lower_bounds_ = np.asarray(result["free_energies"], dtype=float) / n_samples

    def score_samples(self, X: Any) -> Any:
        """Log-likelihood of each data point; by the truncated and the factored method a lower bound of it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        return self._log_likelihood(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the data points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored

        Returns
        -------
        score : float
        """
        return float(np.mean(self.score_samples(X), dtype=np.float64))

    def posterior(self, X: Any, *, variance: bool = False, n_states: int = 0) -> Posterior:
        """All there is to know about the components of each data point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        variance : bool, default=False
            Also posterior variances of the amplitudes.
        n_states : int, default=0
            Also so many most probable states of each data point.

        Returns
        -------
        posterior : Posterior
        """
        if not 0 <= n_states <= 65536:
            raise UsageError(f"n_states is {n_states}; it must lie between 0 and 65536")
        return self._posterior(X, variance, n_states)
