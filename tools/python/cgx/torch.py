"""cgx for PyTorch: what `cgx_torch` has."""

from cgx_torch import *  # noqa: F401,F403
from cgx_torch import __all__  # noqa: F401
