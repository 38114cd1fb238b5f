"""Models that torch's FSDP2 splits between ranks: weights are gathered and gradients reduced by the runtime of cgx.

Torch lets an object do the all-gathers of a module and another one its reduce-scatters. They are handed flat buffers, in which
layers lie side by side; here each travels with its codec, all of a module in one exchange.
"""

import atexit
import weakref

import torch
import torch.distributed as dist
from cgx_core import gain
from cgx_core.choices import check_connection
from cgx_core.codecs import Codec
from cgx_core.warned import Said, warn
from cgx_torch import fsdp, kept, loss_scale, module, sharded_resume
from cgx_torch.hook import hook
from cgx_torch.hook import state as state_of
from cgx_torch.process_group import ProcessGroup
from cgx_torch.sharded_comms import Comm
from cgx_torch.sharded_line import Line
from cgx_torch.sharded_overlap import MOST_REDUCTIONS, Overlap

# These options have no effect here: FSDP makes the decision itself, or the option belongs to one direction.
_REFUSED = {"overlap": "torch prefetches modules",
            "group_bytes": "what travels together are the parameters of a module that fully_shard was called for",
            "scope": "FSDP gathers and reduces module by module",
            "prefetch": "torch prefetches modules",
            "decompose": "no program runs whose collectives could be seen",
            "algorithm": "it is of all-reduces",
            "adapt": "plans are made of a profile: begin_profile() and end_profile()"}
# These options belong to a direction, for every model.
_OF_DIRECTIONS = {"codec": 'write weights="bits=8", gradients="topk density=0.01"',
                  "error_feedback": 'it is of gradients: write gradients="bits=4 error-feedback=f32"'}
DEFAULT_WEIGHTS, DEFAULT_GRADIENTS = "bits=8", "bits=4"
# The default of the second hop of gradients is 8 bits, because its all-reduce quantizes twice, after the first hop:
# with 4 bits a small model learned less. Gradients that the first hop leaves uncompressed, or to torch, are so in the
# second.
AUTO = "auto"


