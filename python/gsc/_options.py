"""Parameters of estimators and options of the library.

The library describes its options once (``_core.option_list()``): names, words, defaults, ranges, a line of help. What
stands here is how they are called among scikit-learn's users, and how a value becomes the text that the library reads.
"""

from __future__ import annotations

import numbers
import re
import warnings
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.utils import check_random_state

from . import _core
from ._errors import UsageError

#: Parameters that are called otherwise than the library's options.
RENAMED = {
    "n_components": "latents",
    "n_candidates": "candidates",
    "max_iter": "iterations",
    "batch_size": "batch",
    "tol": "tolerance",
    "random_state": "seed",
    "n_jobs": "threads",
    "n_chains": "chains",
    "n_draws": "draws",
}
#: The same of dictionaries: lambda is no name in Python, and the library's own alpha is not one of theirs.
RENAMED_IN_DICTIONARIES = {**RENAMED, "alpha": "lambda"}
PARAMETER_OF = {option: parameter for parameter, option in RENAMED.items()}
#: Where ``None`` is what leaves the choice to the library, whose own sign for that is this.
LEFT_OUT = {"candidates": "0", "max_active": "0", "sigma": "0", "length_scale": "0", "batch": "0", "threads": "0",
            "shape": "0x0x1", "lambda": "0", "atoms_per_point": "0", "decay": "0"}

#: The methods of each estimator: of the spike-and-slab model, a dictionary, the Beta process.
METHODS = ("truncated", "exact", "factored")
DICTIONARY_METHODS = ("ksvd", "online", "feature-sign")
BETA_PROCESS_METHODS = ("beta-process", "beta-variational")
#: Who else has a method, and what that learns.
ELSEWHERE = {
    **dict.fromkeys(METHODS, ("gsc.SpikeSlabCoding", "learns a spike-and-slab model")),
    **dict.fromkeys(DICTIONARY_METHODS, ("gsc.DictionaryCoding", "learns a dictionary")),
    **dict.fromkeys(BETA_PROCESS_METHODS, ("gsc.BetaProcessCoding", "learns with the Beta process as a prior")),
    "fastica": ("gsc.FastICASeparation", "separates sources without a model"),
}
EVERY_OPTION = {option["name"]: option for option in _core.option_list()}


