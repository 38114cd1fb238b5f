"""cgx for PyTorch: everything in `cgx_torch`."""

from cgx_torch import *  # noqa: F401,F403
from cgx_torch import __all__  # noqa: F401


def __getattr__(name):
    if name == "export_step":
        raise AttributeError("cgx.torch has no export_step: torch.export takes a forward pass, and neither gradients, optimizer nor "
                             "collectives are in its graph. Compress the model in its own script, cgx.torch.compress(model, bits=4), or "
                             "export a step of JAX, cgx.jax.export_step(...)")
    raise AttributeError(f"module 'cgx.torch' has no attribute {name!r}")
