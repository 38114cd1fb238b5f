"""Reads the signature of a step from the text that JAX printed.

The compiler knows an argument by the name in its location, so the files written next to the text have to agree with the
text itself, not with an assumption about what JAX prints.
"""

import re
import typing


class Argument(typing.NamedTuple):
    """An argument of `@main`: `state['w']`, `tensor<64x10xf32>`. The name is None when the
    text has no location for it."""
    name: typing.Optional[str]
    type: str


_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_OPEN, _CLOSE = "([{<", ")]}>"


def main_arguments(text):
    """Returns the arguments of `@main`, in order.

    Args:
      text: what `lowered.as_text(debug_info=True)` returned.

    Raises:
      ValueError: there is no public function `main`.
    """
    match = re.search(r"func\.func public @main\(", text)
    if not match:
        raise ValueError("expected a public function @main in the text that JAX printed")
    return [_argument(part, text) for part in _split(text, match.end())]


def _split(text, begin):
    """Returns the comma-separated parts from `begin` to the parenthesis that closes them."""
    parts, depth, start, at = [], 0, begin, begin
    while True:
        string = _STRING.match(text, at)
        if string:
            at = string.end()
            continue
        if text.startswith("->", at):
            at += 2
            continue
        if depth == 0 and text[at] in ",)":
            if text[start:at].strip():
                parts.append(text[start:at].strip())
            if text[at] == ")":
                return parts
            start = at + 1
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        at += 1


def _argument(part, text):
    """Parses `%arg0: tensor<4xf32> {...} loc("state['w']")`, or `loc(#loc3)`."""
    type_ = re.match(r"%\w+:\s*([\w!.]+(?:<(?:[^<>]|<[^<>]*>)*>)?)", part)
    location = re.search(r"loc\((#\w+|\"(?:[^\"\\]|\\.)*\")[^\"]*\)$", part)
    name = location.group(1) if location else None
    if name and name.startswith("#"):
        alias = re.search(rf"^{re.escape(name)} = loc\((\"(?:[^\"\\]|\\.)*\")", text, re.M)
        name = alias.group(1) if alias else None
    return Argument(_unescape(name[1:-1]) if name else None, type_.group(1) if type_ else part)


def _unescape(quoted):
    """Undoes MLIR's escapes: backslash, quote, \\n, \\t, and two hexadecimal digits."""
    plain = {"\\": "\\", '"': '"', "n": "\n", "t": "\t"}
    return re.sub(r"\\([\\\"nt]|[0-9A-Fa-f]{2})",
                  lambda m: plain.get(m.group(1)) or chr(int(m.group(1), 16)), quoted)


_ELEMENTS = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint64": "ui64", "uint32": "ui32", "uint16": "ui16", "uint8": "ui8", "bool": "i1",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
    "int4": "i4", "int2": "i2", "uint4": "ui4", "uint2": "ui2",
}


def tensor_type(shape, dtype):
    """Returns the type of an array in the spelling of the text: `tensor<64x10xf32>`, `tensor<i32>`."""
    element = _ELEMENTS.get(dtype.name)
    if element is None:  # float8_e4m3fn is f8E4M3FN
        element = re.sub(r"^float(\d+)_(\w+)$", lambda m: f"f{m.group(1)}{m.group(2).upper()}", dtype.name)
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def replicas(text):
    """Returns the number of replicas that the module is for: more than one only under jax.pmap before JAX 0.8."""
    match = re.search(r"^module .*mhlo\.num_replicas = (\d+)", text, re.M)
    return int(match.group(1)) if match else 1
