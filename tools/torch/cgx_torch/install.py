"""Compresses the communication of models that are wrapped from now on, without a change to the script.

A model is compressed as its first forward pass begins: then the script has called all that wraps it, and a communication hook
of its own, if it has one. Models of DistributedDataParallel are met in its constructor, those of `fully_shard` where torch
finds out which of them is the root.
"""

import atexit

import torch
import torch.distributed as dist
from cgx_core import compiler, imported, layers
from cgx_core.choices import check_connection
from cgx_core.warned import warn
from cgx_torch import frameworks, fsdp
from cgx_torch.frameworks import replace
from cgx_torch.sharded import AUTO, DEFAULT_GRADIENTS, DEFAULT_WEIGHTS, compress, gradients_of

_installed = None


def install(weights=DEFAULT_WEIGHTS, gradients=DEFAULT_GRADIENTS, replicas=AUTO, *, bits=None, report=False, **options):
    """Compresses every DistributedDataParallel, and every model for which `fully_shard` is called, from now on, as
    `compress` does, when its first forward pass begins. The first rank prints once per model what was done. A model
    with a communication hook is left alone; so is one that `compress` rejects, with a warning. All ranks call it, with
    the same options.

    Args:
      report: True prints what travels, layer by layer, and not only the sum.
      others: as of `compress`.

    Returns:
      An Installation: its `models`, what `compress` returned for each, in order; and `uninstall`. Where nothing was compressed at
      all, that is said at the end, with the reasons.

    Raises:
      CompileError, TypeError, ValueError: an option is wrong.
      RuntimeError: `install` was called before.
    """
    global _installed
    if _installed is not None:
        raise RuntimeError("cgx_torch.install() was called before: call uninstall() of what it returned first")
    gradients, replicas = gradients_of(weights, gradients, replicas, bits, options)
    check_connection(options.get("transport"), options.get("seed", 0), options.get("timeout", 300.0))
    _check_options(weights, gradients, options)
    _check_options(None, replicas, options)
    _installed = Installation({"weights": weights, "gradients": gradients, "replicas": replicas, **options}, report)
    return _installed


def is_installed():
    """Returns true if `install` was called and not undone."""
    return _installed is not None


class Installation:
    """The object that `install` returns."""

    def __init__(self, options, prints):
        self.models = []
        self._left = []  # models that are left alone, and why, one sentence each
        self._options, self._prints = options, prints
        self._restores = [replace(torch.nn.parallel.DistributedDataParallel, "__init__", _met), imported.meet_trainers(frameworks.follow)]
        if (flat := fsdp.flat_class()) is not None:
            self._restores.append(replace(flat, "__init__", _met_flat))
        if fsdp.has_interface():
            from torch.distributed.fsdp._fully_shard._fsdp_state import FSDPState
            self._restores.append(replace(FSDPState, "_lazy_init", _met_root))

    def uninstall(self):
        """Leaves alone the models that are wrapped from now on. Models that were compressed stay so."""
        global _installed
        if _installed is self:
            for restore in self._restores:
                restore()
            _installed = None
            self._say_nothing_was_done()

    def take(self, model, what):
        """Compresses a model."""
        try:
            state = compress(model, **self._options)
        except (TypeError, ValueError, compiler.CompileError) as error:
            self._left.append(f"{what}: {error}")
            warn(f"{what} is left alone: {error}")
            return
        self.models.append(state)
        if dist.get_rank() == 0:
            print(state.report() if self._prints else _summary(what, state), end="", flush=True)

    def leave(self, what, reason):
        self._left.append(f"{what}: {reason}")
        if dist.get_rank() == 0:
            print(f"cgx: {what} is left alone: {reason}", flush=True)

    def _say_nothing_was_done(self):
        """Warns that nothing was compressed: training ran as it does without cgx, which is not what was requested."""
        if not self.models:
            warn("cgx_torch.install() compressed nothing: " +
                 ("; ".join(self._left) or "no DistributedDataParallel, and no model that fully_shard was called for, ran a forward pass"))


def _summary(what, state):
    """Returns one line on what is sent."""
    layers = state.report(format="json")["layers"]
    compressed = sum(layer["codec"] != "identity" for layer in layers)
    raw, wire = (sum(max(layer[name], default=0) for layer in layers) for name in ("raw_bytes_by_rank", "wire_bytes_by_rank"))
    return f"cgx: {what}: {compressed} of {len(layers)} tensors compressed, {raw} -> {wire} bytes per rank and step\n"


def _met(original):
    """Wraps the constructor of DistributedDataParallel."""
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self._cgx_first = self.register_forward_pre_hook(_first_forward)
    return __init__


def _first_forward(model, inputs):
    """Handles the first forward pass of a DistributedDataParallel. The function is global because copies and pickles of
    a model refer to it by name."""
    if (handle := model.__dict__.pop("_cgx_first", None)) is not None:
        handle.remove()
    if _installed is None:
        return
    what = f"DistributedDataParallel({type(model.module).__name__})"
    if dist.get_world_size(model.process_group) == 1:
        _installed.leave(what, "there is one rank")
    elif getattr(model, "_comm_hooks", None):
        _installed.leave(what, "it has a communication hook")
    else:
        _installed.take(model, what)


_first_forward._torchdynamo_disable = True  # torch.compile is not to look into it


def _met_flat(original):
    """Wraps the constructor of FSDP1, which is also called for submodules."""
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self._cgx_first = self.register_forward_pre_hook(_first_forward_of_flat)
    return __init__


def _first_forward_of_flat(model, inputs):
    """Handles the first forward pass of the outermost FSDP1 module, to report why nothing of it is compressed."""
    for each in model.modules():
        if (handle := each.__dict__.pop("_cgx_first", None)) is not None:
            handle.remove()
    if _installed is not None:
        _installed.take(model, f"FullyShardedDataParallel({type(model.module).__name__})")


_first_forward_of_flat._torchdynamo_disable = True


def _met_root(original):
    """Wraps the function in which torch finds out that a module is the root of the sharded modules."""
    def _lazy_init(self):
        if self._is_root is None and _installed is not None:
            model = self._modules[0]
            _installed.take(model, type(model).__name__)
        return original(self)
    return _lazy_init


def _check_options(weights, gradients, options):
    """Raises CompileError where an option is wrong for any model. A plan belongs to one model and replaces the codecs,
    so it cannot be given here."""
    codecs = {"weight": weights, "gradient": gradients} if options.get("plan") is None else {}
    options = {**codecs,
               **{name: value for name, value in options.items() if name not in ("plan", "transport", "seed", "timeout", "name", "process_group", "never_slower")}}
    layers.decide(2, [layers.collective(0, "all_reduce", [layers.operand("w", "gradient", "f32", [64, 64], (0, 0))], reduction="sum")], options)


@atexit.register
def _say_at_the_end():
    if _installed is not None:
        _installed._say_nothing_was_done()
