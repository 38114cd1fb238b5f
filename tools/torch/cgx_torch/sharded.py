"""Models that torch's FSDP2 splits between ranks: weights are gathered and gradients reduced by the runtime of cgx.

Torch lets an object do the all-gathers of a module and another one its reduce-scatters. They are handed flat buffers, in which
layers lie side by side; here each travels with its codec, all of a module in one exchange.
"""

import atexit
import contextlib
import threading
import weakref

import torch
import torch.distributed as dist
from cgx_core.context import RuntimeFailure
from cgx_core.warned import Said, warn
from cgx_torch import fsdp, loss_scale, module, sharded_program
from cgx_torch.hook import hook
from cgx_torch.hook import state as state_of
from cgx_torch.memory import rescale
from cgx_torch.process_group import ProcessGroup
from cgx_torch.program import Program

# What FSDP decides, or what belongs to one direction.
_REFUSED = {"overlap": "torch prefetches modules",
            "group_bytes": "what travels together are the parameters of a module that fully_shard was called for",
            "scope": "FSDP gathers and reduces module by module",
            "decompose": "no program runs whose collectives could be seen",
            "algorithm": "it is of all-reduces",
            "plan": "weights and gradients have one name, and a plan one codec for it",
            "adapt": "it makes plans"}
# What each direction says for itself, of whatever model.
_OF_DIRECTIONS = {"codec": 'write weights="bits=8", gradients="topk density=0.01"',
                  "error_feedback": 'it is of gradients: write gradients="bits=4 error-feedback=f32"'}
DEFAULT_GRADIENTS = "bits=4"


def compress(model, weights="bits=8", gradients=DEFAULT_GRADIENTS, *, bits=None, exclude=None, process_group=None, transport=None,
             seed=0, timeout=300.0, report=False, name=None, **options):
    """Has the weights and gradients of a model travel compressed. All ranks call it, with the same options, once `fully_shard` or
    DistributedDataParallel was called:

        fully_shard(model)
        cgx_torch.compress(model, weights="bits=8", gradients="bits=4")

    Args:
      model: one that `fully_shard` (FSDP2, torch 2.10 or newer) was called for, or a DistributedDataParallel, whose weights do not
        travel.
      weights: the codec of weights, in words: "bits=8", "bits=8 bucket=1024 rounding=random_shift", "identity"; None leaves their
        all-gathers to torch.
      gradients: the codec of gradients: "bits=4", "bits=4 error-feedback=f32"; None leaves their reduce-scatters to torch.
      bits: of gradients alone, in short: bits=4 is gradients="bits=4".
      exclude: names of parameters that stay exact, a pattern or a list of them: "*embed*".
      process_group: of a DistributedDataParallel, as of `cgx_torch.state`; sharded models have their own.
      transport, seed, timeout, report, name: as of `cgx_torch.state`.
      options: more options of `cgx-opt --cgx-compress`, with underscores for dashes: min_elements=0.

    Returns:
      A `Sharded`; of a DistributedDataParallel the `State` that its hook was registered with.

    Raises:
      CompileError, TypeError, ValueError: an option is wrong, or the model is none of these.
      RuntimeFailure: this torch cannot, ranks do not find each other, or their options differ.
    """
    gradients = gradients_of(weights, gradients, bits, options)
    connection = {"transport": transport, "seed": seed, "timeout": timeout}
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        if gradients is None:
            raise ValueError("gradients=None leaves a DistributedDataParallel nothing to compress: its weights do not travel")
        state = state_of(model, gradient=gradients, exclude=exclude, process_group=process_group, report=report, name=name,
                         **connection, **options)
        model.register_comm_hook(state, hook)
        return state
    for refused, reason in _REFUSED.items():
        if options.get(refused) is not None:
            raise ValueError(f"{refused} has no meaning for a sharded model: {reason}")
    if weights is not None and "error" in weights:
        raise ValueError("weights: expected a codec without error feedback, which would be of changes of weights, got " + repr(weights))
    if weights is None and gradients is None:
        raise ValueError("expected weights= or gradients= to have a codec, got None for both")
    if process_group is not None:
        raise ValueError("process_group has no meaning for a sharded model: its mesh has the groups")
    fsdp.require()
    model = module.within(model)[0]
    if not fsdp.is_sharded(model):
        raise TypeError(f"expected a model that fully_shard was called for, or a DistributedDataParallel, got {type(model).__name__}: call "
                        "fully_shard(model) of torch.distributed.fsdp first")
    kinds = [kind for kind, words in (("weight", weights), ("gradient", gradients)) if words is not None]
    options = dict(options, exclude=exclude, weight=weights, gradient=gradients, kinds=kinds)
    return Sharded(model, options, name, connection, report)


