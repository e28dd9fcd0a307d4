"""Exceptions of this package."""


class GscError(RuntimeError):
    """Something went wrong that is not a matter of the values given."""


class UsageError(GscError, ValueError):
    """A parameter that makes no sense; found before any work is done."""


class DataError(GscError, ValueError):
    """Data or a file that cannot be worked with."""
