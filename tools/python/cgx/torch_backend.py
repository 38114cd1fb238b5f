"""Has `CGX="bits=4" torchrun train.py` compress what train.py sends, which does not know of cgx.

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
    imported.meet_trainers(_follow)  # who trains is often made before there are ranks
    original = dist.init_process_group

    @functools.wraps(original)
    def init_process_group(*args, **kwargs):
        # Not before: by now torch is there as a whole, and the script is one of several ranks.
        import cgx_torch
        done = original(*args, **kwargs)
        if not cgx_torch.is_installed():
            cgx_torch.install(**options)
        return done

    for module in (dist, dist.distributed_c10d):
        module.init_process_group = init_process_group


def _follow(name, module):
    """By now torch is there as a whole."""
    from cgx_torch import frameworks
    return frameworks.follow(name, module)
