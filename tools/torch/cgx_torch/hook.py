"""A communication hook of DistributedDataParallel: buckets of gradients, layer by layer, through the runtime of cgx.

DDP calls a hook as each bucket is ready, while the backward pass goes on. The hook leaves the bucket with a thread, which
alone talks to the runtime, and gives DDP a future. DDP makes its buckets anew while it trains, so gradients are known by
their parameters and not by their place in a bucket: at first each travels by itself, and once the same buckets have come
twice, those of a bucket travel together.
"""

import atexit
import contextlib
import dataclasses
import itertools
import json
import weakref

import torch
from cgx_core import gain, layers
from cgx_core.adaptation import Adapter, adaptation_of
from cgx_core.choices import ERROR_FEEDBACK, check_choice, check_connection
from cgx_core.codecs import in_words
from cgx_core.context import RuntimeFailure
from cgx_core.plans import plan_file, plan_text
from cgx_core.warned import Said, warn
from cgx_torch import kept, links, loss_scale, module
from cgx_torch.memory import rescale
from cgx_torch.process_group import ProcessGroup
from cgx_torch.program import Program
from cgx_torch.thread import Thread

# These options have no effect under DDP, which makes the decision itself.
_REFUSED = {"overlap": "buckets travel while the backward pass goes on",
            "group_bytes": "what travels together are DDP's buckets (bucket_cap_mb)",
            "scope": "DDP hands gradients out bucket by bucket",
            "prefetch": "no weights are gathered",
            "decompose": "no program runs whose collectives could be seen"}

_KEPT_ON_GPU = "what codecs remember lies on the GPU, where no copy of it is kept to go back to"

_SHARDED = ("for a model that fully_shard splits (FSDP2) call cgx_torch.compress(model); else wrap it in DistributedDataParallel, with "
            "torch.distributed.optim.ZeroRedundancyOptimizer where the state of the optimizer is to be split")


def _what_shards(model):
    """Returns the name of the class that shards the module's parameters between ranks, or None where parameters are
    whole."""
    kinds = (type(each).__name__ for each in itertools.chain(model.modules(), model.parameters()))
    return next((name for name in kinds if name in ("FullyShardedDataParallel", "DTensor")), None)


