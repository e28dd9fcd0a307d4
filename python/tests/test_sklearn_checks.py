"""scikit-learn's own checks of estimators. We skip none. scikit-learn itself skips one: input of
other array packages, which it checks only where SCIPY_ARRAY_API is set; arrays here are NumPy's."""

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from gsc import DictionaryCoding, SpikeSlabCoding, SpikeSlabSeparation

estimators = [
    SpikeSlabCoding(max_iter=20),
    SpikeSlabCoding(2, method="exact", slab="full", noise="diagonal", max_iter=5),
    SpikeSlabSeparation(n_init=2, max_iter=20),
    DictionaryCoding(max_iter=5),
    DictionaryCoding(method="online", max_iter=5),
    DictionaryCoding(2, method="online", coding="omp", missing="nan", max_iter=5),
    DictionaryCoding(method="feature-sign", max_iter=5),
]


@parametrize_with_checks(estimators)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)
