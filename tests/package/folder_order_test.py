"""Folders of src/ stand in an order (docs/HACKING.md), and each uses only those before it; cli/ uses none of them, but
the public headers alone. Reads every #include."""

import pathlib
import re
import sys

ORDER = ["math", "data", "model", "inference", "distributed", "learning",
         "truncated/tree", "truncated/gaps", "truncated", "truncated/own_priors",
         "factored", "dictionary", "beta_process", "methods", "io", "mpi",
         "cuda/queue", "cuda/kernels", "cuda",
         "tasks/picture", "tasks/noise", "tasks/groups", "tasks/denoise", "tasks/inpaint", "tasks/separate",
         "media", "report"]

# The room that a public header belongs to: whoever includes it must stand in this one or after it.
HEADERS = {
    "math": ["export.h", "stopwatch.h", "types.h"],
    "data": ["data.h", "recording.h"],
    "model": ["model.h", "generate.h"],
    "inference": ["watcher.h", "dictionary.h", "methods.h", "inference.h", "nonlocal.h", "missing.h", "backend/pass.h", "backend/engine.h"],
    "distributed": ["team.h", "mpi.h"],
    "learning": ["rescues.h", "fit.h", "learning_choices.h", "words.h", "backend/resident_em.h", "fit_piece.h", "restarts.h", "option_list.h"],
    "io": ["arrays.h", "file_kind.h", "streams.h", "model_file.h"],
    "cuda": ["cuda.h"],
    "tasks/picture": ["picture.h", "metrics.h"],
    "tasks/noise": ["noise.h"],
    "tasks/denoise": ["denoise.h"],
    "tasks/inpaint": ["inpaint.h"],
    "tasks/separate": ["separate.h", "scores.h"],
    "media": ["picture_files.h", "sound.h"],
    "report": ["report.h"],
}
FOR_OTHERS = ["gsc.h", "core.h", "files.h"]  # several headers in one, for users; our own files name what they need

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def violations(root):
    folder_of = {name: folder for folder, names in HEADERS.items() for name in names}
    include = root / "include/gsc"
    public = {path.relative_to(include).as_posix(): path for path in include.rglob("*.h")}
    found = [f"include/gsc/{name} is in no folder of {pathlib.Path(__file__).name}"
             for name in public if name not in folder_of and name not in FOR_OTHERS]
    files = [(path, folder_of[name]) for name, path in public.items() if name in folder_of]
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        folder = path.parent.relative_to(root / "src").as_posix()
        if folder in ORDER:
            files.append((path, folder))
        else:
            found.append(f"src/{folder} is not in the order of folders")
    for path, folder in files:
        for name in INCLUDE.findall(path.read_text()):
            ours, header = name.startswith("gsc/"), name.removeprefix("gsc/")
            used = folder_of.get(header) if ours else name.rpartition("/")[0]
            if ours and header in FOR_OTHERS:
                found.append(f"{path.relative_to(root)} includes {name}; it should say which part of it")
            if used not in ORDER:  # the standard library, packages, <gsc/version.h>
                continue
            if ORDER.index(used) > ORDER.index(folder):
                found.append(f"{path.relative_to(root)} ({folder}) includes {name} ({used}), which comes later")
    return found, len(files)


def left_out(root):
    """<gsc/gsc.h> is all that needs no files, and shows nothing of backends."""
    include = root / "include/gsc"
    shown = {name.removeprefix("gsc/") for header in ("gsc.h", "core.h")
             for name in INCLUDE.findall((include / header).read_text())} - {"core.h"}
    last = ORDER.index("tasks/separate")
    expected = {name for folder, names in HEADERS.items() if folder not in ("io", "cuda") and ORDER.index(folder) <= last
                for name in names if "/" not in name} - {"export.h", "stopwatch.h", "mpi.h"}
    return [f"<gsc/gsc.h> and core.h: {name}" for name in sorted(shown ^ expected)]


def private_headers(root):
    """The program lives on the public API, as everybody else does."""
    return [f"{path.relative_to(root)} includes {name} of src/; what a program needs belongs into include/gsc/"
            for path in sorted((root / "cli").rglob("*")) if path.suffix in (".h", ".cpp")
            for name in INCLUDE.findall(path.read_text()) if (root / "src" / name).is_file()]


# Whoever treats methods differently asks their traits; their rows alone name them.
METHOD = re.compile(r"(?<![A-Za-z])Method::")
METHODS_STAND_IN = ("src/methods/", "include/gsc/methods.h")


def named_methods(root):
    return [f"{name} names a method; ask its traits (gsc/methods.h)"
            for folder in ("src", "include", "cli", "python/src") for path in sorted((root / folder).rglob("*"))
            if path.suffix in (".h", ".cpp")
            and not (name := path.relative_to(root).as_posix()).startswith(METHODS_STAND_IN)
            and METHOD.search(re.sub(r"//.*", "", path.read_text()))]


def check_the_check(root):
    """Orders turned round must be noticed."""
    global ORDER
    right, ORDER = ORDER, ORDER[::-1]
    found, _ = violations(root)
    ORDER = right
    rows = (root / "src/methods/methods.cpp").read_text()
    return len(found) > 100 and len(METHOD.findall(rows)) >= 8


def main():
    root = pathlib.Path(sys.argv[1])
    documented = re.findall(r"^    src/([\w/]+)/ ", (root / "docs/HACKING.md").read_text(), re.MULTILINE)
    found, files = violations(root)
    found += private_headers(root) + left_out(root) + named_methods(root)
    if documented != ORDER:
        found.append(f"docs/HACKING.md has the order {documented}")
    if files < 150 or not check_the_check(root):
        found.append(f"only {files} files were looked at; did they move?")
    print("\n".join(found) or f"{files} files use only folders before their own")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
