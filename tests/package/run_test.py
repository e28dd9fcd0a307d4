"""./run and the packages of the system: nobody's sudo is used unasked.

    run_test.py ROOT

Programs that pretend stand before those of the system: dpkg-query knows no package, id says who we are, apt-get, sudo and
cmake write down that they were called.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def run(root, folder, user, *words):
    """Exit status, what was said, and which of the programs that pretend were called."""
    calls = folder / "calls"
    calls.write_text("")
    pretended = {"dpkg-query": "exit 1", "id": f"echo {user}", "cmake": "exit 3", "sudo": '"$@"', "apt-get": ""}
    for name, does in pretended.items():
        noted = "" if name in ("dpkg-query", "id") else f'echo {name} "$@" >>{calls}\n'
        (folder / name).write_text(f"#!/bin/sh\n{noted}{does}\n")
        (folder / name).chmod(0o755)
    done = subprocess.run([root / "run", *words], env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr, calls.read_text()


def main(root):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for command in ("build", "demo", "test"):
            code, said, calls = run(root, folder, 1000, command)
            assert code == 1 and calls == "", (command, code, calls)
            assert "sudo apt-get install" in said and f"./run deps {command}" in said and "libeigen3-dev" in said, said
        code, said, calls = run(root, folder, 0, "demo")
        assert "installing" in said and "apt-get install" in calls and "sudo" not in calls, (said, calls)
        assert code != 0 and "cmake --preset release" in calls, (code, calls)
        code, said, calls = run(root, folder, 1000, "deps", "python")
        assert code == 0 and "to be installed" in said and "python3-venv" in said, (code, said)
        assert "sudo apt-get update" in calls and "--preset" not in calls, calls
        code, said, calls = run(root, folder, 1000, "deps", "cake")
        assert code == 2 and "cake" in said and calls == "", (code, said)
    print("sudo is not used unasked")


main(pathlib.Path(sys.argv[1]).resolve())
