"""cgx for JAX: everything in `cgx_jax`."""

from cgx_jax import *  # noqa: F401,F403
from cgx_jax import __all__  # noqa: F401