def gradients_of(weights, gradients, bits, options):
    """The codec of gradients. Raises TypeError, ValueError where what was given for both directions is wrong."""
    if bits is not None:
        if gradients != DEFAULT_GRADIENTS:
            raise ValueError(f"expected bits= or gradients=, got both: bits={bits!r}, gradients={gradients!r}")
        gradients = f"bits={bits}"
    for refused, reason in _OF_DIRECTIONS.items():
        if options.get(refused) is not None:
            raise ValueError(f"{refused} has no meaning where weights and gradients have codecs of their own: {reason}")
    for direction, words in (("weights", weights), ("gradients", gradients)):
        if words is not None and not isinstance(words, str):
            raise TypeError(f'{direction}: expected a codec in words, such as "bits=4", or None, got {words!r}')
    return gradients


class Sharded:
    """What `compress` returns for a sharded model: the ranks' connections, and what their codecs remember."""

    def __init__(self, model, options, name, connection, prints):
        self._parts = fsdp.parts_of(model)
        if not self._parts:
            raise ValueError("the model has no parameter that fully_shard split")
        self._left = []  # what torch sends, a sentence each
        lines = {}
        for part in self._parts:
            if part.shards.size() == 1:
                self._left.append(f"{part.name}: one rank has all of it, and nothing travels")
            elif part.shards not in lines:
                lines[part.shards] = _Line(ProcessGroup(part.shards, name), options, connection)
            if part.replicas is not None:
                self._left.append(f"{part.name}: gradients are summed over {part.replicas.size()} replicas by torch, uncompressed, as FSDP has "
                                 "no place for another all-reduce")
        self._lines = list(lines.values())
        self._comms = [self._comm_of(part, lines[part.shards], number, options)
                       for number, part in enumerate(self._parts) if part.shards in lines]
        for line in self._lines:
            line.open()
        fsdp.tell_comms()
        for comm in self._comms:
            comm.part.owner.set_custom_all_gather(comm.gathers)
            comm.part.owner.set_custom_reduce_scatter(comm.reduces)
        self._layers = {id(layer.parameter.sharded_param): layer.name for part in self._parts for layer in part.layers}
        loss_scale.follow(self)
        _open.add(self)
        if dist.get_rank() == 0:
            said = Said()
            for line in self._lines:
                for message in said.new_warnings(line.compilation) if line.compilation else ():
                    warn(message)
            if prints:
                print(self.report(), end="", flush=True)

    def _comm_of(self, part, line, number, options):
        comm = _Comm(part, line, number)
        kinds = part.weight_types()
        if options["weight"] is None:
            self._left.append(f"{part.name}: weights are gathered by torch, as weights=None says")
        elif part.packs_tensors():
            self._left.append(f"{part.name}: weights are gathered by torch, as tensors of it pack themselves (fsdp_pre_all_gather)")
        elif len(kinds) > 1:
            self._left.append(f"{part.name}: weights are gathered by torch, uncompressed, as it hands out raw bytes where types are mixed "
                             f"({', '.join(sorted(map(str, kinds)))}): call fully_shard for the modules of one type")
        elif not module.takes(*kinds):
            self._left.append(f"{part.name}: weights are gathered by torch, as codecs take no {', '.join(map(str, kinds))}")
        else:
            comm.gathers.join(kinds.pop(), part.layers)
        trained = part.trained()
        if not trained:
            return comm
        kind = part.gradient_type()
        if options["gradient"] is None:
            self._left.append(f"{part.name}: gradients are reduced by torch, as gradients=None says")
        elif not module.takes(kind):
            self._left.append(f"{part.name}: gradients are reduced by torch, as codecs take no {kind}")
        else:
            comm.reduces.join(kind, trained)
        return comm

    # ---- What users ask

    def report(self, format="text"):
        """How the weights and the gradients of each layer travel, and what torch sends; with format="json" the data of it."""
        compilations = [line.compilation for line in self._lines if line.compilation]
        if format != "text":
            return {"layers": [layer for each in compilations for layer in each.report_json["layers"]], "left": self._what_is_left()}
        return "".join([*(each.report for each in compilations), *(f"{each}\n" for each in self._what_is_left())])

    def diagnostics(self):
        """What the compiler said. Its warnings were shown when the model was compressed, on rank 0."""
        return tuple(each for line in self._lines if line.compilation for each in line.compilation.diagnostics)

    def transport(self):
        """What lies between the ranks that shards are split over, such as "shm"; None where there is one."""
        return next((line.program.transport for line in self._lines if line.program), None)

    def telemetry(self):
        """Counters of this rank: bytes in all and by layer and direction, and those that torch sent in place of cgx."""
        total = {"raw_bytes": 0, "wire_bytes": 0, "torch_bytes": sum(each.gathers.torch_bytes + each.reduces.torch_bytes
                                                                     for each in self._comms), "layers": {}}
        for counters in (each for line in self._lines for each in line.telemetry()):
            for collective in counters["collectives"]:
                direction = "gradients" if collective["id"] % 2 else "weights"
                for operand in collective["operands"]:
                    counts = total["layers"].setdefault(operand["layer"], {}).setdefault(direction, {"raw_bytes": 0, "wire_bytes": 0})
                    for key in counts:
                        counts[key] += operand[key]
                        total[key] += operand[key]
        return total

    def state_dict(self):
        """What codecs of this rank remember, and where their random numbers are: a checkpoint without it is not the whole run. Each
        rank has a key of its own, so that torch.distributed.checkpoint takes none for the copy of another."""
        tensors = {}
        for line in self._lines:
            for name, each in line.state().items():
                tensors[name] = torch.frombuffer(bytearray(each), dtype=torch.uint8) if each else torch.empty(0, dtype=torch.uint8)
        return {self._key(): {"steps": torch.tensor([comm.step for comm in self._comms]),
                              "units": torch.tensor([comm.reduces.unit for comm in self._comms], dtype=torch.float64),
                              "tensors": tensors}}

    def load_state_dict(self, state):
        """Goes on from a state of `state_dict`, between two steps. Raises ValueError where it is of another rank or of other
        options."""
        if self._key() not in state:
            raise ValueError(f"expected the state of {self._key()}, got that of {', '.join(sorted(state)) or 'none'}: it is resumed by as "
                             "many ranks as saved it")
        state = state[self._key()]
        if len(state["steps"]) != len(self._comms):
            raise ValueError(f"expected the state of {len(self._comms)} modules, got that of {len(state['steps'])}")
        left = dict(state["tensors"])
        for line in self._lines:
            line.load_state({name: left.pop(name).cpu().numpy().tobytes() for name in line.state() if name in left})
        if left:
            raise ValueError(f"expected the state of {', '.join(name for line in self._lines for name in line.state()) or 'nothing'}, got that "
                             f"of {', '.join(left)}, too: was it saved with other options?")
        for comm, step, unit in zip(self._comms, state["steps"].tolist(), state["units"].tolist()):
            comm.step, comm.reduces.unit = step, unit

    def rescale(self, factor):
        """Gradients are `factor` times as large from the next step on, as of `State.rescale`."""
        if not 0 < factor < float("inf"):
            raise ValueError(f"expected a factor of more than 0, got {factor!r}")
        for line in self._lines:
            line.rescale(factor)

    def has_any_of(self, parameters):
        """Whether it has any of these parameters, which are known by their ids."""
        return not parameters.isdisjoint(self._layers)

    def settle(self, parameters, was_skipped):
        """Is told that an optimizer of these parameters has been stepped by a scaler, or has not because a gradient was not
        finite."""
        names = {self._layers[each] for each in parameters if each in self._layers}
        for line in self._lines:
            line.settle(names, was_skipped)

    def close(self):
        """Ends the connections; steps fail afterwards. Otherwise they end with the process."""
        for line in self._lines:
            line.close()

    def _what_is_left(self):
        frozen = {comm.part.name: [layer.name for layer in comm.part.layers if layer not in comm.reduces.layers()]
                  for comm in self._comms if comm.reduces.layers()}
        return [*self._left, *(f"{part}: no gradient travels of {', '.join(names)}, frozen" for part, names in frozen.items() if names)]

    def _key(self):
        return f"rank {dist.get_rank()} of {dist.get_world_size()}"


