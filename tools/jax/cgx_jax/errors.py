"""Errors of this package."""


class ExportError(ValueError):
    """The step, its state or its batch cannot be exported; the message says why."""
