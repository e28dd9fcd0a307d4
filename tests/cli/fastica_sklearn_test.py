"""FastICA finds what scikit-learn's finds, from the same start: sources and mixing to 1e-6."""
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    from sklearn.decomposition import FastICA
except ImportError:
    print("scikit-learn is not installed: skipped")
    sys.exit(77)

gsc = sys.argv[1]
FUNCTIONS = {"tanh": "logcosh", "cube": "cube", "gauss": "exp"}
ALGORITHMS = {"symmetric": "parallel", "deflation": "deflation"}
rng = np.random.default_rng(1)
worst = 0.0


def compare(path, channels, latents, samples, nonlinearity, decorrelation):
    sources = rng.laplace(size=(channels, samples))
    sources[0] = np.sign(sources[0])
    mixture = rng.normal(size=(channels, channels)) @ sources + 3
    np.save(path / "mix.npy", mixture)
    # scikit-learn's start is a matrix of its own whitened channels; as a mixing matrix it is one for anybody's.
    start, _ = np.linalg.qr(rng.normal(size=(latents, latents)))
    peer = FastICA(latents, algorithm=ALGORITHMS[decorrelation], fun=FUNCTIONS[nonlinearity], whiten="unit-variance",
                   w_init=start, tol=1e-12, max_iter=500)
    theirs = peer.fit_transform(mixture.T).T
    np.save(path / "start.npy", np.linalg.pinv(start @ peer.whitening_))
    subprocess.run([gsc, "separate", path / "mix.npy", "-o", path / "out", "--method", "fastica", "--init", path / "start.npy",
                    "--nonlinearity", nonlinearity, "--decorrelation", decorrelation, "--tolerance", "1e-12", "--iterations", "500",
                    "--latents", str(latents), "--channels-in", "rows", "--quiet"], check=True)
    ours, mixing = np.load(path / "out/sources.npy"), np.load(path / "out/mixing.npy")
    # Order is the start's in both; signs turn round in each step where the contrast has a minimum, in both.
    signs = np.sign(np.sum(ours * theirs, axis=1, keepdims=True))
    difference = max(np.abs(signs * ours - theirs).max(), np.abs(mixing * signs.T - peer.mixing_).max())
    assert difference < 1e-6, (channels, latents, nonlinearity, decorrelation, difference)
    return difference


warnings.filterwarnings("ignore")  # that the tolerance was not reached: both then stop after as many iterations
with tempfile.TemporaryDirectory() as folder:
    for nonlinearity in FUNCTIONS:
        for decorrelation in ALGORITHMS:
            for channels, latents, samples in ((2, 2, 500), (5, 5, 2000), (6, 4, 3000)):
                worst = max(worst, compare(pathlib.Path(folder), channels, latents, samples, nonlinearity, decorrelation))
print(f"FastICA as scikit-learn's, largest difference {worst:.1e}")
