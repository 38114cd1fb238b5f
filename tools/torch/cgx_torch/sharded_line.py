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
    """Ranks that shards are split over, or replicas of them, and the one context between them. All modules that are split over them
    use it, in the order in which torch gathers and reduces, which is the same on all ranks."""

    def __init__(self, group, what, options, plan, connection, never_slower):
        """Args:
          group: a ProcessGroup.
          what: the ranks are to each other: "shards", "replicas".
          never_slower: leave exact what codecs would make slower on these links.
        """
        self._never_slower, self.choice = never_slower, None
        self.group, self.what, self._options, self._plan, self._connection = group, what, options, plan, connection
        self.exchanges = {}  # by number
        self.program = self.compilation = None
        self.asked = None  # the compilation by the user's options alone
        self._past, self._failure, self._stream = [], None, None
        self._is_settled, self._window = True, None
        self._lock = threading.RLock()

    def open(self):
        """Has it decided what is compressed, and meets the other ranks."""
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
        """Has the exchanges of these numbers travel without codecs, and no other one: as a run chose that goes on."""
        if {number for number, each in self.exchanges.items() if each.exact} == exact:
            return
        for number, each in self.exchanges.items():
            each.exact = number in exact
        if self.choice:
            self.choice.exact = exact
        self.reopen()

    def choice_of(self, layer):
        """What the report of the compiler cannot know of a layer that was chosen to travel exact."""
        each = self.exchanges[layer["collective"]]
        would = each.exact and layer["layer"] != each.counts
        return {"kind": each.kind, "exact_reason": "would be slower"} if would else {}

    def gains(self):
        """A `gain.Row` for each direction that was measured."""
        counters = self.telemetry() if self.choice else []
        directions = {}
        for number, each in self.exchanges.items():
            directions.setdefault(each.direction, []).append(number)
        rows = (self.choice and self.choice.row(f"{self.what}, {self.ranks()}: {direction}", numbers, counters)
                for direction, numbers in directions.items())
        return [row for row in rows if row]

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
                self._failure = RuntimeFailure(f"{what}{self._who()}: {failure}")
                raise self._failure from None

    def begin_profile(self):
        with self._lock:
            self.program.begin_profile()

    def end_profile(self):
        with self._lock:
            return self.program.end_profile()

    def _who(self):
        """What a failure, which counts ranks from 0 in their group, has to say of these where the job has more."""
        members = self.group.members
        if members == list(range(dist.get_world_size())):
            return ""
        return f" between {self.ranks()} of the job, which are ranks 0 to {len(members) - 1} here"

    def ranks(self):
        return f"ranks {', '.join(map(str, self.group.members))}"

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

    def restore(self, tensors, names):
        """Has these layers remember what tensors say, and nothing where these say nothing."""
        with self._lock:
            self.memory().restore(tensors, names)
            self._window, self._is_settled = None, True

    def close(self):
        with self._lock:
            if self.program and self.program.communicates:
                self._past.append(self.program.telemetry())
                self.program.close()
            self._failure = self._failure or RuntimeFailure("the compression of the model is closed")
