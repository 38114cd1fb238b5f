"""Options of which there are a few: refused where they are written, with those that exist."""

import difflib

ERROR_FEEDBACK = ("f32", "bf16", "int8", "none")  # where it keeps what was lost


def check_choice(name, value, choices, like=""):
    """Raises ValueError (TypeError where it is no text) unless a value is one of the choices, or None."""
    if value is None or value in choices:
        return
    listed = ", ".join(f'"{each}"' for each in choices)
    if not isinstance(value, str):
        raise TypeError(f"expected {name} to be one of {listed}{like}, got {value!r}")
    close = difflib.get_close_matches(value, choices, n=1)
    raise ValueError(f"expected {name} to be one of {listed}{like}, got {value!r}" + (f': did you mean "{close[0]}"?' if close else ""))
