"""Objects that torch's FSDP2 calls to gather and reduce a module. It passes them flat buffers in which layers lie side
by side."""

import abc

import torch
import torch.distributed as dist
from cgx_core.context import RuntimeFailure
from cgx_torch import fsdp, module, sharded_program
from cgx_torch.memory import rescale


class Comm:
    """The gathers and reductions of a module: each direction goes over the ranks of a `Line`, or is None where there is
    one rank."""

    def __init__(self, part, number, shards, replicas, owner):
        # The model holds the comm objects, and these hold their owner, so it lives even if the user does not keep it.
        self.part, self.owner, self.overlap = part, owner, owner.overlap
        self.step = 0  # reductions so far; both gathers of a step then draw equal random numbers, and so have equal bits
        self.gathers, self.reduces, self.replicas = _Gathers(self, shards, 3 * number), _Reduces(self, shards, 3 * number + 1), \
            _Replicas(self, replicas, 3 * number + 2)

    def payload(self):
        """Returns the bytes of the gradients of a whole reduction."""
        sums = self.reduces if self.reduces.layers() else self.replicas
        ranks = self.reduces.line.group.ranks if self.reduces.line else 1
        return sum(each.shard for each in sums.layers()) * ranks * sums.itemsize()

    def directions(self):
        return self.gathers, self.reduces, self.replicas


class _Direction(abc.ABC):
    def __init__(self, comm, line, number):
        self._comm, self.number = comm, number
        self._part, self.line = comm.part, line
        self.torch_bytes = 0  # bytes that were left to torch

    @property
    def _exchange(self):
        """The exchange of this direction; None where torch sends everything."""
        return self.line.exchanges.get(self.number) if self.line else None

    def is_exact(self):
        """Returns true if this direction was chosen to be sent uncompressed."""
        return self._exchange is not None and self._exchange.exact

    def layers(self):
        return self._exchange.layers if self._exchange else []

    def itemsize(self):
        """Returns the bytes of an element as cgx sends it."""
        return torch.empty(0, dtype=self._exchange.dtype).element_size() if self._exchange else 0

    @abc.abstractmethod
    def join(self, dtype, layers):
        """Lets cgx send these layers."""

    def allocate(self, size, *, dtype, device):
        return torch.empty(*size, dtype=dtype, device=device)

    def takes(self, dtype, group):
        """Returns true if a buffer consists of layers and is for the ranks of this line."""
        return (self._exchange is not None and module.takes(dtype) and
                (group is self.line.group.group or dist.get_process_group_ranks(group) == self.line.group.members))

    def _retype(self, dtype):
        """Reopens the program if elements have another type than when codecs were chosen, as after `model.to`."""
        if self._exchange.dtype != dtype:
            self._exchange.dtype = dtype
            self.line.reopen()


class _Gathers(_Direction):
    """Torch's AllGather of a module."""
    direction = "weights"

    def join(self, dtype, layers):
        self.line.exchanges[self.number] = sharded_program.Exchange(self.number, self.direction, "all_gather", layers, dtype)

    def __call__(self, output_tensor, input_tensor, group, async_op=False):
        layers = self._part.layers
        if not self.takes(input_tensor.dtype, group):
            self.torch_bytes += input_tensor.nbytes * (group.size() - 1)
            return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)
        ranks, step = self.line.group.ranks, self._comm.step

        def gather():
            shards = input_tensor.split([each.shard for each in layers])
            self._retype(input_tensor.dtype)
            # The input is a part of the output, where nothing is written before all has been sent.
            gathered = [each.new_empty((ranks, each.numel())) for each in shards]
            self.line.run(self._exchange, step, zip(shards, gathered),
                          f"gathering the weights of {self._part.name} ({', '.join(each.name for each in layers)})")
            torch.cat(gathered, dim=1, out=output_tensor.view(ranks, -1))

        # The gather is a Work even where torch requests a synchronous one: torch waits for it where it needs the
        # weights, and may gather ahead.
        return self._comm.overlap.gather(gather)


