"""Decides if compression pays between some ranks: measures how long collectives take there, with codecs and without,
and estimates other lengths.

A way is a combination of a kind of collective, an element type and a codec. Each way of a program is timed for several
lengths on the links, cores and devices that it will use, with all ranks at the same time. So the times contain latency,
bandwidth, codecs and copies, with their overlap, and other lengths are interpolated. (`cgx/cost.h` puts such times
together from parts that `cgx-bench calibrate` measures, for machines that are not at hand.)
"""

import bisect
import dataclasses
import json

from cgx_core.warned import warn

LENGTHS = (1 << 12, 1 << 15, 1 << 18, 1 << 20, 1 << 22)  # elements, of all ranks together where each has a part
SECONDS = 1.0  # for all measurements; lengths that would take longer are left out
REPEATS = 2  # the fastest counts; one more run before them warms up
AGREEMENT = 1 << 20  # the collective by which ranks add up their measurements
_EXACT = {"family": "identity"}


def way_of(collective, operand, codec=None):
    """Returns the way of an operand of a manifest, with another codec where one is given."""
    return json.dumps({"kind": collective["kind"], "reduction": collective.get("reduction"), "dtype": operand["dtype"],
                       "codec": codec or operand["codec"]}, sort_keys=True)


def ways_of(manifest):
    """Returns the ways of the manifest's collectives that have a codec, and the same ways uncompressed."""
    ways = {}
    for collective in manifest["collectives"]:
        if not is_predicted(collective):
            continue
        for operand in collective["operands"]:
            for codec in (operand["codec"], _EXACT):
                ways[way_of(collective, operand, codec)] = (collective, {**operand, "codec": codec})
    return ways


def is_predicted(collective):
    """Returns true if a collective has a codec whose time depends on the number of elements and not on their shape."""
    families = {operand["codec"]["family"] for operand in collective["operands"]}
    return families != {"identity"} and "lowrank" not in families


def count(collective, length, ranks):
    """Returns the number of elements of an operand of a collective, where all ranks together have `length` elements."""
    part = -(-length // ranks)
    return part if collective["kind"] == "all_gather" else part * ranks


def manifest_of(ways, ranks):
    """Returns the program that is timed. Collective `len(LENGTHS) * way + length` is a measurement; the last one is the
    agreement."""
    collectives = []
    for number, (collective, operand) in enumerate(ways.values()):
        for place, length in enumerate(LENGTHS):
            elements = count(collective, length, ranks)
            name = f"trial {number} of {length}"
            collectives.append({**collective, "id": len(LENGTHS) * number + place, "operands": [
                {**operand, "elements": elements, "shape": [elements], "layer": name, "layer_id": len(collectives)}]})
    numbers = count_of_numbers(ways)
    collectives.append({"id": AGREEMENT, "kind": "all_reduce", "algorithm": "auto", "reduction": "sum",
                        "groups": [list(range(ranks))], "operands": [
                            {"layer": "agreement", "layer_id": len(collectives), "kind": "other", "dtype": "f32", "elements": numbers,
                             "shape": [numbers], "codec": _EXACT}]})
    return {"cgx_manifest": 1, "ranks": ranks, "mesh": [], "arguments": [], "results": [], "collectives": collectives}


def count_of_numbers(ways):
    """Returns how many numbers ranks add up at once: the times, and how long the measurement took."""
    return len(ways) * len(LENGTHS) + 1


def measure(ways, ranks, time_of, mean_of):
    """Measures how long each way takes.

    Args:
      time_of: (collective) -> seconds of one run, behind a barrier.
      mean_of: (numbers) -> their means over ranks, which have the same bits on all of them.
    """
    times = {way: [] for way in ways}
    spent = last = 0.0
    for place, length in enumerate(LENGTHS):
        if place > 1 and spent + last * length / LENGTHS[place - 1] > SECONDS:
            break
        repeats = REPEATS if spent < SECONDS / 4 else 1
        took = 0.0
        for number, way in enumerate(ways):
            samples = [time_of(len(LENGTHS) * number + place) for _ in range(1 + repeats)]
            times[way].append(min(samples[1:]))
            took += sum(samples)
        # All ranks decide by the mean, so that they decide alike.
        last, = mean_of([took])
        spent += last
    measured = len(next(iter(times.values())))
    flat = mean_of([each for way in ways for each in times[way]])
    return Times({way: tuple(flat[number * measured:(number + 1) * measured]) for number, way in enumerate(ways)}, ranks)


@dataclasses.dataclass(frozen=True)
class Times:
    """The times that ranks measured together."""
    by_way: dict  # {way: seconds of each length}
    ranks: int

    def predict(self, collective, exact=False):
        """Returns the seconds of a collective of a manifest, with its codecs or uncompressed."""
        begins, rest = 0.0, 0.0
        totals = {}
        for operand in collective["operands"]:
            way = way_of(collective, operand, _EXACT if exact else None)
            totals[way] = totals.get(way, 0) + operand["elements"]
        for way, elements in totals.items():
            lengths = [count(collective, each, self.ranks) for each in LENGTHS]
            begins = max(begins, self.by_way[way][0])
            rest += _between(lengths, self.by_way[way], elements) - self.by_way[way][0]
        return begins + rest

    def pays(self, collective):
        return self.predict(collective) < self.predict(collective, exact=True)


def _between(lengths, times, elements):
    """Interpolates between the neighbours that were measured. The result is never less than the shortest time."""
    place = min(max(bisect.bisect_left(lengths, elements), 1), len(times) - 1)
    slope = (times[place] - times[place - 1]) / (lengths[place] - lengths[place - 1])
    return max(times[place - 1] + max(slope, 0.0) * (elements - lengths[place - 1]), times[0])


@dataclasses.dataclass
class Row:
    """The gain on one axis, such as "shards, ranks 0, 1: weights": seconds of one run of each of its collectives."""
    axis: str
    exact: float = 0.0
    compressed: float = 0.0
    measured: float | None = None  # of the collectives that ran, as they were chosen
    collectives: int = 0
    chosen: int = 0  # the compressed ones

    def data(self):
        return dataclasses.asdict(self)


def warn_of(row):
    """Warns that some collectives are left uncompressed."""
    if row.chosen < row.collectives:
        warn(f"{row.axis}: {row.collectives - row.chosen} of {row.collectives} collectives travel exact, which codecs would make slower here "
             "(never_slower=True); report() has the times")


def table(rows):
    """Returns the rows as text with a head, or "" where there are none."""
    if not rows:
        return ""
    lines = [("axis", "predicted exact", "predicted compressed", "measured", "chosen")]
    for row in rows:
        chosen = "compressed" if row.chosen == row.collectives else "exact" if not row.chosen else \
            f"compressed {row.chosen} of {row.collectives}"
        lines.append((row.axis, _milliseconds(row.exact), _milliseconds(row.compressed), _milliseconds(row.measured), chosen))
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "".join("  ".join([line[0].ljust(widths[0]), *(each.rjust(width) for each, width in zip(line[1:-1], widths[1:-1])), line[-1]]) + "\n"
                   for line in lines)


def _milliseconds(seconds):
    return "-" if seconds is None else f"{1000 * seconds:.3g} ms"
