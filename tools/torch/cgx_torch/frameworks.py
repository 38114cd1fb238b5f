"""State of codecs in the checkpoints of training frameworks, so that a resumed run equals one that was not interrupted.

Each framework has a place for that, which users name (`cgx_torch.trainer_callback()`), and which `install` names for them.
"""

import functools
import os
import sys

import torch.distributed as dist
from cgx_torch import kept


def trainer_callback():
    """Returns a callback for `Trainer(callbacks=[...])` of transformers, which saves a file per rank beside the
    Trainer's checkpoints."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):
        """Saves the codec state with the Trainer's checkpoints, and restores it."""
        resumes = None  # the folder that Trainer.train was told, where it was

        def on_save(self, args, state, control, model=None, **_):
            if _are_ranks():
                kept.write([model], os.path.join(args.output_dir, f"checkpoint-{state.global_step}"))

        def on_train_begin(self, args, state, control, model=None, **_):
            if not _are_ranks() or state.global_step == 0:
                return
            told = self.resumes if isinstance(self.resumes, str) else args.resume_from_checkpoint
            kept.read([model], told if isinstance(told, str) and os.path.isdir(told)
                      else os.path.join(args.output_dir, f"checkpoint-{state.global_step}"))

    return Callback()


def follow_accelerator(accelerator):
    """Lets `save_state` and `load_state` of an Accelerator save and load a file per rank beside their own."""
    accelerator.register_save_state_pre_hook(lambda models, _, folder: _are_ranks() and kept.write(models, folder))
    accelerator.register_load_state_pre_hook(lambda models, folder: _are_ranks() and kept.read(models, folder))


def lightning_callback(lightning=None):
    """Returns a callback for `Trainer(callbacks=[...])` of Lightning, which adds the codec state of all ranks to its
    checkpoints.

    Args:
      lightning: the package that the Trainer is of, `lightning.pytorch` or `pytorch_lightning`; by default the former.
    """
    if lightning is None:
        import lightning.pytorch as lightning

    class Callback(lightning.Callback):
        """Adds the codec state to Lightning's checkpoints, and restores it."""

        def on_save_checkpoint(self, trainer, pl_module, checkpoint):
            if not _are_ranks() or not (mine := kept.of(pl_module)):
                return
            everyone = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
            dist.gather_object((kept.rank(), mine), everyone, dst=0)  # rank 0 writes the file
            if everyone:
                checkpoint["cgx"] = dict(everyone)

        def on_load_checkpoint(self, trainer, pl_module, checkpoint):
            if not _are_ranks() or "cgx" not in checkpoint:
                return
            if kept.rank() in checkpoint["cgx"]:
                kept.resume(pl_module, checkpoint["cgx"][kept.rank()])
            else:
                kept.lost(f"expected the state of {kept.rank()}, and the checkpoint has that of {', '.join(checkpoint['cgx'])}")

    return Callback()


def _are_ranks():
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


# ---- Without the user

def follow(name, module):
    """Lets each Trainer and Accelerator that is created from now on save the codec state. Returns a list of functions
    that undo this.

    Args:
      name, module: one of `cgx_core.imported.TRAINERS`.
    """
    package = name.partition(".trainer")[0]
    if name == "accelerate.accelerator":
        return _follow_accelerate(module)
    return _follow_transformers(module) if package == "transformers" else _follow_lightning(package, module)


def _follow_transformers(module):
    def made(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            self._cgx_callback = trainer_callback()
            self.add_callback(self._cgx_callback)
        return __init__

    def trained(original):
        def train(self, resume_from_checkpoint=None, *args, **kwargs):
            self._cgx_callback.resumes = resume_from_checkpoint
            return original(self, resume_from_checkpoint, *args, **kwargs)
        return train
    return [replace(module.Trainer, "__init__", made), replace(module.Trainer, "train", trained)]


def _follow_accelerate(module):
    def made(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            follow_accelerator(self)
        return __init__
    return [replace(module.Accelerator, "__init__", made)]


def _follow_lightning(package, module):
    def made(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            self.callbacks.append(lightning_callback(sys.modules[package]))
        return __init__
    return [replace(module.Trainer, "__init__", made)]


def replace(owner, name, around):
    """Replaces a method by `around(original)`. Returns a function that undoes this."""
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(around(original)))
    return lambda: setattr(owner, name, original)
