"""State of a model's codecs, for code that saves checkpoints of the model and knows only the model."""

import pathlib
import weakref

import torch
import torch.distributed as dist
from cgx_core.warned import warn

# A model has its state, through its communication hook or its comm objects, for as long as it lives.
_states = weakref.WeakKeyDictionary()  # {module: weak reference to a State or a Sharded}
_coming = weakref.WeakKeyDictionary()  # {module: the state that a state made later continues from}


def keep(model, state):
    """Registers the state of a model that was compressed. The state continues from one that was loaded before, if there
    is one."""
    _states[model] = weakref.ref(state)
    if (saved := _coming.pop(model, None)) is not None:
        try:
            state.load_state_dict(saved)
        except ValueError as error:  # the loading code could not know how the model is compressed
            lost(str(error))


def of(model):
    """Returns {name: state_dict()} of the compressed modules of a model, for this rank."""
    found = {}
    for name, each in model.named_modules():
        state = _states[each]() if each in _states else None
        if state is not None and _plain(name) not in found:
            found[_plain(name)] = state.state_dict()
    return found


def resume(model, saved):
    """Lets a model continue from the result of `of`, at once, or when it is compressed."""
    for name, each in model.named_modules():
        if _plain(name) not in saved:
            continue
        state = _states[each]() if each in _states else None
        if state is not None:
            state.load_state_dict(saved[_plain(name)])
        elif not _is_wrapper(each):
            _coming[each] = saved[_plain(name)]


def rank():
    """Returns the name of this rank in checkpoints."""
    return f"{dist.get_rank()} of {dist.get_world_size()}"


def write(models, folder):
    """Writes the state of this rank's codecs for some models to a file of its own. All ranks call it."""
    saved = {str(number): of(each) for number, each in enumerate(models)}
    if any(saved.values()):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        torch.save(saved, pathlib.Path(folder) / _file())


def read(models, folder):
    """Lets models continue from the file that `write` wrote. Returns true if this rank has a file there. If the files
    are those of another number of ranks, warns that their state is lost."""
    path = pathlib.Path(folder) / _file()
    if not path.exists():
        others = sorted(each.name for each in pathlib.Path(folder).glob("cgx-rank-*.pt"))
        if others:
            lost(f"expected the state of {dist.get_world_size()} ranks, and {folder} has {', '.join(others)}")
        return False
    saved = torch.load(path, map_location="cpu", weights_only=True)
    for number, each in enumerate(models):
        resume(each, saved.get(str(number), {}))
    return True


def lost(why):
    if dist.get_rank() == 0:
        warn(f"what codecs remembered is lost, and they owe nothing: {why}")


def _file():
    return f"cgx-rank-{dist.get_rank()}-of-{dist.get_world_size()}.pt"


def _plain(name):
    """Returns the name of a module without the wrappers around the model."""
    parts = [each for each in name.split(".") if each not in ("module", "_orig_mod")]
    return ".".join(parts)


def _is_wrapper(module):
    return isinstance(module, torch.nn.parallel.DistributedDataParallel) or type(module).__name__ == "OptimizedModule"
