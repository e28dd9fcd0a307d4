"""The package against the program: the same bits at equal seed and one thread, and model files both ways."""

import h5py
import numpy as np
import pytest
from conftest import ROOT, parameters_of

import gsc
from gsc.datasets import make_bars, make_mixture

OPTIONS = {
    "usual": {},
    "full": {"noise": "full", "slab": "full"},
    "diagonal": {"noise": "diagonal", "selection": "singleton", "precision": "single"},
    "exact": {"method": "exact", "intercept": "none"},
    "factored": {"method": "factored", "intercept": "none"},
    "stepwise": {"batch_size": 100, "intercept": "mean"},
    "starts": {"n_init": 3, "init": "random"},
}
FLAGS = {"batch_size": "batch", "n_init": "restarts"}


def flags_of(options):
    return [word for name, value in options.items() for word in (f"--{FLAGS.get(name, name)}", str(value))]


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_bits_as_the_program(name, X, program, tmp_path):
    options = OPTIONS[name]
    np.save(tmp_path / "X.npy", X)
    program("fit", tmp_path / "X.npy", "-o", tmp_path / "theirs.h5", "--latents", 8, "--iterations", 12, "--seed", 3,
            "--threads", 1, *flags_of(options))
    ours = gsc.SpikeSlabCoding(8, max_iter=12, random_state=3, n_jobs=1, **options).fit(X)
    theirs = gsc.load(tmp_path / "theirs.h5")
    assert isinstance(theirs, gsc.SpikeSlabCoding)
    for parameter, values in parameters_of(ours).items():
        np.testing.assert_array_equal(values, parameters_of(theirs)[parameter], err_msg=parameter)
    np.testing.assert_array_equal(ours.history_["free_energy"], theirs.history_["free_energy"])

    states = [] if name == "factored" else ["--states", "3"]
    program("infer", tmp_path / "theirs.h5", tmp_path / "X.npy", "-o", tmp_path / "codes.npz", "--variance", *states,
            "--threads", 1)
    codes = np.load(tmp_path / "codes.npz")
    posterior = ours.posterior(X, variance=True, n_states=3 if states else 0)
    for array in codes.files:
        np.testing.assert_array_equal(getattr(posterior, array), codes[array], err_msg=array)

    # What the package writes is what the program writes, attribute by attribute, but for times.
    ours.save(tmp_path / "ours.h5")
    program("infer", tmp_path / "ours.h5", tmp_path / "X.npy", "-o", tmp_path / "again.npz", "--threads", 1)
    np.testing.assert_array_equal(np.load(tmp_path / "again.npz")["mean"], codes["mean"])
    assert contents(tmp_path / "ours.h5") == contents(tmp_path / "theirs.h5")


DICTIONARIES = {
    "ksvd": {"method": "ksvd", "sigma": 1.5, "atom_update": "approximate"},
    "estimated": {"method": "ksvd", "atoms_per_point": 2},
    "online": {"method": "online", "coding": "omp", "sigma": 1.5, "batch_size": 100, "decay": 0.9},
    "lasso": {"method": "online", "alpha": 2.0},
    "feature-sign": {"method": "feature-sign"},
}
BETA_PROCESSES = {
    "draws": {"n_chains": 2, "burn_in": 4, "n_draws": 3},
    "gaps": {"missing": "nan", "intercept": "none", "usage_prior": "paper", "burn_in": 2},
    "variational": {"method": "beta-variational", "init": "random"},
}
RENAMED_FLAGS = {"alpha": "lambda", "batch_size": "batch", "n_chains": "chains", "n_draws": "draws"}


def flags_of_other_methods(options):
    return [word for name, value in options.items()
            for word in (f"--{RENAMED_FLAGS.get(name, name).replace('_', '-')}", str(value))]


