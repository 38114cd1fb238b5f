"""cgx: the collectives of distributed training at 2 to 8 bits, in a training script of your own.

    import cgx

    ddp_model = cgx.compress(DistributedDataParallel(model), bits=4)        # PyTorch
    train_step = cgx.compress(jax.jit(train_step, donate_argnums=0), bits=4)  # JAX

`cgx.torch` and `cgx.jax` have all that there is for either. Nothing of a framework is imported before it is asked for.
"""

import importlib
import sys

from cgx_core import __version__

__all__ = ["Codec", "CompileError", "RunError", "RuntimeFailure", "__version__", "compress", "install", "run"]


def __getattr__(name):
    if name in ("jax", "torch"):
        return importlib.import_module(f"cgx.{name}")
    if name == "Codec":
        return importlib.import_module("cgx_core.codecs").Codec
    if name == "CompileError":
        return importlib.import_module("cgx_core.compiler").CompileError
    if name in ("run", "RunError"):
        return getattr(importlib.import_module("cgx_core.native_run"), name)
    if name == "RuntimeFailure":
        return importlib.import_module("cgx_core.context").RuntimeFailure
    raise AttributeError(f"module 'cgx' has no attribute {name!r}")


def compress(what, *, config=None, **options):
    """Compresses what a model or a step sends to other ranks.

    Args:
      what: a PyTorch model (DistributedDataParallel, or one that `fully_shard` was called on), or a step of JAX, jitted or not.
      config: a file in TOML, as of `cgx-run --config`: of its table [compress] come the options that are not given here.
      options: of `cgx.torch.compress` or `cgx.jax.compress`: bits=4, exclude="*embed*", error_feedback="f32", plan="plan.json", ...

    Returns:
      What that function returns.
    """
    options = _with_config(config, options)
    # A script that has a model has imported torch.
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(what, torch.nn.Module):
        return importlib.import_module("cgx.torch").compress(what, **options)
    if callable(what) and "jax" in sys.modules:
        return importlib.import_module("cgx.jax").compress(what, **options)
    raise TypeError(f"expected a torch.nn.Module, or a function of a step of JAX, got {type(what).__name__}")


def install(*, config=None, **options):
    """Compresses the communication of every model or step that is created from now on, without another change to the
    script: models of PyTorch if torch was imported, and steps of JAX if that was.

    Args:
      config: as of `compress`.
      options: of `cgx.torch.install` or `cgx.jax.install`: bits=4, exclude="*embed*", ...

    Returns:
      What that function returns; where both frameworks were imported, a pair of torch's and JAX's.
    """
    options = _with_config(config, options)
    done = [importlib.import_module(f"cgx.{name}").install(**options) for name in ("torch", "jax") if name in sys.modules]
    if not done:
        raise RuntimeError("expected torch or jax to be imported before cgx.install()")
    return done[0] if len(done) == 1 else tuple(done)


def _with_config(path, options):
    if path is None:
        return options
    return {**importlib.import_module("cgx_core.config_file").read_options(path), **options}
