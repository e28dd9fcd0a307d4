"""Model files, the same as the program's: HDF5 with the layout that docs/model.md describes, through h5py.

The program reads and writes them by src/io/model_file.cpp: what changes there changes here.

::

    /            format_version, kind, version
    /parameters  W (D x H), pi, mu (H), slab (H or H x H), noise (1, D or D x D); W_variance and intercept if there are
    /options     one attribute per option
    /history     one vector per column, a value per iteration
    /method      what the method carries on beside the parameters
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from . import _core
from ._beta_process import BetaProcessCoding
from ._coding import SpikeSlabCoding
from ._dictionary import DictionaryCoding
from ._errors import DataError
from ._options import ELSEWHERE, EVERY_OPTION, METHODS

__all__ = ["load", "load_beta_process", "load_dictionary", "load_model", "save_model"]

KIND = "gsc model"
#: The estimators that files are of: what such a file is called, and who reads no other.
READERS: dict[type, tuple[str, str]] = {
    SpikeSlabCoding: ("a spike-and-slab model", "load_model"),
    DictionaryCoding: ("a dictionary learned by {}", "load_dictionary"),
    BetaProcessCoding: ("a model learned by {}", "load_beta_process"),
}
FORMAT_VERSION = 2


def _put_text(target: Any, name: str, text: str) -> None:
    """Fixed length, as the program writes and reads texts."""
    raw = text.encode() + b"\0"
    target.attrs.create(name, np.array(raw, dtype=h5py.string_dtype("utf-8", len(raw))))


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _put_options(group: Any, options: dict[str, str]) -> None:
    for key, option in EVERY_OPTION.items():
        name, text = option["attribute"], options.get(key, option["usual"])
        of_others = option["methods"] and options.get("method", EVERY_OPTION["method"]["usual"]) not in option["methods"]
        if not name or of_others:
            continue
        if option["kind"] in ("word", "text"):
            _put_text(group, name, text)
        elif option["kind"] == "real":
            group.attrs.create(name, np.float64(text))
        elif option["kind"] == "boolean":
            group.attrs.create(name, np.uint64(text == "true"))
        elif option["kind"] == "shape":
            for part, number in zip(("rows", "cols", "channels"), (text + "x1").split("x"), strict=False):
                group.attrs.create(f"shape_{part}", np.int64(number))
        else:
            group.attrs.create(name, np.uint64(text) if name == "seed" else np.int64(text))


def _put_parameters(group: Any, arrays: dict[str, Any]) -> None:
    for name in ("W", "W_variance", "intercept", "pi", "mu"):
        if arrays[name] is not None:
            group.create_dataset(name, data=arrays[name])
    for name in ("slab", "noise"):
        kind = arrays[f"{name}_type"]
        dataset = group.create_dataset(name, data=arrays[name] if kind == "full" else arrays[name][:, 0])
        _put_text(dataset, "type", kind)


def _write(file: Any, estimator: Any) -> None:
    arrays = estimator._model().arrays()
    file.attrs.create("format_version", np.int64(1 if arrays["intercept"] is None else 2))
    method = estimator._learned_with.get("method")
    _put_text(file, "kind", KIND if method in METHODS else f"{KIND}: {method}")
    _put_text(file, "version", _core.version)
    _put_parameters(file.create_group("parameters"), arrays)
    _put_options(file.create_group("options"), estimator._learned_with)
    history = file.create_group("history")
    for name, count in estimator.rescues_.items():
        history.attrs.create(name, np.int64(count))
    for name, values in estimator.history_.items():
        real = values.dtype.kind == "f"
        history.create_dataset(name, data=values.astype(np.float64 if real else np.int64))
    for name, number in estimator._method_state["numbers"].items():
        file.create_dataset(f"method/numbers/{name}", data=np.array([number]))
    for name, values in estimator._method_state["arrays"].items():
        if values.size:
            file.create_dataset(f"method/arrays/{name}", data=values)


def save_model(path: Any, estimator: Any) -> None:
    """Writes what an estimator has learned to a model file, which ``gsc infer`` and others of the program read.

    Parameters
    ----------
    path : path-like
        Where to; ``.h5``. The old file or the complete new one is there at any time.
    estimator : SpikeSlabCoding, SpikeSlabSeparation, DictionaryCoding or BetaProcessCoding
        A fitted one.
    """
    estimator._model()  # raises where nothing has been learned, before any file is touched
    target = Path(path)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    try:
        with h5py.File(temporary, "w", libver=("v108", "v110")) as file:
            _write(file, estimator)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # mkstemp's own are for secrets
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _two_axes(values: Any) -> Any:
    return values if values.ndim == 2 else values[:, np.newaxis]


def _option_text(kind: str, value: Any) -> str:
    if kind == "real":
        return repr(float(value))
    if kind == "integer":
        return str(int(value))
    if kind == "boolean":
        return "true" if value else "false"
    return _text(value)


class _Reader:
    def __init__(self, path: Path, file: Any) -> None:
        self.path, self.file = path, file

    def fail(self, message: str) -> DataError:
        return DataError(f"{self.path}: {message}")

    def array(self, name: str, axes: int) -> Any:
        dataset = self.file.get(f"parameters/{name}")
        if not isinstance(dataset, h5py.Dataset) or dataset.dtype.kind != "f":
            raise self.fail(f"/parameters/{name} is missing; the file is damaged or not a gsc model")
        values = np.ascontiguousarray(dataset[...], dtype=np.float64)
        if values.ndim > 2 or (axes and values.ndim != axes):
            raise self.fail(f"/parameters/{name} has {values.ndim} axes; expected {axes or '1 or 2'}")
        return values

    def optional(self, name: str, axes: int) -> Any:
        return self.array(name, axes) if f"parameters/{name}" in self.file else None

    def type_of(self, name: str, values: Any) -> str:
        guess = "full" if values.ndim == 2 else "scalar" if name == "noise" and values.size == 1 else "diagonal"
        return _text(self.file[f"parameters/{name}"].attrs.get("type", guess))

    def estimator(self, wanted: type | None) -> type:
        """Whose model it is; if it must be that of the one wanted, messages say who reads the others."""
        kind = _text(self.file.attrs.get("kind", ""))
        method = METHODS[0] if kind == KIND else kind.removeprefix(f"{KIND}: ")
        if method == kind:
            raise self.fail(f"is HDF5 but not a gsc model (its attribute 'kind' is not '{KIND}')")
        name = ELSEWHERE.get(method, ("", ""))[0]
        owner = next((each for each in READERS if name == f"gsc.{each.__name__}"), None)
        if owner is None:
            raise self.fail(f"was learned by {method}, which this gsc {_core.version} does not know; update gsc")
        if wanted not in (None, owner):
            what, reader = READERS[owner]
            raise self.fail(f"is {what.format(method)} and not of {wanted.__name__}; gsc.{reader} reads it")
        version = int(self.file.attrs.get("format_version", 1))
        if not 1 <= version <= FORMAT_VERSION:
            raise self.fail(
                f"is a model of format version {version}, but this is gsc {_core.version}, which reads up to "
                f"{FORMAT_VERSION}; update gsc"
            )
        return owner

    def model(self) -> Any:
        slab, noise = self.array("slab", 0), self.array("noise", 0)
        try:
            return _core.make_model(
                W=self.array("W", 2),
                pi=self.array("pi", 1),
                mu=self.array("mu", 1),
                slab_type=self.type_of("slab", slab),
                slab=_two_axes(slab),
                noise_type=self.type_of("noise", noise),
                noise=_two_axes(noise),
                intercept=self.optional("intercept", 1),
                W_variance=self.optional("W_variance", 2),
            )
        except DataError as error:
            raise error if str(error).startswith(str(self.path)) else self.fail(str(error)) from None

    def options(self) -> dict[str, str]:
        """As texts. What is not there has its default, but for the intercept: before 0.2.0 there was none."""
        if "options" not in self.file:
            return {}
        attributes = self.file["options"].attrs
        texts = {"intercept": "none"} if "intercept" not in attributes else {}
        for name, option in EVERY_OPTION.items():
            if option["kind"] == "shape":
                if "shape_rows" in attributes:
                    texts[name] = "x".join(str(int(attributes[f"shape_{part}"])) for part in ("rows", "cols", "channels"))
            elif option["attribute"] and option["attribute"] in attributes:  # h5py refuses to look for ""
                texts[name] = _option_text(option["kind"], attributes[option["attribute"]])
        return texts

    def history(self) -> dict[str, Any]:
        group = self.file.get("history", {})
        columns = {name: dataset[...] for name, dataset in group.items()}
        for name in ("dip", "estimated"):
            if name in columns:
                columns[name] = columns[name].astype(bool)
        return columns

    def method(self) -> dict[str, Any]:
        numbers, arrays = self.file.get("method/numbers", {}), self.file.get("method/arrays", {})
        return {
            "numbers": {name: float(dataset[0]) for name, dataset in numbers.items()},
            "arrays": {name: np.ascontiguousarray(dataset[...], dtype=np.float64) for name, dataset in arrays.items()},
        }


def load(path: Any) -> SpikeSlabCoding | DictionaryCoding | BetaProcessCoding:
    """Reads a model file, of this package or of the program, as a fitted estimator with the options it was learned with.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator : SpikeSlabCoding, DictionaryCoding or BetaProcessCoding
        Whichever learns such models.
    """
    estimator: SpikeSlabCoding | DictionaryCoding | BetaProcessCoding = _load(path, None)
    return estimator


def load_model(path: Any) -> SpikeSlabCoding:
    """As :func:`load`; raises unless it is a spike-and-slab model."""
    estimator: SpikeSlabCoding = _load(path, SpikeSlabCoding)
    return estimator


def load_dictionary(path: Any) -> DictionaryCoding:
    """As :func:`load`; raises unless it is a dictionary, learned by K-SVD, online or by feature-sign search."""
    estimator: DictionaryCoding = _load(path, DictionaryCoding)
    return estimator


def load_beta_process(path: Any) -> BetaProcessCoding:
    """As :func:`load`; raises unless it was learned with the Beta process, by sampling or variational Bayes."""
    estimator: BetaProcessCoding = _load(path, BetaProcessCoding)
    return estimator


def _load(path: Any, wanted: type | None) -> Any:
    source = Path(path)
    if not source.exists():
        raise FileNotFoundError(f"{source}: there is no such model file; is the name spelt right?")
    try:
        file = h5py.File(source, "r")
    except OSError as error:
        raise DataError(f"{source}: is not a model file; models are what gsc fit and save() write (.h5)") from error
    with file:
        reader = _Reader(source, file)
        estimator: Any = reader.estimator(wanted)()
        model, options = reader.model(), reader.options()
        history = reader.history()
        rescues = {name: int(value) for name, value in file["history"].attrs.items()} if "history" in file else {}
        method = reader.method()
    estimator._take_options(options)
    estimator.n_components = model.latents
    estimator._take_model(model)
    estimator.n_features_in_ = model.dimensions
    estimator.history_, estimator.rescues_ = history, rescues
    estimator._method_state, estimator._learned_with = method, {"latents": str(model.latents), **options}
    if history:
        estimator.n_iter_ = int(history["iteration"][-1]) if "iteration" in history else len(history["free_energy"]) - 1
    if isinstance(estimator, SpikeSlabCoding):
        estimator._pieces = 0
    elif isinstance(estimator, BetaProcessCoding):
        estimator._take_certainty()
    return estimator
