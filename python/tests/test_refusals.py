"""One refusal: what the library says of an option that is not of the method, Python and the program say, too."""

import os
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import gsc
from gsc import _core
from gsc._options import parameter_name

OPTIONS = {option["name"]: option for option in _core.option_list()}
METHODS = OPTIONS["method"]["words"]
PICTURE = np.random.default_rng(1).normal(100, 30, (16, 16))


def other_value(option):
    """One that is not the default, and in range."""
    return {
        "word": lambda: next(word for word in option["words"] if word != option["usual"]),
        "integer": lambda: 3,
        "real": lambda: 0.5,
        "boolean": lambda: option["usual"] != "true",
    }[option["kind"]]()


#: What denoising calls so is an option of its own: how strong the noise is, and not of what type.
OWN = {"noise"}
CASES = [
    (name, method)
    for name, option in OPTIONS.items()
    if name in _core.denoise_options() and name not in OWN and option["methods"]
    for method in METHODS
    if method not in option["methods"]
]


def test_its_own_options_have_words_of_their_own():
    words = _core.denoise_options()
    assert {name for name in OPTIONS.keys() & words.keys() if words[name] != OPTIONS[name]["words"]} == OWN
    for method in METHODS:
        with pytest.raises(gsc.UsageError, match="noise is 'diagonal'; choose one of measured, learned"):
            gsc.denoise(PICTURE, method=method, noise="diagonal")


def in_words(message, names):
    """The message with options called otherwise."""
    for name, other in names.items():
        message = message.replace(f"{name} is ", f"{other} is ")
    return message


@pytest.mark.parametrize(("name", "method"), CASES)
def test_of_denoising(name, method, tmp_path):
    value = other_value(OPTIONS[name])
    text = value if isinstance(value, str) else repr(value).lower()
    with pytest.raises(gsc.UsageError) as library:
        _core.denoise(PICTURE[np.newaxis], "float64", {"method": method, name: text}, None)
    message = str(library.value)
    expected = f"{name} is {text}, but method is {method}; {name} is for {OPTIONS[name]['methods'][0]}"
    assert message.startswith(expected)
    parameter = "alpha" if name == "lambda" else name
    with pytest.raises(gsc.UsageError) as refused:
        gsc.denoise(PICTURE, method=method, **{parameter: value})
    assert str(refused.value) == in_words(message, {name: parameter})
    program = os.environ.get("GSC_PROGRAM") or next(
        (path for path in (ROOT / "build" / folder / "bin/gsc" for folder in ("test", "release")) if path.exists()), None
    )
    if program is None:
        pytest.skip("the program is not built")
    flag = "--" + name.replace("_", "-")
    ran = subprocess.run(
        [program, "denoise", "noisy.png", "-o", "clean.png", "--method", method, flag, text],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == f"gsc denoise: {in_words(message, {name: flag, 'method': '--method'})}\n"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "truncated", "length_scale": 2.0}, "length_scale is 2, but method is truncated; length_scale is for factored"),
        ({"method": "factored", "n_candidates": 2, "basis_prior": "none"}, None),
    ],
)
def test_of_estimators(values, message):
    coding = gsc.SpikeSlabCoding(4, max_iter=1, **values)
    if message is None:
        coding.fit(PICTURE)
        return
    with pytest.raises(gsc.UsageError, match=message):
        coding.fit(PICTURE)


def test_of_a_dictionary_in_the_names_of_its_parameters():
    with pytest.raises(gsc.UsageError, match="batch_size is 3, but method is ksvd; batch_size is for truncated"):
        gsc.DictionaryCoding(4, method="ksvd", batch_size=3).fit(PICTURE)
    assert parameter_name("batch") == "batch_size"


def test_the_former_name_of_sigma():
    with pytest.warns(FutureWarning, match="known_noise is now called sigma"):
        former = gsc.DictionaryCoding(4, known_noise=0.1, max_iter=2, random_state=1).fit(PICTURE)
    now = gsc.DictionaryCoding(4, sigma=0.1, max_iter=2, random_state=1).fit(PICTURE)
    assert np.array_equal(former.components_, now.components_)
