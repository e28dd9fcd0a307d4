"""
Posterior states of bars
========================

The most probable explanations of a data point, each with its probability.
"""

import matplotlib.pyplot as plt
import numpy as np

from gsc import SpikeSlabCoding, plot
from gsc.datasets import make_bars

# %%
# Pictures of 5 x 5 pixels, superpositions of about two of ten bars.
bars = make_bars(1000, n_bars=10, random_state=1)
coding = SpikeSlabCoding(10, n_candidates=8, max_active=5, n_init=8, random_state=1).fit(bars.data)
plot.ComponentsDisplay.from_estimator(coding, shape=(5, 5), n_columns=5)

# %%
# The three most probable states of a few pictures: which components are active, and how probable that is.
posterior = coding.posterior(bars.data, variance=True, n_states=3)
unsure = np.argsort(posterior.state_weights[:, 0])[:4]
figure, axes = plt.subplots(4, 4, figsize=(7, 7.4), layout="constrained")
for row, n in zip(axes, unsure, strict=True):
    scale = np.abs(bars.data[n]).max()
    row[0].imshow(bars.data[n].reshape(5, 5), cmap="gray", vmin=-scale, vmax=scale)
    row[0].set_title("data point", fontsize="small")
    for axis, state, weight in zip(row[1:], posterior.states[n], posterior.state_weights[n], strict=True):
        active = state[state >= 0]
        # Amplitudes given the state: regularised least squares on its components.
        W = coding.components_[active]
        precision = W @ W.T / coding.noise_variance_ + np.diag(1 / coding.slab_covariance_[active])
        field = W @ (bars.data[n] - coding.intercept_) / coding.noise_variance_
        field += coding.slab_mean_[active] / coding.slab_covariance_[active]
        explained = np.linalg.solve(precision, field) @ W if len(active) else np.zeros(25)
        axis.imshow(explained.reshape(5, 5), cmap="gray", vmin=-scale, vmax=scale)
        axis.set_title(f"{len(active)} active: {weight:.0%}", fontsize="small")
for axis in axes.flat:
    axis.set_axis_off()
