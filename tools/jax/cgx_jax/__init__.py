"""Hands a JAX training step to cgx: its program, its state and its data.

    import cgx_jax

    cgx_jax.export_step(step, state, batch, "exported")
    cgx_jax.write_batches("exported/train.safetensors", dataset)

and then, without Python:

    cgx-run exported/step.mlir --ranks 4 --state exported/state.safetensors \\
        --data exported/train.safetensors --steps 100
"""

from cgx_jax.batches import constant, per_step, write_batches
from cgx_jax.export import ExportError, export_step
from cgx_jax.safetensors import load, save

__all__ = ["ExportError", "constant", "export_step", "load", "per_step", "save", "write_batches"]
