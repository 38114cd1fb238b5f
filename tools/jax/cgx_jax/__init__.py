"""cgx for JAX.

In your own training script, with gradients at 4 bits:

    import cgx_jax

    train_step = cgx_jax.compress(jax.jit(train_step, donate_argnums=0), bits=4)

or, for every step that JAX compiles from then on,

    cgx_jax.install(bits=4)

Or out of Python: the program of a step, its state and its data,

    cgx_jax.export_step(step, state, batch, "exported")
    cgx_jax.write_batches("exported/train.safetensors", dataset)

for

    cgx-run exported/step.mlir --ranks 4 --state exported/state.safetensors \\
        --data exported/train.safetensors --steps 100 --save exported/trained.safetensors

whose result comes back with `cgx_jax.restore("exported/trained.safetensors", like=state)`.
"""

from cgx_core import __version__, compiler
from cgx_core.adaptation import Adaptation
from cgx_core.compiler import CompileError
from cgx_core.context import RuntimeFailure
from cgx_jax.batches import constant, per_step, write_batches
from cgx_jax.compress import CompressedStep, compress
from cgx_jax.export import ExportError, export_step
from cgx_jax.install import Installation, InstalledStep, install
from cgx_jax.restore import restore
from cgx_jax.safetensors import load, save

__all__ = ["Adaptation", "CompileError", "CompressedStep", "ExportError", "Installation", "InstalledStep", "RuntimeFailure",
           "__version__", "compiler", "compress", "constant", "export_step", "install", "load", "per_step", "restore", "save",
           "write_batches"]