class _Line:
    """The ranks that shards are split over, and the one context between them. All modules that are split over them use it, in the
    order in which torch gathers and reduces, which is the same on all ranks."""

    def __init__(self, group, options, connection):
        self.group, self._options, self._connection = group, options, connection
        self.exchanges = {}  # by number
        self.program = self.compilation = None
        self._past, self._failure, self._stream = [], None, None
        self._is_settled, self._window = True, None
        self._lock = threading.RLock()

    def open(self):
        """Asks the compiler, and meets the other ranks."""
        if not self.exchanges:
            return
        text = sharded_program.text_of(self.exchanges.values(), self.group.ranks)
        self.compilation = module.compile_text(text, self._options, None)
        device = next(iter(self.exchanges.values())).layers[0].parameter.device
        if device.type == "cuda" and self._stream is None:
            self._stream = torch.cuda.Stream(device)
        self.program = Program(self.compilation, self.group, stream=self._stream.cuda_stream if self._stream else None, **self._connection)

    def reopen(self):
        """Goes on with other exchanges; what codecs remember goes along."""
        with self._lock:
            kept = self.memory().copy()
            self._past.append(self.program.telemetry())
            self.program.close()
            self.open()
            if kept:
                self.memory().restore(kept)

    def run(self, exchange, step, operands, what):
        """One exchange, from and to tensors. Raises RuntimeFailure that says of what."""
        with self._lock:
            if self._failure:
                raise self._failure
            try:
                with self._ordered():
                    self.program.begin_step(step)
                    self.program.run(exchange.number, [(source.data_ptr(), target.data_ptr()) for source, target in operands])
                    self.program.end_step()
            except RuntimeFailure as failure:
                self._failure = RuntimeFailure(f"{what}: {failure}")
                raise self._failure from None

    @contextlib.contextmanager
    def _ordered(self):
        """On a GPU: behind what the current stream has to do, and ahead of what it gets to do."""
        if self._stream is None:
            yield
            return
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        yield
        current.wait_stream(self._stream)

    def memory(self):
        return self.program.memory()

    def remember(self):
        """Keeps what codecs remember before a step that a scaler judges."""
        if self._is_settled and loss_scale.is_in_use():
            self._window, self._is_settled = self.memory().copy(), False

    def settle(self, names, was_skipped):
        with self._lock:
            if was_skipped and self._window:
                self.memory().restore(self._window, names)
            self._is_settled = True

    def rescale(self, factor):
        with self._lock:
            if self.program:
                self.memory().rescale(factor)
            rescale(self._window or {}, factor)

    def telemetry(self):
        with self._lock:
            now = [self.program.telemetry()] if self.program and self.program.communicates else []
            return [*self._past, *now]

    def state(self):
        return self.program.state() if self.program else {}

    def load_state(self, tensors):
        if self.program:
            self.program.load_state(tensors)
            self._window, self._is_settled = None, True

    def close(self):
        with self._lock:
            if self.program and self.program.communicates:
                self._past.append(self.program.telemetry())
                self.program.close()
            self._failure = self._failure or RuntimeFailure("the compression of the model is closed")


