"""A codec as a value, where options take one in words."""

import dataclasses

from cgx_core.choices import check_choice

FAMILIES = ("quantize", "identity", "ternary", "sign", "natural", "cast", "topk", "randk", "threshold", "adaptive_threshold", "lossless",
            "gcomp", "lowrank", "eden")


@dataclasses.dataclass(frozen=True)
class Codec:
    """The way in which elements are encoded: a family and its parameters, which docs/codecs.md lists with their ranges. A
    parameter that is None has the family's default.

        cgx.compress(model, gradients=cgx.Codec("topk", density=0.01, error_feedback="f32"), weights=cgx.Codec(bits=8, bucket=1024))

    It is equal to its words, which every option of a codec takes: str(Codec(bits=8)) is "quantize bits=8".

    Attributes:
      family: one of FAMILIES.
      bits: of a level, 1 to 8 (quantize, eden, topk).
      bucket: elements that share one scale or threshold.
      rounding: "stochastic", "nearest" or "random_shift" (quantize).
      scale: what scales are stored as, "bf16" or "f32".
      scaling: what the levels of a bucket span, "min_max", "max_abs" or "l2" (quantize).
      levels: "uniform", "exponential" or "learned" (quantize).
      rotate: "hadamard" mixes elements before they are encoded.
      magnitude: what the elements of one sign become, "means" or "norm" (sign).
      format: "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "mxfp8", "mxfp4" or "nvfp4" (cast).
      density: the share of elements that is sent (topk, randk).
      threshold: the smallest magnitude that is sent (threshold, adaptive_threshold).
      rank: of the factors that are sent (lowrank).
      optimizer, learning_rate, momentum, dampening, beta1, beta2, weight_decay, epsilon, truncation: of gcomp, which keeps the bits
        that the optimizer does not round away.
      checksum: True ends payloads in a checksum.
      error_feedback: "f32", "bf16" or "int8" keep what encoding loses, and add it to what is sent next.
      error_feedback_decay: the share of it that is added.
      back_codec: another Codec for what an all-reduce sends back.
      delta: "f32" or "bf16" send what has changed since last time (activations, weights).
      samples: how many samples there are, with `delta` of activations.

    Raises:
      ValueError: there is no such family. Which values a family takes, the compiler says when the codec is used.
    """
    family: str = "quantize"
    _: dataclasses.KW_ONLY
    bits: int | None = None
    bucket: int | str | None = None
    rounding: str | None = None
    scale: str | None = None
    scaling: str | None = None
    levels: str | None = None
    rotate: str | None = None
    magnitude: str | None = None
    format: str | None = None
    density: float | None = None
    threshold: float | None = None
    rank: int | None = None
    optimizer: str | None = None
    learning_rate: float | None = None
    momentum: float | None = None
    dampening: float | None = None
    beta1: float | None = None
    beta2: float | None = None
    weight_decay: float | None = None
    epsilon: float | None = None
    truncation: int | None = None
    checksum: bool = False
    error_feedback: str | None = None
    error_feedback_decay: float | None = None
    back_codec: "Codec | str | None" = None
    delta: str | None = None
    samples: int | None = None

    def __post_init__(self):
        check_choice("family", self.family, FAMILIES)

    def parameters(self):
        """Returns {name: value} of the parameters that were given, with underscores; a flag is True."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)[1:]}
        return {name: value for name, value in values.items() if value is not None and value is not False}

    def __str__(self):
        words = [self.family]
        for name, value in self.parameters().items():
            words.append(name.replace("_", "-") if value is True else f"{name.replace('_', '-')}={_in_one_word(value)}")
        return " ".join(words)


def _in_one_word(value):
    """Returns a value in one word, in brackets if it is a codec with parameters."""
    if not isinstance(value, Codec):
        return str(value)
    family, _, parameters = str(value).partition(" ")
    return f"{family}<{parameters.replace('-', '_')}>" if parameters else family


def in_words(options):
    """Returns options with codecs in the compiler's form: `codec` is a family, whose parameters are options beside it,
    and every other codec is text. Raises TypeError where a parameter is given twice."""
    options = dict(options)
    if isinstance(codec := options.get("codec"), Codec):
        parameters = {name: _in_one_word(value) if isinstance(value, Codec) else value for name, value in codec.parameters().items()}
        twice = sorted(name for name in parameters if options.get(name) is not None)
        if twice:
            raise TypeError(f"expected {twice[0]} in the codec or beside it, got both: {codec}, {twice[0]}={options[twice[0]]!r}")
        options |= {"codec": codec.family, **parameters}
    return {name: str(value) if isinstance(value, Codec) else value for name, value in options.items()}
