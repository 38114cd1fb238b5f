"""Ranks that exchange the layers of a model that FSDP2 splits, and the connection between them."""

import contextlib
import threading

import torch
import torch.distributed as dist
from cgx_core import layers
from cgx_core.context import RuntimeFailure
from cgx_core.plans import plan_file
from cgx_torch import links, loss_scale, sharded_program
from cgx_torch.memory import rescale
from cgx_torch.program import Program


class Line:
    """The ranks over which shards or replicas are spread, and the one context between them. All modules that are split
    over these ranks use it, in the order in which torch gathers and reduces, which is equal on all ranks."""

    def __init__(self, group, what, options, plan, connection, never_slower):
        """Args:
          group: a ProcessGroup.
          what: the ranks are to each other: "shards", "replicas".
          never_slower: leave exact what codecs would make slower on these links.
        """
        self._never_slower, self.choice = never_slower, None
        self.group, self.what, self._options, self._plan, self._connection = group, what, options, plan, connection
        self.exchanges = {}  # {number: Exchange}
        self.program = self.compilation = None
        self.asked = None  # the compilation by the user's options alone
        self._past, self._failure, self._stream = [], None, None
        self._is_settled, self._window = True, None
        self._lock = threading.RLock()

    def open(self):
        """Lets the compiler decide what is compressed, and connects to the other ranks."""
        if not self.exchanges:
            return
        device = next(iter(self.exchanges.values())).layers[0].parameter.device
        self._compile()
        self.asked = self.asked or self.compilation
        if self._never_slower and self.choice is None:
            self.choice = links.choose(self.compilation, self.group, device, self._connection)
            for number in self.choice.exact:
                self.exchanges[number].exact = True
            self._compile()
        if device.type == "cuda" and self._stream is None:
            self._stream = torch.cuda.Stream(device)
        self.program = Program(self.compilation, self.group, stream=self._stream.cuda_stream if self._stream else None, **self._connection)

    def _compile(self):
        collectives = sharded_program.collectives_of(self.exchanges.values(), self.group.ranks)
        with plan_file(self._plan) as path:
            self.compilation = layers.decide(self.group.ranks, collectives, dict(self._options, plan=path))

    def choose(self, exact):
        """Leaves the exchanges with these numbers uncompressed, and no others, as the run that is resumed had chosen."""
        if {number for number, each in self.exchanges.items() if each.exact} == exact:
            return
        for number, each in self.exchanges.items():
            each.exact = number in exact
        if self.choice:
            self.choice.exact = exact
        self.reopen()

    def choice_of(self, layer):
        """Returns the entries that the compiler's report cannot have, for a layer that was chosen to be sent
        uncompressed."""
        each = self.exchanges[layer["collective"]]
        would = each.exact and layer["layer"] != each.counts
        return {"kind": each.kind, "exact_reason": "would be slower"} if would else {}

    def gains(self):
        """Returns a `gain.Row` for each direction that was measured."""
        counters = self.telemetry() if self.choice else []
        directions = {}
        for number, each in self.exchanges.items():
            directions.setdefault(each.direction, []).append(number)
        rows = (self.choice and self.choice.row(f"{self.what}, {self.ranks()}: {direction}", numbers, counters)
                for direction, numbers in directions.items())
        return [row for row in rows if row]

    def reopen(self):
        """Continues with other exchanges. The state of the codecs is kept."""
        with self._lock:
            kept = self.memory().copy()
            self._past.append(self.program.telemetry())
            self.program.close()
            self.open()
            if kept:
                self.memory().restore(kept)

    def run(self, exchange, step, operands, what):
        """Runs one exchange on tensors. Raises RuntimeFailure that names the exchange."""
        with self._lock:
            if self._failure:
                raise self._failure
            try:
                with self._ordered():
                    self.program.begin_step(step)
                    self.program.run(exchange.number, [(source.data_ptr(), target.data_ptr()) for source, target in operands])
                    self.program.end_step()
            except RuntimeFailure as failure:
                self._failure = RuntimeFailure(f"{what}{self._who()}: {failure}")
                raise self._failure from None

    def begin_profile(self):
        with self._lock:
            self.program.begin_profile()

    def end_profile(self):
        with self._lock:
            return self.program.end_profile()

    def _who(self):
        """Returns the text for a failure that maps ranks of the group, counted from 0, to ranks of the job, where the
        two differ."""
        members = self.group.members
        if members == list(range(dist.get_world_size())):
            return ""
        return f" between {self.ranks()} of the job, which are ranks 0 to {len(members) - 1} here"

    def ranks(self):
        return f"ranks {', '.join(map(str, self.group.members))}"

    @contextlib.contextmanager
    def _ordered(self):
        """Orders the exchange on a GPU after the work that the current stream has, and before the work that it gets
        next."""
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
        """Saves the state of the codecs before a step that a scaler judges."""
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

    def restore(self, tensors, names):
        """Sets the codec state of these layers to the tensors, and to zero where there is no tensor."""
        with self._lock:
            self.memory().restore(tensors, names)
            self._window, self._is_settled = None, True

    def close(self):
        with self._lock:
            if self.program and self.program.communicates:
                self._past.append(self.program.telemetry())
                self.program.close()
            self._failure = self._failure or RuntimeFailure("the compression of the model is closed")
