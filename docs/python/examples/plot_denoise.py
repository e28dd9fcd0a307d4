"""
Denoising with uncertainty
==========================

A picture of unknown noise level, and how certain every pixel of the result is.
"""

import numpy as np

import gsc
from gsc import plot

# %%
# Rings that get finer to the outside, and a slope; the noise has a standard deviation of 25.
y, x = np.mgrid[:128, :128] / 128.0
truth = 120 + 60 * np.sin(60 * (x**2 + y**2)) + 50 * (x - y)
noisy = truth + np.random.default_rng(0).normal(0, 25, truth.shape)

result = gsc.denoise(noisy, quality="fast", return_all=True)
print(f"noise measured as {result.noise.std:.1f}")
print(f"PSNR {gsc.psnr(truth, noisy, data_range=255):.2f} -> {gsc.psnr(truth, result.image, data_range=255):.2f} dB")
plot.DenoisedDisplay.from_pictures(noisy, result.image, result.std)

# %%
# Standard deviations beside true errors, in four parts of the pixels by what is said of them: here it is on the side of
# caution.
order = np.argsort(result.std, axis=None)
errors = (result.image - truth).ravel()[order]
for part in np.array_split(np.arange(errors.size), 4):
    said = np.sqrt(np.mean(result.std.ravel()[order][part] ** 2))
    print(f"said {said:5.2f}   true {np.sqrt(np.mean(errors[part] ** 2)):5.2f}")

# %%
# What was learned from the patches of this one picture:
plot.ComponentsDisplay.from_components(result.components)