def compress(model, weights=DEFAULT_WEIGHTS, gradients=DEFAULT_GRADIENTS, replicas=AUTO, *, bits=None, exclude=None, plan=None,
             process_group=None, transport=None, seed=0, timeout=300.0, report=False, name=None, never_slower=False, **options):
    """Has the weights and gradients of a model travel compressed. All ranks call it, with the same options, once `fully_shard` or
    DistributedDataParallel was called:

        fully_shard(model)
        cgx_torch.compress(model, weights="bits=8", gradients="bits=4")

    Args:
      model: one that `fully_shard` (FSDP2, torch 2.10 or newer) was called for, or `replicate`, or a DistributedDataParallel; the
        weights of the latter two do not travel.
      weights: the codec of weights, a `cgx.Codec` or in words: "bits=8", "bits=8 bucket=1024 rounding=random_shift", "identity"; None leaves
        their all-gathers to torch.
      gradients: the codec of gradients: "bits=4", "bits=4 error-feedback=f32"; None leaves their reduction to torch.
      replicas: the codec of HSDP's second hop, in which what was summed over shards is summed over replicas: "bits=4"; None
        leaves it to torch. By default 8 bits, with the error feedback of gradients, where these are neither exact nor left to
        torch.
      bits: of gradients alone, in short: bits=4 is gradients="bits=4".
      exclude: names of parameters that stay exact, a pattern or a list of them: "*embed*".
      plan: of `cgx-plan`, a path or what json.load gives, in place of the codecs of weights and gradients; each entry says which of
        the two it is of ("kind"). Replicas keep theirs.
      process_group: of a DistributedDataParallel, as of `cgx_torch.state`; sharded models have their own.
      transport, seed, timeout, report, name: as of `cgx_torch.state`.
      never_slower: True measures collectives for about a second, with their codecs and without, between the ranks and on the devices
        that they are of, and leaves exact what codecs would make slower. All ranks choose alike, `report()` has a table of it, and
        `state_dict()` the choice: another run of the same script may choose otherwise.
      options: more options of `cgx-opt --cgx-compress`, with underscores for dashes: min_elements=0.

    Returns:
      A `Sharded`; of a DistributedDataParallel the `State` that its hook was registered with.

    Raises:
      CompileError, TypeError, ValueError: an option is wrong, or the model is none of these.
      RuntimeFailure: this torch cannot, ranks do not find each other, or their options differ.
    """
    weights = str(weights) if isinstance(weights, Codec) else weights
    gradients, replicas = gradients_of(weights, gradients, replicas, bits, options)
    if plan is not None and (weights not in (None, DEFAULT_WEIGHTS) or gradients not in (None, DEFAULT_GRADIENTS)):
        raise ValueError(f"expected a plan, or codecs of weights and gradients, got both: weights={weights!r}, gradients={gradients!r}")
    if plan is not None and never_slower:
        raise ValueError("expected a plan, which has chosen for each layer, or never_slower=True, got both")
    check_connection(transport, seed, timeout)
    connection = {"transport": transport, "seed": seed, "timeout": timeout}
    if isinstance(model, torch.nn.parallel.DistributedDataParallel) or is_replicated(model):
        if gradients is None:
            raise ValueError(f"gradients=None leaves a {type(model).__name__} nothing to compress: its weights do not travel")
        state = state_of(model, gradient=gradients if plan is None else None, exclude=exclude, plan=plan, process_group=process_group, report=report,
                         name=name, never_slower=never_slower, **connection, **options)
        model.register_comm_hook(state, hook)
        return state
    for refused, reason in _REFUSED.items():
        if options.get(refused) is not None:
            raise ValueError(f"{refused} has no meaning for a sharded model: {reason}")
    if weights is not None and "error" in weights:
        raise ValueError("weights: expected a codec without error feedback, which would be of changes of weights, got " + repr(weights))
    if weights is None and gradients is None and replicas is None:
        raise ValueError("expected weights=, gradients= or replicas= to have a codec, got None for all")
    if process_group is not None:
        raise ValueError("process_group has no meaning for a sharded model: its mesh has the groups")
    if fsdp.is_flat(model):
        raise TypeError("FullyShardedDataParallel (FSDP1) lays parameters end to end and cuts them in the middle of layers, so that what its "
                        "hook reduces has no layers to choose codecs for: call fully_shard of torch.distributed.fsdp (FSDP2)")
    fsdp.require()
    model = module.within(model)[0]
    if not fsdp.is_sharded(model):
        raise TypeError(f"expected a model that fully_shard was called for, or a DistributedDataParallel, got {type(model).__name__}: call "
                        "fully_shard(model) of torch.distributed.fsdp first")
    codecs = {"weights": weights, "gradients": gradients, "replicas": replicas}
    state = Sharded(model, codecs, dict(options, exclude=exclude), plan, name, connection, report, never_slower)
    kept.keep(model, state)
    return state


def is_replicated(model):
    """Returns true if the `replicate` of DistributedDataParallel was called for a module, which accepts communication
    hooks too."""
    return any(each.__module__ == "torch.distributed._composable.replicate" for each in type(model).__mro__)


def gradients_of(weights, gradients, replicas, bits, options):
    """Returns the codecs of gradients, and of gradients over replicas. Raises TypeError or ValueError where the values
    given for both directions contradict each other."""
    weights, gradients, replicas = (str(each) if isinstance(each, Codec) else each for each in (weights, gradients, replicas))
    if bits is not None:
        if gradients != DEFAULT_GRADIENTS:
            raise ValueError(f"expected bits= or gradients=, got both: bits={bits!r}, gradients={gradients!r}")
        gradients = f"bits={bits}"
    for refused, reason in _OF_DIRECTIONS.items():
        if options.get(refused) is not None:
            raise ValueError(f"{refused} has no meaning where weights and gradients have codecs of their own: {reason}")
    if replicas == AUTO:
        replicas = _second_hop_of(gradients)
    for direction, words in (("weights", weights), ("gradients", gradients), ("replicas", replicas)):
        if words is not None and not isinstance(words, str):
            raise TypeError(f'{direction}: expected a codec in words, such as "bits=4", or None, got {words!r}')
    return gradients, replicas


