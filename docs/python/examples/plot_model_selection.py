"""
Model selection with GridSearchCV
=================================

How many components are there? The log-likelihood of data that was not learned from tells.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV

from gsc import SpikeSlabCoding
from gsc.datasets import make_bars

# %%
# Pictures made of eight bars.
X = make_bars(1500, n_bars=8, random_state=3).data
grid = GridSearchCV(
    SpikeSlabCoding(n_candidates=8, max_active=4, n_init=4, max_iter=60, tol=1e-4, random_state=1),
    {"n_components": [4, 6, 8, 10, 12]},
    cv=3,
).fit(X)

# %%
# Too few components cost much, and beyond eight little is gained. ``n_candidates`` is lowered, with a warning, where there are fewer components.
scores = grid.cv_results_
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.errorbar([4, 6, 8, 10, 12], scores["mean_test_score"], scores["std_test_score"], marker="o", capsize=3)
axes.set_xlabel("components")
axes.set_ylabel("log-likelihood a data point, left-out data")
print("best:", grid.best_params_)