@pytest.mark.parametrize("name", DICTIONARIES)
def test_dictionaries_are_the_programs(name, X, program, tmp_path):
    options = DICTIONARIES[name]
    np.save(tmp_path / "X.npy", X)
    program("fit", tmp_path / "X.npy", "-o", tmp_path / "theirs.h5", "--latents", 8, "--iterations", 6, "--seed", 3,
            "--threads", 1, *flags_of_other_methods(options))
    ours = gsc.DictionaryCoding(8, max_iter=6, random_state=3, n_jobs=1, **options).fit(X)
    theirs = gsc.load(tmp_path / "theirs.h5")
    assert isinstance(theirs, gsc.DictionaryCoding)
    for parameter, values in parameters_of(ours).items():
        np.testing.assert_array_equal(values, parameters_of(theirs)[parameter], err_msg=parameter)
    ours.save(tmp_path / "ours.h5")
    for model in ("ours", "theirs"):
        program("infer", tmp_path / f"{model}.h5", tmp_path / "X.npy", "-o", tmp_path / "codes.npz", "--threads", 1)
        np.testing.assert_array_equal(np.load(tmp_path / "codes.npz")["mean"], ours.transform(X))
    np.testing.assert_array_equal(theirs.transform(X), ours.transform(X))
    assert contents(tmp_path / "ours.h5") == contents(tmp_path / "theirs.h5")


