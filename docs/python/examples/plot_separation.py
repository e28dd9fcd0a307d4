"""
Separation of speech
====================

Two voices that speak at the same time, recorded by two microphones. Speech is silent most of the time at most
frequencies, which is what the spikes are for.
"""

import numpy as np

from gsc import SpikeSlabSeparation, amari_index, plot


# %%
# Voices that need no recording: pulses of the vocal folds, through the resonances of vowels, with pauses between syllables.
def voice(pitch: float, vowels: list[tuple[float, float]], seed: int, rate: int = 8000, seconds: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pieces: list[np.ndarray] = []
    while sum(len(piece) for piece in pieces) < rate * seconds:
        count = int(rate * rng.uniform(0.12, 0.3))
        time = np.arange(count) / rate
        pulses = np.diff(np.floor(np.cumsum(pitch * (1 + 0.1 * np.sin(3 * time)) / rate)), prepend=0)
        syllable = np.zeros(count)
        for formant in vowels[rng.integers(len(vowels))]:
            response = np.exp(-300 * time[:200]) * np.sin(2 * np.pi * formant * time[:200])
            syllable += np.convolve(pulses, response)[:count]
        pieces += [syllable * np.hanning(count), np.zeros(int(rate * rng.uniform(0.05, 0.25)))]
    return np.concatenate(pieces)[: int(rate * seconds)]


sources = np.stack([
    voice(110, [(700, 1200), (300, 2300)], 1),
    voice(190, [(850, 1600), (450, 2700)], 2),
], axis=1)
sources /= sources.std(axis=0)
mixing = np.array([[1.0, 0.6], [0.5, 1.0]])
recorded = sources @ mixing.T + np.random.default_rng(3).normal(0, 0.02, sources.shape)
plot.TracesDisplay.from_signals(recorded, rate=8000, names=["left", "right"])

# %%
# Ten starts, of which the best is kept.
separation = SpikeSlabSeparation(max_iter=60, random_state=1)
found = separation.fit_transform(recorded)
print(f"Amari index {amari_index(separation.mixing_, mixing):.3f}; 0 is perfect")
plot.TracesDisplay.from_signals(found, rate=8000, names=["source 0", "source 1"])

# %%
# Which is which, and how well they agree with what was spoken.
correlations = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:])
print(correlations.round(3))
