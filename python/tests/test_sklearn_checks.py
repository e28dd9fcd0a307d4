"""scikit-learn's own checks of estimators. We skip none, and two must fail: draws of the Beta process follow from the row
of a data point, so another order of the rows gives other codes. scikit-learn itself skips one: input of
other array packages, which it checks only where SCIPY_ARRAY_API is set; arrays here are NumPy's."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gsc import BetaProcessCoding, DictionaryCoding, FastICASeparation, SpikeSlabCoding, SpikeSlabSeparation

estimators = [
    SpikeSlabCoding(max_iter=20),
    SpikeSlabCoding(2, method="exact", slab="full", noise="diagonal", max_iter=5),
    SpikeSlabSeparation(n_init=2, max_iter=20),
    DictionaryCoding(max_iter=5),
    DictionaryCoding(method="online", max_iter=5),
    DictionaryCoding(2, method="online", coding="omp", missing="nan", max_iter=5),
    DictionaryCoding(method="feature-sign", max_iter=5),
    BetaProcessCoding(max_iter=10, burn_in=5),
    BetaProcessCoding(2, n_chains=2, missing="nan", max_iter=10, burn_in=5),
    BetaProcessCoding(method="beta-variational", max_iter=5),
    FastICASeparation(),
    FastICASeparation(nonlinearity="cube", decorrelation="deflation"),
]


def follow_from_the_row(estimator):
    if getattr(estimator, "method", None) != "beta-process":
        return {}
    checks = ("check_methods_subset_invariance", "check_methods_sample_order_invariance")
    return dict.fromkeys(checks, "draws follow from the row")


@parametrize_with_checks(estimators, expected_failed_checks=follow_from_the_row)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
