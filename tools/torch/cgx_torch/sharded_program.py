"""Asks the compiler about a sharded model: all-gathers of weights, and reduce-scatters and all-reduces of gradients."""

import dataclasses

from cgx_core import layers
from cgx_torch.module import element_type


@dataclasses.dataclass
class Exchange:
    """One collective: the layers of one module, in one direction.

    `direction` is what users call it: "weights", "gradients", or "replicas" of the second hop of gradients. `collective` is one
    of _SIZES. `layers` are `fsdp.Layer`s, `dtype` is that of the elements as they travel. With `counts`, the exchange says which
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
        """Returns the kind of its layers, in the words of the user."""
        return "weight" if self.direction == "weights" else "gradient"


# These tables give the size of a collective's input relative to a shard on `n` ranks, and its attributes.
_SIZES = {"all_gather": lambda n: 1, "reduce_scatter": lambda n: n, "all_reduce": lambda n: 1}
_DETAILS = {"all_gather": {"dim": 0}, "reduce_scatter": {"dim": 0, "reduction": "sum"}, "all_reduce": {"reduction": "sum"}}


def collectives_of(exchanges, ranks):
    """The collectives of a step. Operands are flat, of whole shards with their padding: of a gather and of an all-reduce this
    rank's, of a reduce-scatter those of all ranks, one behind the other. Random numbers belong to the place of a layer in its module,
    whatever travels with it."""
    return [_collective(each, _SIZES[each.collective](ranks)) for each in exchanges]


def _collective(exchange, times):
    # An operand of kind "other" has no codec.
    kind = "other" if exchange.exact else exchange.kind
    operands = [layers.operand(layer.name, kind, element_type(layer.name, exchange.dtype), [layer.shard * times],
                               (exchange.number, layer.place), layer.shape) for layer in exchange.layers]
    if exchange.counts is not None:
        operands.append(layers.operand(exchange.counts, "other", "f32", [times], (exchange.number, 1 << 30), [times]))
    return layers.collective(exchange.number, exchange.collective, operands, **_DETAILS[exchange.collective])
