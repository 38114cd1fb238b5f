"""What the compiler is asked of a sharded model: a program of all-gathers of weights, and reduce-scatters and all-reduces of gradients."""

import dataclasses

from cgx_torch.module import _ELEMENT_TYPES as ELEMENT_TYPES, _quoted as quoted


@dataclasses.dataclass
class Exchange:
    """One collective: the layers of one module, in one direction.

    `direction` is what users call it: "weights", "gradients", or "replicas" of the second hop of gradients. `collective` is one
    of _TEXTS. `layers` are `fsdp.Layer`s, `dtype` is that of the elements as they travel. With `counts`, the exchange says which
    layers took part, by an exact operand of one number for each place that sums are made for. `exact` has all of it travel without
    codecs."""
    number: int
    direction: str
    collective: str
    layers: list
    dtype: object
    counts: str | None = None
    exact: bool = False

    @property
    def kind(self):
        """What its layers are, as users call it."""
        return "weight" if self.direction == "weights" else "gradient"


# How the compiler calls a collective, and by how much its inputs and its outputs are larger than shards on `n` ranks.
_TEXTS = {"all_gather": ("all_gather", " dim(0)", lambda n: (1, n)),
          "reduce_scatter": ("reduce_scatter sum", " dim(0)", lambda n: (n, 1)),
          "all_reduce": ("all_reduce sum", "", lambda n: (1, 1))}


def text_of(exchanges, ranks):
    """The program of one rank. Operands are flat, of whole shards with their padding: of a gather and of an all-reduce this
    rank's, of a reduce-scatter those of all ranks, one behind the other. Random numbers belong to the place of a layer in its module, whatever travels with
    it."""
    groups = f"[[{', '.join(map(str, range(ranks)))}]]"
    lines, inputs, outputs = [], [], []
    for each in exchanges:
        # What is of another kind has no codec.
        kind, element = "other" if each.exact else each.kind, ELEMENT_TYPES[each.dtype]
        called, dimension, sizes = _TEXTS[each.collective]
        larger = sizes(ranks)
        operands = [(layer.shard, element, f"layer({quoted(layer.name)}, {kind}, {list(layer.shape)})", layer.place)
                    for layer in each.layers]
        if each.counts is not None:
            operands.append((1, "f32", f"layer({quoted(each.counts)}, other, [{larger[0]}])", 1 << 30))
        taken, given = ([f"tensor<{size * times}x{type_}>" for size, type_, _, _ in operands] for times in larger)
        values = [f"%arg{len(inputs) + index}" for index in range(len(operands))]
        result = f"%{each.number}"
        results = [result] if len(operands) == 1 else [f"{result}#{index}" for index in range(len(operands))]
        declared = result if len(operands) == 1 else f"{result}:{len(operands)}"
        origins = ", ".join(f"{each.number}, {place}" for *_, place in operands)
        lines.append(f"    {declared} = cgx.{called}({', '.join(values)}) "
                     f"codec({', '.join(['identity'] * len(operands))}){dimension} groups({groups}) id({each.number}) "
                     f"{' '.join(clause for _, _, clause, _ in operands)} origins({origins}) : "
                     + (f"({', '.join(taken)}) -> ({', '.join(given)})" if dimension else ", ".join(taken)))
        inputs += zip(values, taken)
        outputs += zip(results, given)
    listed = ", ".join(type_ for _, type_ in outputs)
    return "\n".join([f"module attributes {{cgx.num_ranks = {ranks} : i64}} {{",
                      f"  func.func public @main({', '.join(f'{value}: {type_}' for value, type_ in inputs)}) -> ({listed}) {{",
                      *lines, f"    return {', '.join(value for value, _ in outputs)} : {listed}", "  }", "}", ""])
