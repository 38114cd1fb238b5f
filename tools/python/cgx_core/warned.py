"""Warnings to users: each once, at the line of theirs that it is about."""

import sys
import threading
import warnings

_lock = threading.Lock()
_packages = ("cgx_core", "cgx_jax", "cgx_torch", "jax", "torch")  # what stands between a user and what is said


def warn(message):
    """Shows a warning at the line of the first caller that is of no library."""
    depth, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _packages:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(f"cgx: {message}", stacklevel=depth - 1 if frame is None else depth)


class Said:
    """What was said already, by one state or step that compiles more than once."""

    def __init__(self):
        self._messages = set()

    def new_warnings(self, compilation):
        """The warnings of a compilation that were not among those of an earlier one. Each has its place, where a user knows
        one: a module that was made for the compiler says nothing to him."""
        with _lock:
            new = {text_of(each): None for each in compilation.diagnostics if each.severity == "warning"}
            new = [text for text in new if text not in self._messages]
            self._messages.update(new)
        return new

    def warn_of(self, compilation):
        """Shows them."""
        for text in self.new_warnings(compilation):
            warn(text)


def text_of(diagnostic):
    """What a warning says, after Python's own word for it: its place where a user knows one, and the message."""
    return diagnostic.message if diagnostic.file.startswith("<") or not diagnostic.file else \
        f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: {diagnostic.message}"
