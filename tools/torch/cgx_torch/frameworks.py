"""What codecs remember, in the checkpoints of frameworks that train: a run that they resume is the one that was interrupted.

Each framework has a place for that, which users name (`cgx_torch.trainer_callback()`), and which `install` names for them.
"""

import functools
import os
import sys

import torch.distributed as dist
from cgx_torch import kept


def trainer_callback():
    """For `Trainer(callbacks=[...])` of transformers: files of each rank beside its checkpoints."""
    from transformers import TrainerCallback

    class Callback(TrainerCallback):
        """What cgx adds to checkpoints."""
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
    """For `save_state` and `load_state` of an Accelerator: files of each rank beside what these write."""
    accelerator.register_save_state_pre_hook(lambda models, _, folder: _are_ranks() and kept.write(models, folder))
    accelerator.register_load_state_pre_hook(lambda models, folder: _are_ranks() and kept.read(models, folder))


def lightning_callback(lightning=None):
    """For `Trainer(callbacks=[...])` of Lightning: an entry of its checkpoints, which has what all ranks remember.

    Args:
      lightning: the package that the Trainer is of, `lightning.pytorch` or `pytorch_lightning`; by default the former.
    """
    if lightning is None:
        import lightning.pytorch as lightning

    class Callback(lightning.Callback):
        """What cgx adds to checkpoints."""

        def on_save_checkpoint(self, trainer, pl_module, checkpoint):
            if not _are_ranks() or not (mine := kept.of(pl_module)):
                return
            everyone = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
            dist.gather_object((kept.rank(), mine), everyone, dst=0)  # which writes the file
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
    """Has each Trainer and Accelerator that is made from now on keep what codecs remember. Returns what undoes that, a list.

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
    """Puts `around(original)` in the place of a method. Returns what puts it back."""
    original = getattr(owner, name)
    setattr(owner, name, functools.wraps(original)(around(original)))
    return lambda: setattr(owner, name, original)