# This table gives, for the ranks of a line, the codec of each direction and the kinds of layers that have one.
_OF_LINES = {"shards": lambda codecs: _options_of(weight=codecs["weights"], gradient=codecs["gradients"]),
             "replicas": lambda codecs: _options_of(gradient=codecs["replicas"]),
             "copies": lambda codecs: _options_of(gradient=codecs["gradients"])}


def _options_of(**codecs):
    return dict(codecs, kinds=[kind for kind, words in codecs.items() if words is not None])


def _second_hop_of(gradients):
    """Returns the default codec over replicas. It keeps the error feedback of the first hop, so that nothing that is
    applied goes uncorrected."""
    if not isinstance(gradients, str) or gradients == "identity":
        return gradients
    return " ".join(["bits=8", *(word for word in gradients.split() if word.startswith("error"))])


class Sharded:
    """The object that `compress` returns for a sharded model: the connections between ranks, and the state of their
    codecs."""

    def __init__(self, model, codecs, options, plan, name, connection, prints, never_slower=False):
        self._parts = fsdp.parts_of(model)
        if not self._parts:
            raise ValueError("the model has no parameter that fully_shard split")
        self._left = []  # what torch sends, one sentence each
        lines = {}

        def line(group, what):
            if group is None:
                return None
            if (group, what) not in lines:
                planned = plan if what != "replicas" else None
                decided = _OF_LINES[what](codecs) if planned is None else {}
                lines[group, what] = Line(ProcessGroup(group, name), what, dict(options, **decided), planned, connection,
                                          never_slower)
            return lines[group, what]
        self._comms, self.overlap = [], Overlap(self._parts[0].layers[0].parameter.device)
        for part in self._parts:
            shards = line(part.shards, "shards")
            replicas = line(part.replicas, "replicas" if shards else "copies")
            if shards or replicas:
                self._comms.append(self._comm_of(Comm(part, len(self._comms), shards, replicas, self), codecs))
            else:
                self._left.append(f"{part.name}: one rank has all of it, and nothing travels")
        self._lines = list(lines.values())
        if plan is not None:
            self._planned()
        for each in self._lines:
            each.open()
        fsdp.tell_comms()
        for comm in self._comms:
            if comm.gathers.line:
                comm.part.owner.set_custom_all_gather(comm.gathers)
            comm.part.owner.set_custom_reduce_scatter(comm.reduces)
        self._layers = {id(layer.parameter.sharded_param): layer.name for part in self._parts for layer in part.layers}
        loss_scale.follow(self)
        _open.add(self)
        if dist.get_rank() == 0:
            said = Said()
            for line in self._lines:
                for message in said.new_warnings(line.asked) if line.asked else ():
                    warn(message)
            for row in self._gains():
                gain.warn_of(row)
            if prints:
                print(self.report(), end="", flush=True)

    def _comm_of(self, comm, codecs):
        """Decides which exchanges of a module cgx runs, and records why it leaves the others to torch."""
        part, kinds = comm.part, comm.part.weight_types()
        if part.shards is None:
            pass  # each rank has the weights
        elif codecs["weights"] is None:
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
        if trained := part.trained():
            kind = part.gradient_type()
            for each, does in ((comm.reduces, "reduced"), (comm.replicas, "summed over replicas")):
                if each.line is None:
                    continue
                if codecs[each.direction] is None:
                    self._left.append(f"{part.name}: gradients are {does} by torch, as {each.direction}=None says")
                elif not module.takes(kind):
                    self._left.append(f"{part.name}: gradients are {does} by torch, as codecs take no {kind}")
                else:
                    each.join(kind, trained)
        return comm

    # ---- What users ask

    def report(self, format="text"):
        """Returns how the weights and gradients of each layer are sent, and what torch sends; with format="json" the
        data of it. HSDP has two hops, each with its ranks."""
        lines = [line for line in self._lines if line.compilation]
        if format != "text":
            return {"layers": [{"between": line.what, **layer, **line.choice_of(layer)} for line in lines
                               for layer in line.compilation.report_json["layers"]],
                    "left": self._what_is_left(), "in_flight": self._in_flight(), "gains": [each.data() for each in self._gains()]}
        heads = [f"between {line.what}, {line.ranks()}:\n" if len(lines) > 1 else "" for line in lines]
        return "".join([*(head + line.compilation.report for head, line in zip(heads, lines)),
                        *(f"{each}\n" for each in self._what_is_left()), gain.table(self._gains()), self._what_is_in_flight()])

    def diagnostics(self):
        """Returns the diagnostics about the options. Warnings were shown on rank 0 when the model was compressed."""
        return tuple(each for line in self._lines if line.compilation for each in line.compilation.diagnostics)

    def transport(self):
        """Returns the transport between the ranks over which shards, or else replicas, are spread, such as "shm"; None
        where there is one rank."""
        return next((line.program.transport for line in self._lines if line.program), None)

    def telemetry(self):
        """Returns the counters of this rank: bytes in total, by layer and by direction, and those that torch sent in
        place of cgx."""
        total = {"raw_bytes": 0, "wire_bytes": 0, "torch_bytes": sum(each.torch_bytes for comm in self._comms
                                                                     for each in comm.directions()), "layers": {}}
        for line, counters in ((line, each) for line in self._lines for each in line.telemetry()):
            for collective in counters["collectives"]:
                direction = line.exchanges[collective["id"]].direction
                for operand in collective["operands"]:
                    counts = total["layers"].setdefault(operand["layer"], {}).setdefault(direction, {"raw_bytes": 0, "wire_bytes": 0})
                    for key in counts:
                        counts[key] += operand[key]
                        total[key] += operand[key]
        return total

    def begin_profile(self):
        """Starts a profile with the next step. All ranks call it between the same two steps."""
        self._planned().begin_profile()

    def end_profile(self):
        """Returns the profile of weights and gradients, for `cgx-plan`. All ranks call it between the same two steps."""
        return self._planned().end_profile()

    def state_dict(self):
        """Returns the state of this rank's codecs and the positions of their random numbers. A checkpoint without it
        does not resume the run exactly. Each rank has a key of its own, so that torch.distributed.checkpoint does
        not take one rank's state for a copy of another's."""
        tensors = {}
        for line in self._lines:
            for name, each in line.state().items():
                tensors[line.what + " " + name] = torch.frombuffer(bytearray(each), dtype=torch.uint8) if each else torch.empty(0, dtype=torch.uint8)
        chosen = {"exact": self._exact()} if any(line.choice for line in self._lines) or self._exact().any() else {}
        return {self._key(): {**chosen, "steps": torch.tensor([[comm.step, comm.replicas.step] for comm in self._comms]),
                              "units": torch.tensor([[comm.reduces.unit, comm.replicas.unit] for comm in self._comms], dtype=torch.float64),
                              "tensors": tensors}}

    def load_state_dict(self, state):
        """Continues from a state of `state_dict`, between two steps. Raises ValueError where it is of another rank or
        of other options."""
        if self._key() not in state:
            raise ValueError(f"expected the state of {self._key()}, got that of {', '.join(sorted(state)) or 'none'}: it is resumed by as "
                             "many ranks as saved it, else call load_checkpoint(folder)")
        state = state[self._key()]
        if len(state["steps"]) != len(self._comms):
            raise ValueError(f"expected the state of {len(self._comms)} modules, got that of {len(state['steps'])}")
        self._choose(state)
        left = dict(state["tensors"])
        for line in self._lines:
            names = {name: f"{line.what} {name}" for name in line.state()}
            if "exact" in state and (missing := [saved for saved in names.values() if saved not in left]):
                raise ValueError(f"expected the state of {', '.join(missing)}, too, which the saved run chose to compress and this one did not: "
                                 "call load_checkpoint(folder), which reads it")
            line.load_state({name: left.pop(saved).cpu().numpy().tobytes() for name, saved in names.items() if saved in left})
        if left:
            expected = ", ".join(f"{line.what} {name}" for line in self._lines for name in line.state())
            raise ValueError(f"expected the state of {expected or 'nothing'}, got that "
                             f"of {', '.join(left)}, too: was it saved with other options?")
        for comm, steps, units in zip(self._comms, state["steps"].tolist(), state["units"].tolist()):
            comm.step, comm.replicas.step = steps
            comm.reduces.unit, comm.replicas.unit = units

    def load_checkpoint(self, folder, key="cgx"):
        """Continues from a state of `state_dict` that torch.distributed.checkpoint saved in a folder under a key, from
        any number of ranks. The same number of ranks resumes bit for bit. Otherwise the total error feedback is
        redistributed; state that cannot be taken over is dropped, with a warning."""
        states = sharded_resume.read(folder, key, self._key())
        if self._key() in states:
            self.load_state_dict(states)
        else:
            sharded_resume.reshard(states, self._comms)

    def rescale(self, factor):
        """Scales the state of the codecs because gradients are `factor` times as large from the next step on; see
        `State.rescale`."""
        if not 0 < factor < float("inf"):
            raise ValueError(f"expected a factor of more than 0, got {factor!r}")
        for line in self._lines:
            line.rescale(factor)

    def has_any_of(self, parameters):
        """Returns true if it has any of these parameters, which are given by their ids."""
        return not parameters.isdisjoint(self._layers)

    def settle(self, parameters, was_skipped):
        """Learns from a scaler that it has stepped an optimizer of these parameters, or has skipped the step because a
        gradient was NaN or infinite."""
        names = {self._layers[each] for each in parameters if each in self._layers}
        for line in self._lines:
            line.settle(names, was_skipped)

    def close(self):
        """Closes the connections, after which steps fail. Without a call they close with the process."""
        def close():
            for line in self._lines:
                line.close()
        self.overlap.stop(close)

    def _exact(self):
        """Returns which exchanges never_slower leaves uncompressed: one row per module, of a length that does not
        depend on the choice."""
        exact = {number for line in self._lines for number, each in line.exchanges.items() if each.exact}
        return torch.tensor([[each.number in exact for each in comm.directions()] for comm in self._comms], dtype=torch.uint8)

    def _choose(self, state):
        """Takes over the choice of uncompressed exchanges from a saved run."""
        if "exact" in state:
            exact = {each.number for comm, row in zip(self._comms, state["exact"].tolist()) for each, is_exact in zip(comm.directions(), row)
                     if is_exact}
            for line in self._lines:
                line.choose(exact & line.exchanges.keys())

    def _planned(self):
        """Returns the one line to which profiles and plans apply."""
        lines = [line for line in self._lines if line.what != "replicas" and line.exchanges]
        if len(lines) != 1:
            raise ValueError(f"expected a model that is split over the same ranks as a whole, which a plan is of, got {len(lines)} sets of "
                             "ranks")
        return lines[0]

    def _what_is_left(self):
        sums = {comm.part: comm.reduces.layers() or comm.replicas.layers() for comm in self._comms}
        frozen = {part.name: [layer.name for layer in part.layers if layer not in sent] for part, sent in sums.items() if sent}
        slower = [f"{each.part.name}: {direction.direction} travel exact, as codecs would make them slower here (never_slower=True)"
                  for each in self._comms for direction in each.directions() if direction.is_exact()]
        return [*self._left, *slower, *(f"{part}: no gradient travels of {', '.join(names)}, frozen" for part, names in frozen.items() if names)]

    def _gains(self):
        return [row for line in self._lines for row in line.gains()]

    def _in_flight(self):
        """Returns the most reductions that can be in progress or waiting at a time, and the bytes of their gradients."""
        sizes = sorted(comm.payload() for comm in self._comms)
        most = MOST_REDUCTIONS if self.overlap.goes_on else 1
        return {"reductions": most, "bytes": sum(sizes[-most:])}

    def _what_is_in_flight(self):
        if not self._comms or not self.overlap.goes_on:
            return ""
        most = self._in_flight()
        return (f"exchanges go on beside forward and backward passes, gathers that torch asks for ahead and at most {most['reductions']} reductions "
                f"at once, whose gradients have {most['bytes']} bytes\n")

    def _key(self):
        return f"rank {dist.get_rank()} of {dist.get_world_size()}"


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for each in list(_open):
        each.close()
