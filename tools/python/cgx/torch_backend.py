"""Lets `CGX="bits=4" torchrun train.py` compress the communication of a train.py that does not mention cgx.

torch calls `autoload` as it is imported, as of 2.5 (the group of entry points torch.backends). Without CGX in the environment it
does nothing and imports nothing.
"""

import functools

from cgx import environment
from cgx_core import imported


def autoload():
    options = environment.given()
    if not options:
        return
    import torch.distributed as dist
    if not dist.is_available():
        return
    imported.meet_trainers(_follow)  # a trainer is often created before there are ranks
    original = dist.init_process_group

    @functools.wraps(original)
    def init_process_group(*args, **kwargs):
        # Only now is torch fully imported and the script known to be one of several ranks.
        import cgx_torch
        done = original(*args, **kwargs)
        if not cgx_torch.is_installed():
            cgx_torch.install(**options)
        return done

    for module in (dist, dist.distributed_c10d):
        module.init_process_group = init_process_group


def _follow(name, module):
    """Follows a trainer's module. At this time torch is fully imported."""
    from cgx_torch import frameworks
    return frameworks.follow(name, module)