@pytest.mark.parametrize("name", BETA_PROCESSES)
def test_the_beta_process_is_the_programs(name, X, program, tmp_path):
    options = {"method": "beta-process", **BETA_PROCESSES[name]}
    data = X.copy()
    if name == "gaps":
        data[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    np.save(tmp_path / "X.npy", data)
    program("fit", tmp_path / "X.npy", "-o", tmp_path / "theirs.h5", "--latents", 8, "--iterations", 8, "--seed", 3,
            "--threads", 1, *flags_of_other_methods({k: v for k, v in options.items() if k != "n_draws"}))
    ours = gsc.BetaProcessCoding(8, max_iter=8, random_state=3, n_jobs=1, **options).fit(data)
    theirs = gsc.load(tmp_path / "theirs.h5")
    assert isinstance(theirs, gsc.BetaProcessCoding)
    for parameter, values in parameters_of(ours).items():
        np.testing.assert_array_equal(values, parameters_of(theirs)[parameter], err_msg=parameter)
    np.testing.assert_array_equal(ours.components_variance_, theirs.components_variance_)
    assert ours.noise_std_deviation_ == theirs.noise_std_deviation_ and ours.r_hat_ == theirs.r_hat_
    draws = ["--draws", ours.n_draws] if ours.method == "beta-process" else []
    gaps = ["--impute", tmp_path / "filled.npy", "--impute-std", tmp_path / "std.npy"] if name == "gaps" else []
    program("infer", tmp_path / "theirs.h5", tmp_path / "X.npy", "-o", tmp_path / "codes.npz", "--variance",
            "--threads", 1, *draws, *gaps)
    codes, posterior = np.load(tmp_path / "codes.npz"), ours.posterior(data, variance=True)
    for array in codes.files:
        np.testing.assert_array_equal(getattr(posterior, array), codes[array], err_msg=array)
    if gaps:
        for path, values in zip(("filled", "std"), ours.impute(data, return_std=True), strict=True):
            np.testing.assert_array_equal(values, np.load(tmp_path / f"{path}.npy"))
    if name != "draws":  # draws is an option of inference, too, and of the file
        ours.save(tmp_path / "ours.h5")
        assert contents(tmp_path / "ours.h5") == contents(tmp_path / "theirs.h5")


def contents(path):
    """Everything in a file as comparable values: names, types and bytes."""
    found = {}

    def visit(name, thing):
        if "seconds" not in name and isinstance(thing, h5py.Dataset):
            found[name] = (thing.dtype.str, thing.shape, thing[...].tobytes())
        for attribute, value in thing.attrs.items():
            if attribute != "threads":
                found[f"{name}@{attribute}"] = (np.asarray(value).dtype.kind, str(value))

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return found


def test_goes_on_from_the_programs_model(X, program, tmp_path):
    np.save(tmp_path / "X.npy", X)
    program("fit", tmp_path / "X.npy", "-o", tmp_path / "model.h5", "--latents", 8, "--iterations", 5, "--seed", 3)
    loaded = gsc.load_model(tmp_path / "model.h5").set_params(warm_start=True, max_iter=20, tol=0)
    before = loaded.score(X)
    assert loaded.fit(X).score(X) > before


def test_data_as_the_program_draws_it(coding, program, tmp_path):
    program("sample", "--generator", "bars", "--latents", 10, "-n", 50, "--seed", 7, "-o", tmp_path / "bars.npy")
    np.testing.assert_array_equal(make_bars(50, n_bars=10, random_state=7).data, np.load(tmp_path / "bars.npy"))
    program("sample", "--generator", "cauchy", "--latents", 4, "-n", 50, "--seed", 7, "--noise-std", 0.5,
            "-o", tmp_path / "mix.npy")
    mixture = make_mixture(50, n_sources=4, coefficients="cauchy", noise=0.5, random_state=7)
    np.testing.assert_array_equal(mixture.data, np.load(tmp_path / "mix.npy"))
    coding.save(tmp_path / "model.h5")
    program("sample", tmp_path / "model.h5", "-n", 20, "--seed", 5, "-o", tmp_path / "drawn.npy")
    np.testing.assert_array_equal(coding.sample(20, random_state=5), np.load(tmp_path / "drawn.npy"))


def test_separation_as_the_program_does_it(program, tmp_path):
    mixture = make_mixture(1000, n_sources=3, noise=0.1, random_state=2).data
    np.save(tmp_path / "mix.npy", mixture)
    program("separate", tmp_path / "mix.npy", "-o", tmp_path / "out", "--restarts", 3, "--iterations", 30, "--seed", 4,
            "--channels-in", "columns")
    separation = gsc.SpikeSlabSeparation(n_init=3, max_iter=30, random_state=4)
    sources = separation.fit_transform(mixture)
    np.testing.assert_array_equal(separation.mixing_, np.load(tmp_path / "out/mixing.npy"))
    np.testing.assert_array_equal(sources, np.load(tmp_path / "out/sources.npy").T)
    np.testing.assert_allclose(separation.transform(mixture), sources, atol=1e-9)
    separation.save(tmp_path / "ours.h5")
    assert contents(tmp_path / "ours.h5") == contents(tmp_path / "out/model.h5")


@pytest.mark.parametrize("nonlinearity", ["tanh", "cube", "gauss"])
@pytest.mark.parametrize("decorrelation", ["symmetric", "deflation"])
def test_fastica_as_the_program_does_it(nonlinearity, decorrelation, program, tmp_path):
    mixture = make_mixture(1000, n_sources=3, noise=0.1, random_state=2).data
    np.save(tmp_path / "mix.npy", mixture)
    how = {"nonlinearity": nonlinearity, "decorrelation": decorrelation}
    flags = [word for name, value in how.items() for word in (f"--{name}", value)]
    common = ["--seed", 4, "--channels-in", "columns", *flags]
    program("separate", tmp_path / "mix.npy", "-o", tmp_path / "out", "--method", "fastica", *common)
    separation = gsc.FastICASeparation(random_state=4, **how)
    sources = separation.fit_transform(mixture)
    np.testing.assert_array_equal(separation.mixing_, np.load(tmp_path / "out/mixing.npy"))
    np.testing.assert_array_equal(sources, np.load(tmp_path / "out/sources.npy").T)
    # And as the first start of learning a model.
    program("separate", tmp_path / "mix.npy", "-o", tmp_path / "model", "--init", "fastica", "--restarts", 1,
            "--iterations", 5, *common)
    model = gsc.SpikeSlabSeparation(n_init=1, max_iter=5, random_state=4, **how).fit(mixture)
    np.testing.assert_array_equal(model.mixing_, np.load(tmp_path / "model/mixing.npy"))


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"quality": "fast"}, ["--quality", "fast"]),
        ({"method": "beta-process", "iterations": 6, "latents": 32},
         ["--method", "beta-process", "--iterations", 6, "--latents", 32]),
        ({"method": "online", "sigma": 10.0, "coding": "lasso", "alpha": 20.0, "decay": 0.9},
         ["--method", "online", "--sigma", 10, "--coding", "lasso", "--lambda", 20, "--decay", 0.9]),
    ],
)  # fmt: skip
def test_denoising_as_the_program_does_it(options, flags, program, tmp_path):
    matplotlib = pytest.importorskip("matplotlib.image")
    picture = matplotlib.imread(ROOT / "assets/demo.png")[80:144, 80:144]
    picture = np.round(picture[..., :3].mean(-1) * 255 if picture.ndim == 3 else picture * 255).astype(np.uint8)
    (tmp_path / "in.pgm").write_bytes(b"P5 64 64 255\n" + picture.tobytes())
    program("denoise", tmp_path / "in.pgm", "-o", tmp_path / "out.tif", "--threads", 1, "--depth", "float", *flags)
    from PIL import Image

    theirs = np.asarray(Image.open(tmp_path / "out.tif"))
    ours = gsc.denoise(picture, n_jobs=1, **options)
    # Real pictures are written with 1 for white.
    np.testing.assert_array_max_ulp((ours / 255).astype(np.float32), theirs, 1)
