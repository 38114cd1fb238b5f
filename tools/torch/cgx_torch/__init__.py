"""cgx for PyTorch: the gradients of DistributedDataParallel at 4 bits, in a training script of your own.

    import cgx_torch

    ddp_model.register_comm_hook(cgx_torch.state(ddp_model, bits=4), cgx_torch.hook)
"""

from cgx_core import __version__
from cgx_core.adaptation import Adaptation
from cgx_core.compiler import CompileError
from cgx_core.context import RuntimeFailure
from cgx_torch.compiled import Backend, backend
from cgx_torch.frameworks import follow_accelerator, lightning_callback, trainer_callback
from cgx_torch.hook import State, hook, state
from cgx_torch.install import Installation, install, is_installed
from cgx_torch.sharded import Sharded, compress

__all__ = ["Adaptation", "Backend", "CompileError", "Installation", "RuntimeFailure", "Sharded", "State", "__version__", "backend", "compress",
           "follow_accelerator", "hook", "install", "is_installed", "lightning_callback", "state", "trainer_callback"]
