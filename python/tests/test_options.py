"""Every option of the library is a parameter here, with its default, its words and its help."""

import inspect

import pytest

import gsc
from gsc import _core
from gsc._options import (
    BETA_PROCESS_OPTIONS,
    DICTIONARY_OPTIONS,
    ELSEWHERE,
    LEFT_OUT,
    OPTIONS,
    RENAMED,
    beta_process_texts_of,
    dictionary_texts_of,
    parameter_name,
    text_of,
    texts_of,
    value_of,
)
from gsc.datasets import make_mixture

#: Separation starts from random numbers, and these options make no sense there: it has no batches and no factored
#: method of its own, and the noise of whitened channels is nobody's; recordings are whole.
NOT_OF_SEPARATION = {"batch", "polish", "sigma", "noise_update", "slab_update", "partition", "alpha", "basis_prior", "missing", "gap_memory",
                     "length_scale", "shape", "shared_prior", "sweep_order"}  # fmt: skip


def defaults(estimator):
    return {name: p.default for name, p in inspect.signature(estimator).parameters.items()}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_a_parameter(option):
    parameters = defaults(gsc.SpikeSlabCoding)
    parameter = parameter_name(option)
    assert parameter in parameters, f"give SpikeSlabCoding a parameter {parameter}"
    assert f"\n    {parameter} : " in gsc.SpikeSlabCoding.__doc__
    if parameter not in ("n_components", "random_state"):  # None is scikit-learn's habit there
        default = parameters[parameter]
        text = LEFT_OUT[option] if default is None else text_of(parameter, default)
        assert value_of(option, text) == value_of(option, OPTIONS[option]["usual"])
    if option not in NOT_OF_SEPARATION:
        assert parameter in defaults(gsc.SpikeSlabSeparation)


def test_separation_has_the_librarys_defaults():
    usual = _core.separate_usual()
    for parameter, default in defaults(gsc.SpikeSlabSeparation).items():
        option = {"max_iter": "iterations", "tol": "tolerance"}.get(parameter, parameter)
        if option in usual and default is not None:
            assert value_of(option, text_of(parameter, default)) == value_of(option, usual[option]), parameter
    assert _core.whiten_words == ["auto", "on", "off"]
    separation, fastica = defaults(gsc.SpikeSlabSeparation), defaults(gsc.FastICASeparation)
    assert _core.separate_fastica_start == separation["fastica_start"]
    assert _core.nonlinearity_words == ["tanh", "cube", "gauss"]
    assert _core.decorrelation_words == ["symmetric", "deflation"]
    assert _core.fastica_usual == tuple(fastica[name] for name in ("nonlinearity", "decorrelation", "max_iter", "tol"))
    assert _core.fastica_usual[:2] == (separation["nonlinearity"], separation["decorrelation"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("exact", None)),
        ({"method": "truncated"}, ("truncated", "4")),
        ({"n_candidates": 3}, ("truncated", "3")),
        ({"max_active": 2}, ("truncated", "2")),
        ({"method": "truncated", "n_candidates": 3, "max_active": 2}, ("truncated", "2")),
    ],
)
def test_separation_takes_all_candidates_where_something_is_chosen(given, expected):
    mixture = make_mixture(200, n_sources=4, random_state=1).data
    learned_with = gsc.SpikeSlabSeparation(n_init=1, max_iter=2, **given).fit(mixture)._learned_with
    assert (learned_with["method"], expected[1] and learned_with["max_active"]) == expected


def test_every_method_has_an_estimator():
    methods = _core.option_list()[1]
    assert methods["name"] == "method" and {*methods["words"], "fastica"} == set(ELSEWHERE)
    assert all(hasattr(gsc, estimator.removeprefix("gsc.")) for estimator, _ in ELSEWHERE.values())


OTHERS = {
    gsc.DictionaryCoding: (DICTIONARY_OPTIONS, dictionary_texts_of),
    gsc.BetaProcessCoding: (BETA_PROCESS_OPTIONS, beta_process_texts_of),
}


@pytest.mark.parametrize(
    ("estimator", "option"), [(estimator, option) for estimator, (options, _) in OTHERS.items() for option in options]
)
def test_every_option_of_the_others(estimator, option):
    """It is a parameter with the library's default, and a value that is not the default comes out of the library."""
    options, texts_of_values = OTHERS[estimator]
    described, parameter = options[option], parameter_name(option)
    default = defaults(estimator)[parameter]
    assert f"\n    {parameter} : " in estimator.__doc__
    if parameter not in ("n_components", "random_state", "method"):  # which the library has for another model
        text = LEFT_OUT[option] if default is None else text_of(parameter, default)
        assert value_of(option, text) == value_of(option, described["usual"])
    other = {
        "word": lambda: next(word for word in described["words"] if word != described["usual"]),
        "integer": lambda: 3,
        "real": lambda: 0.1,
    }[described["kind"]]()
    methods = [method for method in described["methods"] if method in options["method"]["words"]]
    values = {"method": methods[0] if methods else options["method"]["words"][0], parameter: other}
    texts = _core.check_options(texts_of_values(values, other if option == "latents" else 20))
    assert value_of(option, texts[option]) == other


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_arrives(option):
    """A value that is not the default comes out of the library again."""
    described = OPTIONS[option]
    other = {
        "word": lambda: next(word for word in described["words"] if word != described["usual"]),
        "integer": lambda: 3,
        "real": lambda: 0.1,
        "boolean": lambda: described["usual"] != "true",
        "text": lambda: "cpu",
        "shape": lambda: (4, 5, 1),
    }[described["kind"]]()
    values = {"noise": "scalar", "intercept": "none", parameter_name(option): other}
    if described["methods"] == ["factored"]:
        values |= {"method": "factored", "basis_prior": "gp" if option != "basis_prior" else other}
    n_components = other if option == "latents" else 20
    try:
        texts = _core.check_options(texts_of(values, n_components))
    except gsc.UsageError as error:  # two options that exclude each other: it has arrived, too
        assert str(other) in str(error)
    else:
        assert value_of(option, texts[option]) == other


def test_names_are_the_librarys():
    assert set(LEFT_OUT) <= set(OPTIONS) | set(DICTIONARY_OPTIONS) and set(RENAMED.values()) <= set(OPTIONS) | set(
        BETA_PROCESS_OPTIONS
    )


def test_an_option_that_is_none():
    with pytest.raises(gsc.UsageError, match="no option 'colour'; the options are latents, method"):
        _core.check_options({"colour": "red"})
    assert gsc.denoise_options()["quality"] == ["fast", "standard", "best"]
    assert {"alpha", "coding", "decay"} <= set(gsc.denoise_options()) and "lambda" not in gsc.denoise_options()