def _options_of(methods: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {
        name: {**option, "words": [word for word in option["words"] if name != "method" or word in methods]}
        for name, option in EVERY_OPTION.items()
        if not option["methods"] or set(methods) & set(option["methods"])
    }


OPTIONS = _options_of(METHODS)
#: Without those that have but one value there: dictionaries are learned on the cpu, by one process.
DICTIONARY_OPTIONS = {
    name: option
    for name, option in _options_of(DICTIONARY_METHODS).items()
    if name not in ("device", "partition", "alpha", "shape")
}
#: The same, and without the noise level, which is always learned.
BETA_PROCESS_OPTIONS = {
    name: option
    for name, option in _options_of(BETA_PROCESS_METHODS).items()
    if name not in ("device", "partition", "alpha", "sigma", "shape")
}


def parameter_name(option: str) -> str:
    """What an estimator calls an option of the library."""
    return "alpha" if option == "lambda" else PARAMETER_OF.get(option, option)


def text_of(name: str, value: Any) -> str:
    """A value as text that the library reads without losing a bit."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)) and all(isinstance(part, numbers.Integral) for part in value):
        return "x".join(str(int(part)) for part in value)
    raise UsageError(f"{name} is {value!r}; a {type(value).__name__} is nothing that it could be")


def value_of(option: str, text: str) -> Any:
    """The other way: the text of an option as a value of its parameter."""
    if option in LEFT_OUT and text in (LEFT_OUT[option], "0.0"):
        return None
    kind = EVERY_OPTION[option]["kind"]
    if kind == "integer":
        return int(text)
    if kind == "real":
        return float(text)
    if kind == "boolean":
        return text == "true"
    if kind == "shape":
        return tuple(int(part) for part in text.split("x"))
    return text


def in_parameters(message: str) -> str:
    """A message of the library with its options called as users of this package know them."""
    for option, parameter in (*PARAMETER_OF.items(), ("lambda", "alpha")):
        message = re.sub(rf"\b{option}(?= is )", parameter, message)
    return message


def seed_of(random_state: Any) -> int:
    """An integer is the seed itself, so that results are those of the program; all else gives one."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise UsageError(f"random_state is {random_state}; a seed must not be negative")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: Any) -> int:
    """``None``: what OpenMP and threadpoolctl allow, at most the physical cores. Workers of joblib share them."""
    if n_jobs is None:
        return int(_core.usual_threads())
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise UsageError(f"n_jobs is {n_jobs!r}; give how many threads to use, -1 for all, or leave it out")
    return int(joblib.effective_n_jobs(int(n_jobs)))


def clamped(name: str, value: int | None, most: int, of_what: str) -> int | None:
    """A grid of parameters should not die where one of its values is too large."""
    if value is None or not isinstance(value, numbers.Integral):
        return value
    if value < 1:
        raise UsageError(f"{name} is {value}; it must be at least 1 (leave it out for the usual number)")
    if value > most:
        warnings.warn(f"{name} is {value}, but there are {most} {of_what}; {most} is used", UserWarning, stacklevel=4)
        return most
    return int(value)


def _check_method(method: Any, options: Mapping[str, Any]) -> None:
    """Whether the estimator with these options has the method; messages say who else has it."""
    words = options["method"]["words"]
    if method in words:
        return
    if method in ELSEWHERE:
        estimator, what = ELSEWHERE[method]
        raise UsageError(f"method is {method!r}, which {what}; choose one of {', '.join(words)} ({estimator} has it)")
    if options is not OPTIONS:  # the library refuses what it does not know, and has a usual one of that model
        raise UsageError(f"method is {method!r}; choose one of {', '.join(words)}")


def texts_of(parameters: Mapping[str, Any], n_components: int) -> dict[str, str]:
    """The options of the library that an estimator's parameters amount to, without those left out."""
    values = dict(parameters)
    _check_method(values.get("method"), OPTIONS)
    values["n_components"] = n_components
    values["random_state"] = seed_of(values.get("random_state"))
    values["n_jobs"] = threads_of(values.get("n_jobs"))
    if values.get("method") in ("truncated", None) and isinstance(n_components, int):
        candidates = clamped("n_candidates", values.get("n_candidates"), n_components, "components")
        values["n_candidates"] = candidates
        most = candidates if candidates is not None else min(10, n_components)
        values["max_active"] = clamped("max_active", values.get("max_active"), most, "candidates")
    return _texts(values, OPTIONS, RENAMED)


def dictionary_texts_of(parameters: Mapping[str, Any], n_components: int) -> dict[str, str]:
    """The same for an estimator that learns a dictionary."""
    return _checked_texts(parameters, n_components, DICTIONARY_OPTIONS, RENAMED_IN_DICTIONARIES)


def beta_process_texts_of(parameters: Mapping[str, Any], n_components: int) -> dict[str, str]:
    """The same for that of the Beta process."""
    return _checked_texts(parameters, n_components, BETA_PROCESS_OPTIONS, RENAMED)


def _checked_texts(
    parameters: Mapping[str, Any], n_components: int, options: Mapping[str, Any], renamed: Mapping[str, str]
) -> dict[str, str]:
    _check_method(parameters.get("method"), options)
    values = {
        **parameters,
        "n_components": n_components,
        "random_state": seed_of(parameters.get("random_state")),
        "n_jobs": threads_of(parameters.get("n_jobs")),
    }
    return _texts(values, options, renamed)


def _texts(values: Mapping[str, Any], options: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, str]:
    texts = {}
    if values.get("known_noise") is not None:
        warnings.warn("known_noise is now called sigma", FutureWarning, stacklevel=5)
        values = {**values, "sigma": values["known_noise"]}
    for parameter, value in values.items():
        option = renamed.get(parameter, parameter)
        if option in options and value is not None:
            texts[option] = text_of(parameter, value)
    return texts


def _described(option: Mapping[str, Any], default: Any) -> str:
    parameter = parameter_name(option["name"])
    if option["kind"] == "word":
        kind = "{" + ", ".join(repr(word) for word in option["words"]) + "}"
    else:
        kind = {"integer": "int", "real": "float", "boolean": "bool", "text": "str", "shape": "tuple of int"}[option["kind"]]
    if default is None:
        kind += " or None"
    help_text = option["help"][0].upper() + option["help"][1:] + "."
    bounds = []
    if option["kind"] in ("integer", "real"):
        if abs(option["smallest"]) < 1e300 and option["name"] not in LEFT_OUT:  # whose 0 is None here
            bounds.append(f"at least {option['smallest']:g}")
        if abs(option["largest"]) < 2e9:
            bounds.append(f"at most {option['largest']:g}")
    limits = f" {', '.join(bounds).capitalize()}." if bounds else ""
    return f"{parameter} : {kind}, default={default!r}\n    {help_text}{limits}"


def describe(defaults: Mapping[str, Any], indent: str = "    ", options: Mapping[str, Any] = OPTIONS) -> str:
    """The section of a docstring about the parameters that are options of the library, in its words."""
    parts = []
    for option in options.values():
        parameter = parameter_name(option["name"])
        if parameter in defaults and parameter not in ("n_components", "random_state", "n_jobs"):
            parts.append(_described(option, defaults[parameter]))
    return "\n".join(parts).replace("\n", "\n" + indent)
