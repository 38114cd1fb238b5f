"""Hands a JAX training step to cgx: its program, its state and its data.

    import cgx_jax

    cgx_jax.export_step(step, state, batch, "exported")
    cgx_jax.write_batches("exported/train.safetensors", dataset)

and then, without Python:

    cgx-run exported/step.mlir --ranks 4 --state exported/state.safetensors \\
        --data exported/train.safetensors --steps 100
"""

from cgx_jax.batches import write_batches
from cgx_jax.export import ExportError, export_step
from cgx_jax.safetensors import load, save

__all__ = ["ExportError", "export_step", "load", "save", "write_batches"]
