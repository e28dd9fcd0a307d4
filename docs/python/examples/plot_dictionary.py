"""
A dictionary of patches
=======================

Components of 8 x 8 patches of a picture, learned with the noise they lie in.
"""

import numpy as np
from sklearn.feature_extraction.image import extract_patches_2d

from gsc import SpikeSlabCoding, plot

# %%
# A picture of stripes and edges in all directions, which needs no file.
y, x = np.mgrid[:160, :160] / 160.0
angle = np.arctan2(y - 0.5, x - 0.5)
picture = np.sin(40 * np.hypot(x - 0.5, y - 0.5)) + (np.sin(6 * angle) > 0)
picture += np.random.default_rng(0).normal(0, 0.1, picture.shape)

patches = extract_patches_2d(picture, (8, 8), max_patches=4000, random_state=0).reshape(4000, -1)
patches -= patches.mean(axis=1, keepdims=True)

# %%
# Batches of 500 patches make learning faster: new parameters after each, instead of after all.
coding = SpikeSlabCoding(64, batch_size=500, max_iter=15, tol=0, random_state=1).fit(patches)
plot.ComponentsDisplay.from_estimator(coding, shape=(8, 8))

# %%
# The noise of 0.1 comes out as part of the model.
print(f"noise {coding.noise_variance_ ** 0.5:.3f}, {coding.activation_probability_.sum():.1f} components a patch")
plot.LowerBoundDisplay.from_estimator(coding)

# %%
# Few components are active at a time.
plot.ActivationDisplay.from_estimator(coding)