def _sparse_parameters(model):
    """Returns the parameters whose gradients are sparse, by name. DDP finds them in this way too, and puts each into a
    bucket of its own."""
    seen, names = set(), set()
    for prefix, each in model.named_modules():
        for name, parameter in each.named_parameters(prefix, recurse=False):
            if id(parameter) not in seen and isinstance(each, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and each.sparse:
                names.add(module.name_of(name))
            seen.add(id(parameter))
    return names


def state(model, *, bits=None, exclude=None, plan=None, codec=None, error_feedback=None, adapt=None, process_group=None,
          transport=None, seed=0, timeout=300.0, report=False, name=None, never_slower=False, **options):
    """Returns the state for `register_comm_hook`, to be used with `hook`. All ranks call it with the same options, and
    for several models in the same order, because that order tells ranks which states of a process group belong
    together.

    Args:
      model: the DistributedDataParallel, or the module that it is to hold.
      bits: of each element, 1 to 8; by default 4.
      exclude: names of parameters that stay exact, a pattern or a list of them: "*embed*".
      plan: a plan of `cgx-plan`: a path, or what json.load gives.
      codec: another family than quantize, with its parameters: "topk", "quantize<bits=2>".
      error_feedback: "bf16", "f32" or "int8" make up later for what encoding loses; see `State.state_dict`.
      adapt: a solver, such as "lgreco", that makes a plan of what is measured while training: from step 200 on, and anew
        every 1000 steps; `cgx_torch.Adaptation("lgreco", warmup=100, every=500)` says when.
      process_group: the model's; by default that of the DistributedDataParallel, else of all ranks.
      transport: of the runtime; by default what fits the processes: "shm" on one host, "shm+mpi" under Open MPI's mpirun.
      seed: of stochastic rounding.
      timeout: seconds that a rank waits for another before the step fails.
      report: True prints what travels, layer by layer, on rank 0.
      never_slower: True measures all-reduces for about a second, and leaves exact what codecs would make slower, as of
        `cgx_torch.compress`.
      name: of the model, equal on all ranks, where states are made on several threads and so in no order.
      options: more options of `cgx-opt --cgx-compress`, with underscores for dashes: bucket=256, min_elements=0.

    Raises:
      CompileError, TypeError, ValueError: an option is wrong.
      RuntimeFailure: ranks do not find each other, or their options differ.
    """
    for refused, reason in _REFUSED.items():
        if options.get(refused) is not None:
            raise ValueError(f"{refused} has no meaning in a hook of DistributedDataParallel: {reason}")
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"expected a DistributedDataParallel, or the module that it is to hold, got {type(model).__name__}")
    check_choice("error_feedback", error_feedback or None, ERROR_FEEDBACK)
    check_connection(transport, seed, timeout)
    adaptation = adaptation_of(adapt)
    if never_slower and (plan is not None or adaptation):
        raise ValueError("expected never_slower=True, or a plan or adapt=, which choose for each layer, got both")
    finds_unused = module.finds_unused(model)
    model, group = module.within(model)
    process_group = process_group or group
    if sharding := _what_shards(model):
        raise TypeError(f"expected a DistributedDataParallel, or a module whose parameters are whole on each rank, got {sharding}: "
                        + _SHARDED)
    options = in_words(dict(options, bits=bits, exclude=exclude, codec=codec, error_feedback=error_feedback))
    made = State(model, options, plan, adaptation, ProcessGroup(process_group, name), transport=transport, seed=seed, timeout=timeout,
                 report=report, finds_unused=finds_unused, never_slower=never_slower)
    kept.keep(model, made)
    return made


def hook(state: object, bucket: torch.distributed.GradBucket, *sharded: torch.Tensor) -> torch.futures.Future[torch.Tensor]:
    """Averages a bucket over all ranks. Of a compiled DistributedDataParallel, whose backend is the state, the gradient of a
    parameter: there it is traced."""
    if sharded or isinstance(bucket, torch.Tensor):
        raise TypeError("cgx_torch.hook is for DistributedDataParallel, and FullyShardedDataParallel hands its hook flat gradients, "
                        "which say nothing of layers: " + _SHARDED)
    if isinstance(bucket, tuple):
        gradient, parameter = bucket
        return _of_cgx(state).trace(gradient, parameter)
    return _of_cgx(state)._reduce(bucket)


def _of_cgx(state):
    if not hasattr(state, "_reduce"):
        raise TypeError(f"expected the state that cgx_torch.state(ddp_model) returns beside cgx_torch.hook, got {state!r}: write "
                        "ddp_model.register_comm_hook(cgx_torch.state(ddp_model, bits=4), cgx_torch.hook)")
    return state


@dataclasses.dataclass(frozen=True)
class _Bucket:
    """A bucket as the thread receives it."""
    is_first: bool
    is_last: bool
    gradients: dict  # {name: tensor}
    type: object  # the element type of the gradients
    used: object  # which parameters any rank used: a pending operation and its numbers; None where all are used
    ready: object  # on a GPU, the event after which the gradients can be read