class _Comm:
    """What a module gathers and reduces with."""

    def __init__(self, part, line, number):
        self.part, self.line = part, line
        self.step = 0  # reductions so far. Both gathers of a step then draw the same random numbers, and so have the same bits
        self.gathers, self.reduces = _Gathers(self, 2 * number), _Reduces(self, 2 * number + 1)


class _Direction:
    def __init__(self, comm, number):
        self._comm, self._number = comm, number
        self._part, self._line = comm.part, comm.line
        self.torch_bytes = 0  # that it had torch send

    @property
    def _exchange(self):
        """None where torch sends all of it."""
        return self._line.exchanges.get(self._number)

    def layers(self):
        return self._exchange.layers if self._exchange else []

    def allocate(self, size, *, dtype, device):
        return torch.empty(*size, dtype=dtype, device=device)

    def _takes(self, tensor, group):
        """Whether a buffer is one of layers, for the ranks of this line."""
        return (self._exchange is not None and module.takes(tensor.dtype) and
                (group is self._part.shards or dist.get_process_group_ranks(group) == self._line.group.members))

    def _retype(self, dtype):
        """Elements have another type than when the compiler was asked, such as after `model.to`."""
        if self._exchange.dtype != dtype:
            self._exchange.dtype = dtype
            self._line.reopen()


class _Gathers(_Direction):
    """Torch's AllGather of a module."""

    def join(self, dtype, layers):
        self._line.exchanges[self._number] = sharded_program.Exchange(self._number, True, layers, dtype)

    def __call__(self, output_tensor, input_tensor, group, async_op=False):
        layers = self._part.layers
        if not self._takes(input_tensor, group):
            self.torch_bytes += input_tensor.nbytes * (group.size() - 1)
            return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)
        ranks = self._line.group.ranks
        shards = input_tensor.split([each.shard for each in layers])
        self._retype(input_tensor.dtype)
        # The input is a part of the output, where nothing is written before all has been sent.
        gathered = [each.new_empty((ranks, each.numel())) for each in shards]
        self._line.run(self._exchange, self._comm.step, zip(shards, gathered),
                       f"gathering the weights of {self._part.name} ({', '.join(each.name for each in layers)})")
        torch.cat(gathered, dim=1, out=output_tensor.view(ranks, -1))
        return None  # all is done, or in the order of the current stream


