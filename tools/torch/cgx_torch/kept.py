"""What codecs of a model remember, for who saves checkpoints of the model and knows it alone."""

import pathlib
import weakref

import torch
import torch.distributed as dist
from cgx_core.warned import warn

# A model has its state, through its communication hook or its comm objects, for as long as it lives.
_states = weakref.WeakKeyDictionary()  # {module: weak reference to a State or a Sharded}
_coming = weakref.WeakKeyDictionary()  # {module: what a state that is made later goes on from}


def keep(model, state):
    """A model was compressed. Its state goes on from what was loaded before, if anything was."""
    _states[model] = weakref.ref(state)
    if (saved := _coming.pop(model, None)) is not None:
        try:
            state.load_state_dict(saved)
        except ValueError as error:  # who loaded it could not know what the model is compressed with
            lost(str(error))


def of(model):
    """{name: state_dict()} of the compressed modules of a model, of this rank."""
    found = {}
    for name, each in model.named_modules():
        state = _states[each]() if each in _states else None
        if state is not None and _plain(name) not in found:
            found[_plain(name)] = state.state_dict()
    return found


def resume(model, saved):
    """Has a model go on from what `of` gave, at once, or when it is compressed."""
    for name, each in model.named_modules():
        if _plain(name) not in saved:
            continue
        state = _states[each]() if each in _states else None
        if state is not None:
            state.load_state_dict(saved[_plain(name)])
        elif not _is_wrapper(each):
            _coming[each] = saved[_plain(name)]


def rank():
    """What a rank is called in checkpoints."""
    return f"{dist.get_rank()} of {dist.get_world_size()}"


def write(models, folder):
    """Writes what codecs of this rank remember of some models to a file of its own. All ranks call it."""
    saved = {str(number): of(each) for number, each in enumerate(models)}
    if any(saved.values()):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        torch.save(saved, pathlib.Path(folder) / _file())


def read(models, folder):
    """Has models go on from what `write` wrote. Whether this rank has a file there; of another number of ranks it is said that
    what these remembered is lost."""
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
    """The name of a module whatever is put around the model."""
    parts = [each for each in name.split(".") if each not in ("module", "_orig_mod")]
    return ".".join(parts)


def _is_wrapper(module):
    return isinstance(module, torch.nn.parallel.DistributedDataParallel) or type(module).__name__ == "OptimizedModule"
