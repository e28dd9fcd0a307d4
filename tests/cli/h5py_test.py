"""A model file is readable with plain h5py, by the names that the documentation promises."""
import subprocess
import sys
import tempfile
import pathlib

try:
    import h5py
    import numpy as np
except ImportError:
    print("h5py is not installed: skipped")
    sys.exit(77)

gsc = sys.argv[1]
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder)
    subprocess.run([gsc, "sample", "--generator", "bars", "--latents", "6", "-n", "200", "-o", path / "data.npy", "--quiet"], check=True)
    data = np.load(path / "data.npy")
    assert data.shape == (200, 9) and data.dtype == np.float64
    subprocess.run([gsc, "fit", path / "data.npy", "-o", path / "m.h5", "--latents", "6", "--iterations", "3", "--noise", "full",
                    "--slab", "full", "--quiet"], check=True)
    with h5py.File(path / "m.h5") as f:
        assert f.attrs["format_version"] == 2
        assert f["parameters/W"].shape == (9, 6)
        assert f["parameters/pi"].shape == f["parameters/mu"].shape == (6,)
        assert f["parameters/slab"].shape == (6, 6) and f["parameters/noise"].shape == (9, 9)
        assert len(f["history/free_energy"]) == 4
        print(dict(f.attrs), dict(f["options"].attrs))
    subprocess.run([gsc, "infer", path / "m.h5", path / "data.npy", "-o", path / "p.npz", "--states", "2", "--variance", "--quiet"], check=True)
    p = np.load(path / "p.npz")
    assert p["mean"].shape == p["probability"].shape == p["variance"].shape == (200, 6)
    assert p["log_likelihood"].shape == (200,) and p["state_weights"].shape == (200, 2)
    assert p["states"].shape[:2] == (200, 2) and p["states"].dtype == np.int32
print("h5py and NumPy read what gsc writes")