class _Reduces(_Direction):
    """Torch's ReduceScatter of a module."""

    def __init__(self, comm, number):
        super().__init__(comm, number)
        self.unit = 1.0  # what sums are multiplied with after they were added: what error feedback owes is in it
        self._expected = None

    def join(self, dtype, layers):
        # Of several layers ranks can have different ones.
        counts = f"{self._part.name}: which gradients there are" if len(layers) > 1 else None
        self._line.exchanges[self._number] = sharded_program.Exchange(self._number, False, layers, dtype, counts)

    def cgx_expects(self, parameters):
        """Is told which gradients the next buffer has, in their order."""
        self._expected = self._part.layers_of(parameters)

    def __call__(self, output_tensor, input_tensor, group, op, async_op=False):
        layers, self._expected = self._expected, None
        step, self._comm.step = self._comm.step, self._comm.step + 1
        if not self._takes(input_tensor, group):
            self.torch_bytes += output_tensor.nbytes * (group.size() - 1)
            return dist.reduce_scatter_tensor(output_tensor, input_tensor, op=op, group=group, async_op=async_op)
        ranks = self._line.group.ranks
        if layers is None or sum(each.shard for each in layers) != output_tensor.numel():
            raise RuntimeFailure(f"{self._part.name}: expected gradients of {output_tensor.numel()} elements for each rank, got those of "
                                 f"{[each.name for each in layers or ()]}: this torch ({torch.__version__}) packs them in another way")
        self._make_room_for(layers, input_tensor.dtype)
        before, after = _factors_of(op, ranks)
        if before != 1:
            input_tensor.mul_(before)
        self._reduce(layers, input_tensor.view(ranks, -1), output_tensor, step, after)
        if after != 1:
            output_tensor.mul_(after)
        return None  # all is done, or in the order of the current stream

    def _make_room_for(self, layers, dtype):
        more = [each for each in layers if each not in self._exchange.layers]
        if more or self._exchange.dtype != dtype:  # parameters that were frozen, or gradients of another type
            self.join(dtype, sorted([*self._exchange.layers, *more], key=lambda each: each.place))
            self._line.reopen()

    def _reduce(self, layers, rows, output, step, unit):
        exchange, line = self._exchange, self._line
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
        # What codecs owe of a layer without a gradient stays owed.
        unused = {each.name for each in exchange.layers if each.place not in places}
        owed = line.memory().copy(unused) if unused else None
        present = self._present(places) if exchange.counts else None
        if present:
            operands.append(present)
        line.run(exchange, step, operands, f"reducing the gradients of {self._part.name} ({', '.join(each.name for each in layers)})")
        if owed:
            line.memory().restore(owed, unused)
        if present and present[1].item() != len(rows) * present[0][0].item():
            raise RuntimeFailure(f"{self._part.name}: ranks have gradients of different parameters, this one of "
                                 f"{', '.join(each.name for each in layers)}: set_reduce_scatter_unused_params(True) has torch fill in zeros")

    def _present(self, places):
        """A number for each rank that says which layers have gradients, exact in f32 however many ranks add theirs, and where its sum
        comes to."""
        ranks = self._line.group.ranks
        number = float(hash(tuple(sorted(places))) % ((1 << 23) // ranks))
        device = self._part.layers[0].parameter.device
        return torch.full((ranks,), number, device=device), torch.empty(1, device=device)

    def _rescale_owed(self, factor):
        names = {each.name for each in self._exchange.layers}
        memory = self._line.memory()
        owed = memory.copy(names)
        rescale(owed, factor)
        memory.restore(owed, names)


def _factors_of(op, ranks):
    """What to multiply with before adding, and after."""
    kind = getattr(op, "op", op)
    if kind == dist.ReduceOp.PREMUL_SUM:
        return float(op.__getstate__()[1]), 1.0
    if kind == dist.ReduceOp.AVG:
        return 1.0, 1.0 / ranks
    if kind == dist.ReduceOp.SUM:
        return 1.0, 1.0
    raise RuntimeFailure(f"expected a sum, a mean or a sum of multiples of gradients, got {op}")


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for each in list(_open):
        each.close()
