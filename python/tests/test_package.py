"""The package itself: its examples, its import, its metadata."""

import doctest
import importlib
import pickle
import subprocess
import sys
from importlib.metadata import version

import pytest

import gsc


@pytest.mark.parametrize("name", ["gsc._beta_process", "gsc._coding", "gsc._dictionary", "gsc._fastica", "gsc._pictures", "gsc._separation"])
def test_examples_of_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, globs={})
    assert result.attempted > 0 and result.failed == 0


def test_import_is_silent():
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import gsc"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_does_not_need_matplotlib():
    script = "import sys; sys.modules['matplotlib'] = None; import gsc; assert 'gsc.plot' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_version():
    assert gsc.__version__ == version("gsc-learn")


def test_errors_are_what_users_expect():
    assert issubclass(gsc.UsageError, ValueError) and issubclass(gsc.DataError, ValueError)
    assert issubclass(gsc.GscError, RuntimeError)
    assert str(pickle.loads(pickle.dumps(gsc.UsageError("why")))) == "why"