class State:
    """The object that `state` returns: the connection between the ranks, and the state of their codecs."""

    def __init__(self, model, options, plan, adaptation, group, *, transport, seed, timeout, report, finds_unused, never_slower=False):
        sparse = _sparse_parameters(model)
        named = ((module.name_of(name), each) for name, each in model.named_parameters())
        trained = {name: each for name, each in named if each.requires_grad and name not in sparse}
        self._parameters = {name: each for name, each in trained.items() if module.takes(module.real_type_of(each))}
        others = [name for name, each in trained.items() if not module.takes(each.dtype)]
        if not self._parameters:
            raise ValueError("the model has no parameter that requires a gradient" + (", but for sparse ones" if sparse else "") +
                             (f", but for {', '.join(others)} of {trained[others[0]].dtype}" if others else ""))
        self._names = {id(each): name for name, each in self._parameters.items()}
        self._options, self._plan, self._group = options, plan, group
        self._adapter, self._is_measuring = Adapter(adaptation) if adaptation else None, False
        self._connection = {"transport": transport, "seed": seed, "timeout": timeout}
        self._never_slower, self._choice, self._exact = never_slower, None, []
        self._failure = None
        # Element types of the gradients in the buckets.
        self._types = {name: module.real_type_of(each) for name, each in self._parameters.items()}
        self._finds_unused = finds_unused and group.ranks > 1
        self._step, self._is_in_step = 0, False
        self._is_settled = True  # the last gradients have changed the parameters, or never will
        # Codec state before this step, and before the steps that a scaler has yet to judge.
        self._before, self._window = None, None
        self._buckets = []  # the names in each bucket of the current step
        self._last_buckets = None
        self._past = []  # counters of programs before this one
        self._stream = self._make_stream()
        self._said_of_skips = False
        self._groups = [[name] for name in self._parameters]
        self._thread = Thread()
        _open.add(self)
        self._program = self._thread.call(lambda: self._open_program(self._groups))
        loss_scale.follow(self)
        if group.rank == 0:
            for message in Said().new_warnings(self._asked):
                warn(message)
            for row in self._gains():
                gain.warn_of(row)
            for name in others:
                warn(f"{name} travels uncompressed: codecs take no {trained[name].dtype}")
            if report:
                print(self.report(), end="")

    # ---- What users ask

    def report(self, format="text"):
        """Returns what is sent, layer by layer: the text of `cgx-opt --cgx-report`, or its data with format="json"."""
        compilation, gains = self._program.compilation, self._gains()
        if format == "text":
            return compilation.report + gain.table(gains)
        chosen = {"kind": "gradient", "exact_reason": "would be slower"}
        data = {**compilation.report_json, "layers": [{**layer, **(chosen if layer["layer"] in self._exact else {})}
                                                      for layer in compilation.report_json["layers"]]}
        return {**data, "gains": [each.data() for each in gains]} if gains else data

    def _gains(self):
        """Returns the measurements of never_slower, for gradients that are sent one by one; buckets of them are not
        slower."""
        row = self._choice.row("all ranks: gradients", list(self._choice.predicted), ()) if self._choice else None
        return [row] if row else []

    def diagnostics(self):
        """Returns the diagnostics about the options. Warnings were shown on rank 0 when the state was made."""
        return self._program.compilation.diagnostics

    def transport(self):
        """Returns the transport between the ranks, such as "shm", or None where there is one rank."""
        return self._thread.call(lambda: self._program.transport)

    def telemetry(self):
        """Returns the counters of this rank, after waiting for buckets that are being sent. They are empty where there
        is one rank."""
        return self._thread.call(lambda: _sum_of([*self._past, self._program.telemetry()]))

    def adopt_plan(self, plan):
        """Takes the codecs of a plan from the next step on; all ranks call it between the same two steps."""
        plan = json.loads(plan_text(plan))

        def body():
            self._program.adopt_plan(json.dumps(plan))
            self._plan = plan
        self._thread.call(body)

    def plan(self):
        """Returns the plan that codecs follow now, as json.load gives it, or None where they are those of the options."""
        return self._thread.call(lambda: json.loads(plan_text(self._plan)) if self._plan is not None else None)

    def begin_profile(self):
        """Starts a profile with the next step. All ranks call it between the same two steps."""
        self._thread.call(self._begin_profile)

    def end_profile(self):
        """Returns the profile of all ranks, for `cgx-plan`. All ranks call it between the same two steps."""
        def body():
            self._is_measuring = False
            return self._program.end_profile()
        return self._thread.call(body)

    def state_dict(self):
        """Returns the state that this rank's codecs carry from step to step (the residuals of error feedback) and the
        number of the next step. A checkpoint without it does not resume the run exactly. Each rank saves its own."""
        def body():
            tensors = {name: torch.frombuffer(bytearray(each), dtype=torch.uint8) if each else torch.empty(0, dtype=torch.uint8)
                       for name, each in self._program.state().items()}
            chosen = {"exact": self._exact} if self._choice or self._exact else {}
            return {**chosen, "step": self._step, "rank": self._group.rank, "ranks": self._group.ranks, "tensors": tensors}
        return self._thread.call(body)

    def load_state_dict(self, state):
        """Continues from a state of `state_dict`, between two steps. Raises ValueError where it is of another rank or
        of other options."""
        def body():
            place = (self._group.rank, self._group.ranks)
            if (state["rank"], state["ranks"]) != place:
                raise ValueError(f"expected the state of rank {place[0]} of {place[1]}, got that of rank {state['rank']} of "
                                 f"{state['ranks']}")
            if state.get("exact", self._exact) != self._exact:  # the choice of the saved run
                self._exact = list(state["exact"])
                if self._choice:
                    self._choice.exact = {number for number, name in enumerate(self._parameters) if name in self._exact}
                self._regroup(self._groups)
            self._program.load_state({name: each.cpu().numpy().tobytes() for name, each in state["tensors"].items()})
            self._step = int(state["step"])
            self._before = self._window = None
        self._thread.call(body)

    def rescale(self, factor):
        """Scales the state of the codecs because gradients are `factor` times as large from the next step on, for
        example by another loss scale: error feedback of earlier gradients grows by that factor. All ranks call it
        between the same two steps. torch's GradScaler needs no call."""
        if not 0 < factor < float("inf"):
            raise ValueError(f"expected a factor of more than 0, got {factor!r}")

        def body():
            self._program.memory().rescale(factor)
            for kept in {id(each): each for each in (self._before, self._window) if each is not None}.values():
                rescale(kept, factor)
        self._thread.call(body)

    def undo(self):
        """Undoes what the last backward pass changed in the state of the codecs, for a pass whose gradients were not
        applied. All ranks call it between the same two steps. No call is needed for steps that torch's GradScaler
        skips, or for passes that did not finish. Raises RuntimeFailure for a model on a GPU, where no copy is kept."""
        if self._stream is not None:
            raise RuntimeFailure(_KEPT_ON_GPU + ": undo() takes back nothing")

        def body():
            if self._before is not None:
                self._program.memory().restore(self._before)
        self._thread.call(body)

    def has_any_of(self, parameters):
        """Returns true if it has any of these parameters, which are given by their ids."""
        return not parameters.isdisjoint(self._names)

    def settle(self, parameters, was_skipped):
        """Learns from a scaler that it has stepped an optimizer of these parameters, or has skipped the step because a
        gradient was NaN or infinite."""
        if was_skipped and self._stream is not None and self._options["error_feedback"] and not self._said_of_skips:
            self._said_of_skips = True
            warn(_KEPT_ON_GPU + ": of a step that a GradScaler skips, what encoding lost is made up for as if it had been taken")

        def body():
            if was_skipped and self._window is not None:
                self._program.memory().restore(self._window, {self._names[each] for each in parameters if each in self._names})
            self._is_settled = True
        self._thread.call(body)

    def close(self):
        """Closes the connection, after which the hook fails. Without a call it closes with the process."""
        self._failure = self._failure or RuntimeFailure("the state of the hook is closed")
        self._thread.stop(self._program.close)

    def __reduce__(self):
        # A copy of the model, such as one of averaged weights, has the state among its attributes. Two of them on one connection
        # would be taken for one.
        return Unconnected, ()

    # ---- What the hook does

    def trace(self, gradient, parameter):
        raise RuntimeError("a compiled DistributedDataParallel takes cgx_torch.backend(model) in the place of cgx_torch.state(model)")

    def _reduce(self, bucket):
        if self._failure:
            raise self._failure
        buffer = bucket.buffer()
        ready = torch.cuda.current_stream(buffer.device).record_event() if buffer.is_cuda else None
        by_torch = buffer.is_sparse or not module.takes(buffer.dtype)
        gradients = {} if by_torch else {self._name_of(parameter): gradient
                                         for parameter, gradient in zip(bucket.parameters(), bucket.gradients())}
        used = self._ask_for_used(gradients) if self._finds_unused and gradients else None
        told = _Bucket(bucket.index() == 0, bucket.is_last(), gradients, buffer.dtype, used, ready)
        # Raised within `then`, an exception becomes that of the future.
        done = torch.futures.Future(devices=[buffer.device]) if buffer.is_cuda else torch.futures.Future()

        def travel():
            try:
                self._travel(told)
            except BaseException as error:
                self._failure = error
            with torch.cuda.stream(self._stream) if self._stream else contextlib.nullcontext():
                done.set_result(buffer)

        def outcome(_):
            if self._failure:
                raise self._failure
            return answer.value()

        answer = done
        if by_torch:
            answer = self._mean_of(buffer)
            result = torch.futures.collect_all([answer, done]).then(outcome)
        else:
            result = done.then(outcome)
        self._thread.submit(travel)
        return result

    def _mean_of(self, gradient):
        """Returns a future of the mean of a gradient that torch sends uncompressed: a sparse one, of which each rank
        has other rows, or one with elements that no codec takes."""
        gradient.div_(self._group.ranks)
        sent = torch.view_as_real(gradient) if gradient.is_complex() else gradient
        work = torch.distributed.all_reduce(sent, group=self._group.group, async_op=True)
        return work.get_future().then(lambda done: gradient if gradient.is_complex() else done.value()[0])

    def _ask_for_used(self, gradients):
        """Returns which gradients belong to parameters that any rank used, as a pending operation and its numbers. For
        a parameter that this rank did not use, DDP passes zeros; if no rank used it, DDP drops the sum, and with it
        any error feedback that the codec sent."""
        used = torch.stack([each.count_nonzero() for each in gradients.values()]).clamp_(max=1)
        return torch.distributed.all_reduce(used, torch.distributed.ReduceOp.MAX, group=self._group.group, async_op=True), used

    def _name_of(self, parameter):
        name = self._names.get(id(parameter))
        if name is None:
            raise RuntimeFailure(f"a bucket holds a parameter of shape {list(parameter.shape)} that the model of "
                                 "cgx_torch.state had not, or that required no gradient then: make the state of the model "
                                 "that DistributedDataParallel holds")
        return name

    def _make_stream(self):
        device = next(iter(self._parameters.values())).device
        return torch.cuda.Stream(device) if device.type == "cuda" else None

    # ---- On the thread

    def _compile(self, groups):
        collectives = module.collectives_of(self._parameters, groups, self._types, self._exact)
        with plan_file(self._plan) as path:
            return layers.decide(self._group.ranks, collectives, dict(self._options, plan=path))

    def _open_program(self, groups):
        self._asked = compilation = self._compile(groups)
        if self._never_slower:
            device = next(iter(self._parameters.values())).device
            self._choice = links.choose(compilation, self._group, device, self._connection)
            self._exact = [name for number, name in enumerate(self._parameters) if number in self._choice.exact]
            compilation = self._compile(groups)
        return Program(compilation, self._group, stream=self._stream.cuda_stream if self._stream else None,
                       **self._connection)

    def _regroup(self, groups):
        """Continues with other groups of gradients per collective. The state of the codecs is kept, the measurements
        are not."""
        self._is_measuring = False
        if self._adapter:
            self._adapter.is_measuring = False
        self._past = [*self._past, self._program.telemetry()]
        if self._is_in_step:
            self._program.end_step()
        self._program.regroup(self._compile(groups))
        self._groups = groups
        if self._is_in_step:
            self._program.begin_step(self._step)

    def _travel(self, bucket):
        if not self._program.communicates:
            return
        if bucket.is_first:
            self._begin_step()
        if self._takes_other_types(bucket) or not self._program.fits(bucket.gradients):
            self._regroup([[name] for name in self._parameters])
        if bucket.gradients:
            self._buckets.append(list(bucket.gradients))
        if bucket.ready is not None:
            self._stream.wait_event(bucket.ready)
        self._reduce_used(bucket.gradients, self._unused_of(bucket))
        if bucket.is_last:
            self._end_step()

    def _takes_other_types(self, bucket):
        """Returns true if gradients have other types than this program was compiled for, as under a hook that casts
        them. Such a hook is assumed to cast all gradients of that type."""
        casts = {self._types[name] for name in bucket.gradients} - {bucket.type}
        self._types = {name: bucket.type if kind in casts else kind for name, kind in self._types.items()}
        return bool(casts)

    def _unused_of(self, bucket):
        if bucket.used is None:
            return set()
        work, used = bucket.used
        work.wait()
        return {name for name, is_used in zip(bucket.gradients, used.tolist()) if not is_used}

    def _reduce_used(self, gradients, unused):
        """Averages gradients. Those that no rank used stay zero, and their error feedback is kept for later."""
        memory = self._program.memory() if unused else None
        owed = memory and memory.copy(unused)
        self._program.reduce({name: each.data_ptr() for name, each in gradients.items()}, unused)
        if owed:
            memory.restore(owed, unused)
        for name in unused:
            gradients[name].zero_()

    def _begin_step(self):
        if self._is_in_step:  # a backward pass that did not come to its end, whose gradients nobody has
            self._end_step()
            if self._before is not None:
                self._program.memory().restore(self._before)
        if self._last_buckets and self._last_buckets == self._buckets and not self._measures():
            # Parameters that DDP was told to leave alone are in no bucket.
            named = {name for bucket in self._buckets for name in bucket}
            groups = [*self._buckets, *([name] for name in self._parameters if name not in named)]
            if groups != self._groups:
                self._regroup(groups)
        self._last_buckets, self._buckets = self._buckets, []
        if self._adapter and (plan := self._adapter.before(self._step, self._program)):
            self._plan = plan
        self._remember()
        self._program.begin_step(self._step)
        self._is_in_step = True

    def _remember(self):
        """Saves the state of the codecs before a step, so that the step can be undone. A GPU would have to copy it to
        the host each time."""
        memory = self._program.memory() if self._stream is None else None
        self._before = memory.copy() if memory else None
        if not loss_scale.is_in_use():
            self._window = None
        elif self._is_settled:
            self._window, self._is_settled = self._before, False

    def _measures(self):
        return self._is_measuring or self._adapter is not None and self._adapter.is_measuring

    def _begin_profile(self):
        self._program.begin_profile()
        self._is_measuring = True

    def _end_step(self):
        self._is_in_step = False
        self._step += 1
        self._program.end_step()


def _sum_of(programs):
    """Adds up the counters of one rank over consecutive programs: in total, by layer, and by where the time was spent."""
    total = {"layers": {}, "seconds": {}}
    for counters in programs:
        for name, value in counters.items():
            if name != "collectives":
                total[name] = total[name] + value if name in total and name != "rank" else value
        for collective in counters.get("collectives", ()):
            _add(total["seconds"], collective["seconds"])
            for operand in collective["operands"]:
                _add(total["layers"].setdefault(operand["layer"], {}),
                     {name: operand[name] for name in ("raw_bytes", "wire_bytes")})
    return total if "rank" in total else {}


def _add(total, values):
    for name, value in values.items():
        total[name] = total.get(name, 0) + value


class Unconnected:
    """The state of a copy of a model, or of one that was pickled: it has no connection to other ranks."""

    def _reduce(self, _):
        raise RuntimeFailure("the copy of a DistributedDataParallel has no connection of cgx: make one for it, "
                             "copy.register_comm_hook(cgx_torch.state(copy, ...), cgx_torch.hook)")

    def trace(self, *_):
        self._reduce(None)


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for each in list(_open):
        if hasattr(each, "_program"):
            each.close()
