"""Warns users once per message, at the line of their own code that it is about."""

import sys
import threading
import warnings

_lock = threading.Lock()
_packages = ("cgx_core", "cgx_jax", "cgx_torch", "jax", "torch")  # packages between the user's code and the warning


def warn(message):
    """Shows a warning at the line of the first caller outside these packages."""
    depth, frame = 1, sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _packages:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(f"cgx: {message}", stacklevel=depth - 1 if frame is None else depth)


class Said:
    """The warnings that one state or step, which may compile more than once, has already shown."""

    def __init__(self):
        self._messages = set()

    def new_warnings(self, compilation):
        """Returns the warnings of a compilation that no earlier one had. Each has its place where the user knows it; a
        module that was made for the compiler means nothing to him."""
        with _lock:
            new = {text_of(each): None for each in compilation.diagnostics if each.severity == "warning"}
            new = [text for text in new if text not in self._messages]
            self._messages.update(new)
        return new

    def warn_of(self, compilation):
        """Shows the new warnings of a compilation."""
        for text in self.new_warnings(compilation):
            warn(text)


def text_of(diagnostic):
    """Returns the text of a warning: its place where the user knows it, and the message."""
    return diagnostic.message if diagnostic.file.startswith("<") or not diagnostic.file else \
        f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: {diagnostic.message}"
