"""Options with a few values. A wrong one is rejected where it is written, with a list of the right ones."""

import difflib
import numbers

TRANSPORTS = ("shm", "tcp", "shm+tcp", "mpi", "shm+mpi", "nccl", "nccl+tcp", "nccl+mpi", "inproc")  # of the runtime
ERROR_FEEDBACK = ("f32", "bf16", "int8", "none")  # the element type of the residuals


def check_choice(name, value, choices, like=""):
    """Raises ValueError (TypeError where it is no text) unless a value is one of the choices, or None."""
    if value is None or value in choices:
        return
    listed = ", ".join(f'"{each}"' for each in choices)
    if not isinstance(value, str):
        raise TypeError(f"expected {name} to be one of {listed}{like}, got {value!r}")
    close = difflib.get_close_matches(value, choices, n=1)
    raise ValueError(f"expected {name} to be one of {listed}{like}, got {value!r}" + (f': did you mean "{close[0]}"?' if close else ""))


def check_connection(transport, seed, timeout):
    """Raises ValueError or TypeError if ranks cannot be connected with these values."""
    check_choice("transport", transport, TRANSPORTS)
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral):
        raise TypeError(f"expected seed to be a whole number, got {seed!r}")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"expected seed to be from 0 to 2**64 - 1, got {seed}")
    if isinstance(timeout, bool) or not isinstance(timeout, numbers.Real):
        raise TypeError(f"expected timeout to be a number of seconds, got {timeout!r}")
    if not 0.001 <= timeout <= 1e6:
        raise ValueError(f"expected timeout to be from 0.001 to 1e6 seconds, got {timeout}")