class _Sums(_Direction):
    """Sums of gradients. A step has the gradients of some of the layers, in an order of its own."""
    collective, doing = None, None

    def __init__(self, comm, line, number):
        super().__init__(comm, line, number)
        self.unit = 1.0  # the factor applied to sums after the addition; error feedback is in this unit
        self._expected = None

    @property
    @abc.abstractmethod
    def direction(self):
        """Returns the name of these sums in `sharded_program`."""

    def join(self, dtype, layers):
        # If there are several layers, ranks can have gradients of different ones.
        counts = f"{self._part.name}: which gradients there are" if len(layers) > 1 else None
        exact = self._exchange.exact if self._exchange else False
        self.line.exchanges[self.number] = sharded_program.Exchange(self.number, self.direction, self.collective, layers, dtype, counts,
                                                                     exact)

    def expects(self, layers):
        """Sets which gradients the next buffer has, in their order."""
        self._expected = layers

    def _sum(self, input_tensor, output, op, step):
        """Sums the expected gradients. Torch's operation says where to divide or multiply. The input may be changed."""
        layers, self._expected = self._expected, None
        if layers is None or sum(each.shard for each in layers) != output.numel():
            raise RuntimeFailure(f"{self._part.name}: expected gradients of {output.numel()} elements for each rank, got those of "
                                 f"{[each.name for each in layers or ()]}: this torch ({torch.__version__}) packs them in another way")
        self._make_room_for(layers, input_tensor.dtype)
        before, after = _factors_of(op, self.line.group.ranks)
        if before != 1:
            input_tensor.mul_(before)
        self._run(layers, input_tensor.view(-1, output.numel()), output, step, after)
        if after != 1:
            output.mul_(after)

    def _make_room_for(self, layers, dtype):
        more = [each for each in layers if each not in self._exchange.layers]
        if more or self._exchange.dtype != dtype:  # parameters that were frozen, or gradients of another type
            self.join(dtype, sorted([*self._exchange.layers, *more], key=lambda each: each.place))
            self.line.reopen()

    def _run(self, layers, rows, output, step, unit):
        exchange, line = self._exchange, self.line
        line.remember()
        if unit != self.unit:
            self._rescale_owed(self.unit / unit)
            self.unit = unit
        places, first = {}, 0
        for each in layers:
            places[each.place] = slice(first, first + each.shard)
            first += each.shard
        operands = []
        for each in exchange.layers:
            if each.place in places:
                operands.append((rows[:, places[each.place]].contiguous(), output[places[each.place]]))
            else:
                operands.append((rows.new_zeros(len(rows) * each.shard), rows.new_empty(each.shard)))
        # A layer without a gradient keeps its error feedback.
        unused = {each.name for each in exchange.layers if each.place not in places}
        owed = line.memory().copy(unused) if unused else None
        present = self._present(places, len(rows)) if exchange.counts else None
        if present:
            operands.append(present)
        line.run(exchange, step, operands, f"{self.doing} the gradients of {self._part.name} ({', '.join(each.name for each in layers)})")
        if owed:
            line.memory().restore(owed, unused)
        if present and present[1].item() != line.group.ranks * present[0][0].item():
            raise RuntimeFailure(f"{self._part.name}: ranks have gradients of different parameters, this one of "
                                 f"{', '.join(each.name for each in layers)}: set_reduce_scatter_unused_params(True) has torch fill in zeros")

    def _present(self, places, rows):
        """Returns a number for each row that says which layers have gradients, exact in f32 however many ranks add
        theirs, and the buffer for its sum."""
        number = float(hash(tuple(sorted(places))) % ((1 << 23) // self.line.group.ranks))
        device = self._part.layers[0].parameter.device
        return torch.full((rows,), number, device=device), torch.empty(1, device=device)

    def _rescale_owed(self, factor):
        names = {each.name for each in self._exchange.layers}
        memory = self.line.memory()
        owed = memory.copy(names)
        rescale(owed, factor)
        memory.restore(owed, names)


class _Reduces(_Sums):
    """Torch's ReduceScatter of a module. A function of FSDP that runs another collective after it, or in its place,
    reports that to this object."""
    direction, collective, doing = "gradients", "reduce_scatter", "reducing"

    def __init__(self, comm, line, number):
        super().__init__(comm, line, number)
        self._step = 0

    def cgx_reduce(self, asked, reduce, can_wait):
        """Runs `reduce`, torch's whole reduction of some parameters' gradients, which was called with the arguments
        `asked`. Returns its result. Where it `can_wait`, it is started instead, finished as the backward pass ends,
        and the result is None."""
        layers, step = self._part.layers_of(asked["fsdp_params"]), self._comm.step
        if self.line:
            self._comm.step += 1

        def body():
            self._step = step
            self.expects(layers)
            self._comm.replicas.expects(layers)
            return reduce()

        if can_wait and self._can_wait(asked) and self._comm.overlap.reduce(body):
            return None
        self._comm.overlap.settle()
        return body()

    def _can_wait(self, asked):
        """Returns true if the gradients may arrive as late as the end of the backward pass: nothing looks at them
        earlier, and cgx sends all of them. Torch's own collectives have one order on all ranks only if one thread
        starts them."""
        dtype, group, replicas = asked["reduce_dtype"], asked["reduce_scatter_group"], asked["all_reduce_group"]
        return (asked["all_reduce_hook"] is None and not any(fsdp.watches_gradient(each) for each in asked["fsdp_params"]) and
                (self.line is None or self.takes(dtype, group)) and
                (replicas is None or (asked["all_reduce_grads"] and self._comm.replicas.takes(dtype, replicas))))

    def cgx_all_reduces(self, tensor, op, group):
        """Sums gradients over replicas, in place. Returns false if it left them to torch."""
        return self._comm.replicas.all_reduce(tensor, op, group)

    def __call__(self, output_tensor, input_tensor, group, op, async_op=False):
        if not self.takes(input_tensor.dtype, group):
            self.torch_bytes += output_tensor.nbytes * (group.size() - 1)
            return dist.reduce_scatter_tensor(output_tensor, input_tensor, op=op, group=group, async_op=async_op)
        self._sum(input_tensor, output_tensor, op, self._step)
        return None  # all is done, or in the order of the current stream


class _Replicas(_Sums):
    """Torch's all-reduce of a module: of the sums of HSDP's shards over replicas, or of the gradients of replicate()."""
    collective, doing = "all_reduce", "summing over replicas"

    def __init__(self, comm, line, number):
        super().__init__(comm, line, number)
        self.step = 0  # sums so far, which are fewer than reductions where torch accumulates these

    @property
    def direction(self):
        return "gradients" if self._part.shards is None else "replicas"

    def all_reduce(self, tensor, op, group):
        if not self.takes(tensor.dtype, group):
            self.torch_bytes += 2 * tensor.nbytes * (group.size() - 1) // group.size()
            return False
        step, self.step = self.step, self.step + 1
        self._sum(tensor, tensor, op, step)
        return True


def _factors_of(op, ranks):
    """Returns the factors to multiply with before the addition, and after it."""
    kind = getattr(op, "op", op)
    if kind == dist.ReduceOp.PREMUL_SUM:
        return float(op.__getstate__()[1]), 1.0
    if kind == dist.ReduceOp.AVG:
        return 1.0, 1.0 / ranks
    if kind == dist.ReduceOp.SUM:
        return 1.0, 1.0
    raise RuntimeFailure(f"expected a sum, a mean or a sum of multiples of gradients, got {op}")
