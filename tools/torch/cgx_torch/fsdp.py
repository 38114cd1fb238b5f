"""Knowledge about torch's FSDP2 that its interface does not offer: what it splits between ranks, and in which order it
packs it."""

import dataclasses
import functools
import inspect
import math
import threading
import typing

import torch
import torch.distributed as dist
from cgx_core.context import RuntimeFailure
from cgx_torch import module


@dataclasses.dataclass(frozen=True)
class Layer:
    """A parameter of a module that `fully_shard` was called for."""
    name: str
    shape: tuple  # of the whole parameter
    shard: int  # elements of a rank, with padding
    place: int  # the parameter's position in its module
    parameter: object  # torch's FSDPParam


class Part:
    """A module that `fully_shard` was called for and that has parameters of its own: what it gathers and reduces travels at once."""

    def __init__(self, name, owner, group, names):
        self.name, self.owner, self._group = name or "the root", owner, group
        self.layers = [Layer(names[id(each.sharded_param)], tuple(each._orig_size), math.prod(each.padded_sharded_param_size), place, each)
                       for place, each in enumerate(group.fsdp_params)]
        self._by_parameter = {id(each.parameter): each for each in self.layers}
        # Process groups; None where there is one rank, as of replicate(), whose shards are the whole parameters.
        self.shards = _several(getattr(group.mesh_info, "shard_process_group", None))
        self.replicas = _several(getattr(group.mesh_info, "replicate_process_group", None))

    def weight_types(self):
        """Returns the element types in which the weights are gathered."""
        return {self._policy(each).param_dtype or each.parameter.sharded_param.dtype for each in self.layers}

    def gradient_type(self):
        """Returns the element type in which the gradients will be reduced, as far as it is known before the first
        gradient exists."""
        chosen = {self._policy(each).reduce_dtype for each in self.layers} - {None}
        kinds = chosen or {each.parameter.sharded_param.dtype for each in self.trained()}
        return functools.reduce(torch.promote_types, kinds)

    def trained(self):
        return [each for each in self.layers if each.parameter.sharded_param.requires_grad]

    def layers_of(self, parameters):
        return [self._by_parameter[id(each)] for each in parameters]

    def packs_tensors(self):
        """Returns true if a parameter defines itself what is gathered of it, such as scaled float8."""
        return any(hasattr(each.parameter._sharded_local_tensor, "fsdp_pre_all_gather") for each in self.layers)

    def offloads(self):
        return any(each.parameter.offload_to_cpu for each in self.layers)

    def _policy(self, layer):
        return getattr(layer.parameter, "mp_policy", None) or self._group.mp_policy


def _several(group):
    return group if group is not None and group.size() > 1 else None


def flat_class():
    """Returns torch's FSDP1 class, or None where there is none."""
    try:
        from torch.distributed.fsdp import FullyShardedDataParallel
        return FullyShardedDataParallel
    except Exception:  # torch 1.13 cannot import FSDP under Python 3.11
        return None


def _fsdp_module():
    """Returns torch's class of modules for which `fully_shard` was called, or None where there is none."""
    try:
        from torch.distributed.fsdp import FSDPModule
        return FSDPModule
    except Exception:  # torch 1.13 cannot import FSDP under Python 3.11
        return None


def has_interface():
    """Returns true if this torch has FSDP2 with collectives that can be replaced."""
    return hasattr(_fsdp_module(), "set_custom_reduce_scatter")


def require():
    """Returns the class of sharded modules. Raises RuntimeFailure where their collectives cannot be replaced."""
    if not has_interface():
        raise RuntimeFailure(f"cgx_torch.compress of a sharded model needs FSDPModule.set_custom_reduce_scatter, as of torch 2.10, and this "
                             f"is torch {torch.__version__}: use a newer one, or DistributedDataParallel")
    return _fsdp_module()


