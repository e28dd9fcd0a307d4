"""The estimator of Beta process factor analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from . import _core
from ._base import FLOATS, GenerativeEstimator, Posterior, unchanged_on_failure
from ._coding import _defaults, watching
from ._options import BETA_PROCESS_OPTIONS, beta_process_texts_of, describe

#: Parameters that posteriors depend on.
OF_POSTERIORS = ("method", "n_draws", "missing", "n_jobs")


def _has_likelihood(estimator: Any) -> bool:
    """Draws give none."""
    return bool(estimator.method != "beta-process")


class BetaProcessCoding(GenerativeEstimator):
    """Sparse coding with the Beta process as a prior, by Gibbs sampling or variational Bayes.

    A data point is a sum of a few components, and all of it has a prior and is learned: the components, how often each
    is on, how strong amplitudes and noise are::

        w_h  ~ N(0, I/D)               components, rows of components_
        pi_h ~ Beta(alpha, beta)       how often one is on
        a_h  = 0, or with probability pi_h  a_h ~ N(0, psi)
        y    ~ N(b + W a, sigma^2 I)   the data point

    ``"beta-process"`` draws from the posterior: ``max_iter`` sweeps, of which those after the first ``burn_in`` are
    averaged. ``"beta-variational"`` takes the posterior as a product; it is the same without randomness, for complete data.

    A parameter that is of the other method alone is refused where it has another value than its default.

    Parameters
    ----------
    n_components : int or None, default=None
        How many components to learn; None: as many as there are features, or data points where these are fewer. Those
        that nobody needs are hardly ever on.
    {options}
    n_jobs : int or None, default=None
        Threads, as of :class:`SpikeSlabCoding`. Draws do not depend on it.
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
        W', posterior means of the basis functions. Of several chains those of the best.
    components_variance_ : ndarray of shape (n_components, n_features) or None
        Posterior variance of each entry; None where fewer than two draws were averaged.
    activation_probability_ : ndarray of shape (n_components,)
        pi, how often each component is active.
    slab_mean_, slab_covariance_ : ndarray of shape (n_components,)
        Mean and variance of amplitudes: 0, and one number for all components.
    intercept_ : ndarray of shape (n_features,)
        b, what the data is around when all components are off.
    noise_variance_ : float
        sigma^2.
    noise_std_deviation_ : float or None
        Posterior standard deviation of sigma; of ``"beta-process"``.
    r_hat_ : dict of float
        With several chains the potential scale reduction of ``noise_std`` and ``log_joint``: 1 where the chains have
        forgotten their starts. Empty with one.
    objective_ : float
        A data point, after the last iteration: the log of the joint density of the last draw and the data, a mean over
        the chains, or the bound of the log evidence.
    history_ : dict of ndarray
        A value for each iteration, the start included: iteration, log_joint or bound, noise_std, mean_active,
        latents_in_use, seconds, dip, estimated, rescues.
    rescues_ : dict of int
        What learning had to do beyond the plain formulas, and how often.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether it ended because ``tol`` was reached. Draws go up and down for ever, so ``"beta-process"`` never does.
    n_features_in_ : int
        Features of the data.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where the data had any.

    See Also
    --------
    SpikeSlabCoding : Learns each component's own amplitudes, by EM.
    DictionaryCoding : Learns a dictionary and gives codes without a posterior.

    Examples
    --------
    >>> from gsc import BetaProcessCoding
    >>> from gsc.datasets import make_bars
    >>> X = make_bars(1000, n_bars=10, random_state=1).data
    >>> coding = BetaProcessCoding(12, random_state=1).fit(X)
    >>> float(round(coding.noise_variance_ ** 0.5, 1))
    1.4
    >>> coding.transform(X[:2]).shape
    (2, 12)
    """

    noise_std_deviation_: float | None
    r_hat_: dict[str, float]

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: str = "beta-process",
        usage_prior: str = "program",
        n_chains: int = 1,
        burn_in: int = 30,
        n_draws: int = 20,
        intercept: str = "learned",
        init: str = "data",
        max_iter: int = 100,
        tol: float = 1e-6,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.usage_prior = usage_prior
        self.n_chains = n_chains
        self.burn_in = burn_in
        self.n_draws = n_draws
        self.intercept = intercept
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @property
    def _objective(self) -> str:
        return _core.objective_name(self.method)

    def _inference_texts(self) -> dict[str, str]:
        asked = {name: getattr(self, name) for name in OF_POSTERIORS}
        return beta_process_texts_of({**asked, "random_state": 0}, self.components_.shape[0])

    def fit(self, X: Any, y: Any = None) -> BetaProcessCoding:
        """Learns from data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, at least as many data points as components.
        y : ignored

        Returns
        -------
        self : BetaProcessCoding
        """
        with unchanged_on_failure(self):
            X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2, ensure_all_finite=self._finite())
            n_components = min(X.shape) if self.n_components is None else self.n_components
            options = _core.check_options(beta_process_texts_of(self.get_params(deep=False), n_components))
            result = _core.fit(X, options, 1, None, None, watching(self))
            self._take_model(result["model"])
            self._take_rows(result)
            self.objective_ = float(self.history_[self._objective][-1]) / X.shape[0]
            self._method_state = {"numbers": result["method"]["numbers"], "arrays": result["method"]["arrays"]}
            self._take_certainty()
            self._learned_with = options
            self.n_samples_seen_ = X.shape[0]
        if self.verbose:
            for note in result["notes"]:
                print(f"[{type(self).__name__}] {note}", flush=True)
        return self

    def _take_certainty(self) -> None:
        """What draws say of themselves."""
        numbers = self._method_state["numbers"]
        self.noise_std_deviation_ = numbers.get("noise_std_deviation")
        self.r_hat_ = {name[6:]: number for name, number in numbers.items() if name.startswith("r_hat_")}

    def transform(self, X: Any) -> Any:
        """Posterior means of the amplitudes.

        By ``"beta-process"`` means over ``n_draws`` draws, whose random numbers follow from the row of X: the same X
        gives the same codes, but a data point in another row other draws.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data; float32 stays float32, and no array is copied as a whole.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_components)
        """
        return super().transform(X)

    def posterior(self, X: Any, *, variance: bool = False) -> Posterior:
        """All there is to know about the components of each data point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        variance : bool, default=False
            Also posterior variances of the amplitudes.

        Returns
        -------
        posterior : Posterior
            Without states, and without a likelihood by ``"beta-process"``.
        """
        return self._posterior(X, variance)

    @available_if(_has_likelihood)  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Any:
        """A lower bound of the log-likelihood of each data point; by ``"beta-variational"`` alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        return self._log_likelihood(X)

    @available_if(_has_likelihood)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None) -> float:
        """Its mean over the data points; by ``"beta-variational"`` alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored

        Returns
        -------
        score : float
        """
        return float(np.mean(self._log_likelihood(X), dtype=np.float64))


if BetaProcessCoding.__doc__:  # which python -OO leaves out
    BetaProcessCoding.__doc__ = BetaProcessCoding.__doc__.replace(
        "{options}", describe(_defaults(BetaProcessCoding), options=BETA_PROCESS_OPTIONS)
    )
