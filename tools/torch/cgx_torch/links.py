"""Chooses the collectives for which compression pays, by measurements between the ranks of a process group, which
connect for that once."""

import dataclasses
import json
import time
import types

import torch
from cgx_core import gain
from cgx_torch.program import Program

_TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}


@dataclasses.dataclass
class Choice:
    """The choice that all ranks made from their common measurements."""
    predicted: dict  # {collective: (seconds without codecs, with them)}, for collectives with a codec
    exact: set  # collectives that codecs would make slower

    def row(self, axis, collectives, counters):
        """Returns the `gain.Row` of some collectives, or None where none of them has a codec. `counters` are those of
        the run since, as of `cgx_context_telemetry`."""
        predicted = {each: self.predicted[each] for each in collectives if each in self.predicted}
        if not predicted:
            return None
        runs = [each for program in counters for each in program["collectives"] if each["id"] in predicted and each["runs"]]
        seconds = {}
        for each in runs:
            count, total = seconds.get(each["id"], (0, 0.0))
            seconds[each["id"]] = count + each["runs"], total + each["seconds"]["total"]
        return gain.Row(axis, sum(exact for exact, _ in predicted.values()), sum(coded for _, coded in predicted.values()),
                        sum(total / count for count, total in seconds.values()) if seconds else None,
                        len(predicted), len(predicted.keys() - self.exact))


def choose(compilation, group, device, connection):
    """Returns the Choice for a program. All ranks of the group call it.

    Args:
      compilation: of the program.
      group: a ProcessGroup.
      device: where tensors lie.
      connection: as of Program.
    """
    manifest = compilation.manifest
    ways = gain.ways_of(manifest)
    if not ways or group.ranks < 2:
        return Choice({}, set())
    stream = torch.cuda.Stream(device) if device.type == "cuda" else None
    # A rank that does not measure arrives at this rendezvous with the program itself; both get an error that names the
    # difference.
    trial = gain.manifest_of(ways, group.ranks) | {"hash": manifest["hash"] + ", measured before"}
    options = (*compilation.options, "--cgx-compress=never-slower")
    program = Program(types.SimpleNamespace(manifest=trial, manifest_text=json.dumps(trial), options=options), group,
                      stream=stream.cuda_stream if stream else None, **connection)
    try:
        times = _Trial(program, ways, group.ranks, device, stream).times()
    finally:
        program.close()
    coded = [each for each in manifest["collectives"] if gain.is_predicted(each)]
    return Choice({each["id"]: (times.predict(each, exact=True), times.predict(each)) for each in coded},
                  {each["id"] for each in coded if not times.pays(each)})


class _Trial:
    def __init__(self, program, ways, ranks, device, stream):
        self._program, self._ways, self._ranks, self._device, self._stream = program, ways, ranks, device, stream
        self._step = 0
        generator = torch.Generator().manual_seed(0)
        most = -(-max(gain.LENGTHS) // ranks) * ranks
        # Random numbers of a while, over and over, are made in no time.
        some = torch.randn(1 << 16, generator=generator).repeat(-(-most // (1 << 16)))[:most]
        kinds = {_TYPES[operand["dtype"]] for _, operand in ways.values()}
        self._sources = {kind: some.to(device, kind) for kind in kinds}
        self._targets = {kind: torch.empty_like(each) for kind, each in self._sources.items()}
        self._kinds = [_TYPES[operand["dtype"]] for _, operand in ways.values()]
        self._numbers = torch.zeros(gain.count_of_numbers(ways), device=device)
        self._sums = torch.empty_like(self._numbers)
        if stream:
            torch.cuda.synchronize(device)

    def times(self):
        return gain.measure(self._ways, self._ranks, self._time_of, self._mean_of)

    def _run(self, number, source, target):
        self._program.begin_step(self._step)
        self._step += 1
        self._program.run(number, [(source.data_ptr(), target.data_ptr())])
        self._program.end_step()
        if self._stream:
            self._stream.synchronize()

    def _time_of(self, number):
        kind = self._kinds[number // len(gain.LENGTHS)]
        self._run(gain.AGREEMENT, self._numbers, self._sums)  # this makes all ranks start together
        began = time.perf_counter()
        self._run(number, self._sources[kind], self._targets[kind])
        return time.perf_counter() - began

    def _mean_of(self, numbers):
        given = torch.zeros(len(self._numbers))
        given[:len(numbers)] = torch.tensor(numbers)
        given = given.to(self._device)
        if self._stream:
            torch.cuda.synchronize(self._device)
        self._run(gain.AGREEMENT, given, self._sums)
        return [each / self._ranks for each in self._sums[:len(numbers)].tolist()]