def is_sharded(model):
    """Returns true if `fully_shard`, or the `replicate` built on it, was called for a module or one of its submodules."""
    return any(hasattr(each, "_get_fsdp_state") for each in model.modules())


def is_flat(model):
    """Returns true if a module or one of its submodules is wrapped in FSDP1."""
    return any(type(each).__name__ == "FullyShardedDataParallel" for each in model.modules())


def parts_of(model):
    """Returns the Parts of a model. Raises TypeError for a model whose modules torch gives no comm objects."""
    FSDPModule, parts, seen = require(), [], set()
    names = {id(each): _name_of(name) for name, each in model.named_parameters()}
    for prefix, each in model.named_modules():
        if not isinstance(each, FSDPModule):
            continue
        state = each._get_fsdp_state()
        groups = state._fsdp_param_groups if hasattr(state, "_fsdp_param_groups") else [state._fsdp_param_group]
        # Modules for which fully_shard was called at once have one group.
        groups = [group for group in groups if group is not None and group.fsdp_params and id(group) not in seen]
        seen.update(map(id, groups))
        if len(groups) > 1:
            raise TypeError(f"{prefix or 'the root'}: expected its parameters to be split over one mesh, got {len(groups)}, which torch "
                            "has no place for comm objects for: call fully_shard without a shard_placement_fn that returns meshes")
        for group in groups:
            parts.append(Part(_name_of(prefix), each, group, names))
            if parts[-1].offloads():
                raise TypeError(f"{parts[-1].name}: CPUOffloadPolicy is not supported: shards that lie on the host were not tried with codecs; "
                                "call fully_shard without an offload_policy")
    return parts


def _name_of(name):
    return module.name_of(name).replace("_checkpoint_wrapped_module.", "")


def watches_gradient(parameter):
    """Returns true if a function of the user is called when a gradient arrives, such as an optimizer step within the
    backward pass."""
    return parameter.offload_to_cpu or bool(getattr(parameter.sharded_param, "_post_accumulate_grad_hooks", None))


@functools.cache
def tell_comms():
    """Has reductions told of the parameters whose gradients they hold, and of their order, which both follow from the step, and lets
    them begin and end when they say. Torch tells nobody; what packs them is called with them in all versions. The all-reduce over
    replicas is offered to them, too: torch has no place for another one, and does it in there, by a name of its module."""
    from torch.distributed.fsdp._fully_shard import _fsdp_collectives as torch_collectives
    from torch.distributed.fsdp._fully_shard import _fsdp_param_group as torch_groups
    reduce = torch_groups.foreach_reduce
    signature = inspect.signature(reduce)
    # On a CPU these are tensors that are kept until they were sent, which who sends them does, and events, of which it has none.
    nothing = (None,) * len(typing.get_args(signature.return_annotation))

    @functools.wraps(reduce)
    def reduce_by_comm(*args, **kwargs):
        asked = signature.bind(*args, **kwargs).arguments
        comm = asked["reduce_scatter_comm"]
        if not hasattr(comm, "cgx_reduce"):
            return reduce(*args, **kwargs)

        def body():
            _reducing.comm = comm
            try:
                return reduce(*args, **kwargs)
            finally:
                _reducing.comm = None

        done = comm.cgx_reduce(asked, body, can_wait=bool(nothing))
        return nothing if done is None else done

    torch_groups.foreach_reduce = reduce_by_comm
    torch_collectives.dist = _OffersAllReduces()


_reducing = threading.local()  # `comm`: what reduces on this thread


class _OffersAllReduces:
    """torch.distributed, as what reduces sees it."""

    def __getattr__(self, name):
        return getattr(dist, name)

    def all_reduce(self, tensor, op=dist.ReduceOp.SUM, group=None, async_op=False):
        comm = getattr(_reducing, "comm", None)
        if comm is None or not comm.cgx_all_reduces(tensor, op, group):
            return dist.all_reduce(tensor, op=op, group=group, async_op=async_op)
        return None
