"""scikit-learn's own checks of estimators. We skip none. scikit-learn itself skips one: input of
other array packages, which it checks only where SCIPY_ARRAY_API is set; arrays here are NumPy's."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gsc import SpikeSlabCoding, SpikeSlabSeparation

estimators = [
    SpikeSlabCoding(max_iter=20),
    SpikeSlabCoding(2, method="exact", slab="full", noise="diagonal", max_iter=5),
    SpikeSlabSeparation(n_init=2, max_iter=20),
]


@parametrize_with_checks(estimators)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
