"""An FX graph of aten operations as text for the compiler, which finds out what each of its reductions reduces.

Arithmetic that keeps elements is printed as operations of StableHLO, whose meaning the compiler knows; everything else as a
call that it does not look into. Nothing is decided here.
"""

import math
import operator

import torch
from cgx_torch.module import FLOATS

_TYPES = FLOATS | {torch.int64: "i64", torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "ui8",
                   torch.bool: "i1", torch.complex64: "complex<f32>", torch.complex128: "complex<f64>"}
# aten name: operation of StableHLO.
_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "maximum": "maximum", "minimum": "minimum"}
_UNARY = {"neg": "negate", "sqrt": "sqrt", "rsqrt": "rsqrt", "abs": "abs", "exp": "exponential", "log": "log", "tanh": "tanh",
          "sigmoid": "logistic", "sign": "sign"}
_SAME = {"alias", "clone", "detach", "contiguous", "lift_fresh_copy"}
_RESHAPES = {"view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten"}
_CONVERTS = {"_to_copy", "convert_element_type"}


def name_of(node):
    """Returns a name such as `aten.add`, or "" for a node that is no operation."""
    schema = getattr(node.target, "_schema", None)
    return schema.name.replace("::", ".") if schema is not None else ""


def value_of(node):
    """Returns the value of a node: a tensor without data, or another object; None where it is not known."""
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def is_tensor(node):
    return isinstance(value_of(node), torch.Tensor)


def type_of(node):
    return _type_of_value(value_of(node))


def _tensor(sizes, element):
    return f"tensor<{'x'.join([*map(str, sizes), element])}>"


def _quoted(name):
    """Returns a text as a string literal of MLIR."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:02X}"
                         for byte in name.encode()) + '"'


def text_of_means(gradients, ranks):
    """Returns the program of one rank that averages gradients, {name: tensor}, over all ranks, and does nothing else."""
    everyone = f"#cgx.groups<[[{', '.join(map(str, range(ranks)))}]]>"
    types = [_type_of_value(value) for value in gradients.values()]
    lines = [f"    %{number} = cgx.all_reduce mean(%arg{number}) {{origins = array<i64: {number}, 0>, id = {number} : i64, "
             f"groups = {everyone}, codecs = [#cgx.identity], layers = [#cgx.layer<{_quoted(name)}, gradient>]}} : {types[number]}"
             for number, name in enumerate(gradients)]
    arguments = ", ".join(f"%arg{number}: {each}" for number, each in enumerate(types))
    results = ", ".join(f"%{number}" for number in range(len(types)))
    return "\n".join([f"module attributes {{cgx.num_ranks = {ranks} : i64}} {{",
                      f"  func.func public @main({arguments}) -> ({', '.join(types)}) {{", *lines,
                      f"    return {results} : {', '.join(types)}", "  }", "}", ""])


class Printer:
    """Prints one graph.

    Args:
      graph: of which collectives are to be found.
      numbers: {node of an all-reduce: its number}.
      kinds: {node of an all-reduce: "sum" or "mean"}.
      names: of the placeholders; None where there are none.
      ranks: how many take part.
    """

    def __init__(self, graph, numbers, kinds, names, ranks):
        self._graph, self._numbers, self._kinds, self._names, self._ranks = graph, numbers, kinds, names, ranks
        self._lines, self._values, self._count = [], {}, 0

    def text(self):
        arguments, written = [], []
        placeholders = [node for node in self._graph.nodes if node.op == "placeholder"]
        for index, node in enumerate(placeholders):
            if is_tensor(node):
                self._values[node] = f"%arg{len(arguments)}"
                name = self._names[index] if self._names and len(self._names) == len(placeholders) else node.name
                arguments.append(f"{self._values[node]}: {type_of(node)} loc({_quoted(name)})")
        for node in self._graph.nodes:
            if node.op == "get_attr":
                self._opaque(node)
            elif node.op == "call_function":
                self._operation(node)
                if name_of(node) == "aten.copy_" and node.args[0] in placeholders:
                    written.append(node)
        output = next(node for node in self._graph.nodes if node.op == "output")
        leaves = []
        torch.fx.map_arg(output.args, lambda each: leaves.append(each))
        results = [each for each in [*written, *leaves] if each in self._values]
        listed = ", ".join(type_of(each) for each in results)
        end = f"    return {', '.join(self._values[each] for each in results)} : {listed}" if results else "    return"
        return "\n".join([f"module attributes {{cgx.caller_keeps_state, mhlo.num_partitions = {self._ranks} : i32, "
                          "mhlo.num_replicas = 1 : i32} {",
                          f"  func.func public @main({', '.join(arguments)}) -> ({listed}) {{", *self._lines, end, "  }", "}", ""])

    def _line(self, text, results=1):
        name = f"%{self._count}"
        self._count += 1
        self._lines.append(f"    {name}{f':{results}' if results > 1 else ''} = {text}")
        return name

    def _operation(self, node):
        name = name_of(node).partition(".")[2]
        if node in self._numbers:
            self._values[node] = self._reduction(node)
        elif name == "wait_tensor" or name in _SAME and is_tensor(node) and type_of(node) == type_of(node.args[0]):
            self._alias(node, node.args[0])
        elif name in ("copy", "copy_") and type_of(node) == type_of(node.args[1]):
            self._alias(node, node.args[1])
        elif node.target is operator.getitem:
            values = self._values.get(node.args[0])
            if isinstance(values, dict) and node.args[1] in values:
                self._values[node] = values[node.args[1]]
        elif not (is_tensor(node) and self._elementwise(node, name)):
            self._opaque(node)

    def _alias(self, node, of):
        if of in self._values:
            self._values[node] = self._values[of]

    def _reduction(self, node):
        number, kind = self._numbers[node], self._kinds[node]
        everyone = f"#cgx.groups<[[{', '.join(map(str, range(self._ranks)))}]]>"
        return self._line(f"cgx.all_reduce {kind}({self._values[node.args[0]]}) {{origins = array<i64: {number}, 0>, "
                          f"id = {number} : i64, groups = {everyone}, codecs = [#cgx.identity], "
                          f'layers = [#cgx.layer<"", other>]}} : {type_of(node)}')

    def _elementwise(self, node, name):
        """Prints an elementwise operation. Returns false for any other node."""
        type_ = type_of(node)
        if name in _BINARY and node.kwargs.get("rounding_mode") is None:
            scale = node.kwargs.get("alpha", 1)
            operands = [self._as(each, node) for each in node.args[:2]]
            if None in operands or not isinstance(scale, (int, float)):
                return False
            if scale != 1:
                operands[1] = self._line(f"stablehlo.multiply {operands[1]}, {self._constant(scale, node)} : {type_}")
            self._values[node] = self._line(f"stablehlo.{_BINARY[name]} {operands[0]}, {operands[1]} : {type_}")
        elif name in _UNARY or name in _CONVERTS:
            operand = self._as(node.args[0], node)
            if operand is None:
                return False
            self._values[node] = operand if name in _CONVERTS else self._line(f"stablehlo.{_UNARY[name]} {operand} : {type_}")
        elif name == "pow" and node.args[1] == 2:
            operand = self._as(node.args[0], node)
            if operand is None:
                return False
            self._values[node] = self._line(f"stablehlo.multiply {operand}, {operand} : {type_}")
        elif name == "where" and len(node.args) == 3:
            chosen, operands = self._broadcast(node.args[0], node), [self._as(each, node) for each in node.args[1:]]
            if chosen is None or None in operands:
                return False
            truths = _tensor(_sizes(node), "i1")
            self._values[node] = self._line(f"stablehlo.select {chosen}, {operands[0]}, {operands[1]} : {truths}, {type_}")
        elif name in _RESHAPES and node.args[0] in self._values:
            self._values[node] = self._line(f"stablehlo.reshape {self._values[node.args[0]]} : ({type_of(node.args[0])}) -> {type_}")
        elif name in ("permute", "t", "transpose") and node.args[0] in self._values:
            order = _order(node, name)
            self._values[node] = self._line(f"stablehlo.transpose {self._values[node.args[0]]}, dims = [{', '.join(map(str, order))}] "
                                            f": ({type_of(node.args[0])}) -> {type_}")
        elif name == "full" and (constant := self._constant(node.args[1], node)):
            self._values[node] = constant
        else:
            return False
        return True

    def _as(self, operand, node):
        """Returns an operand, broadcast and converted to the shape and element type of a node."""
        if isinstance(operand, (int, float)):
            return self._constant(operand, node)
        value = self._broadcast(operand, node)
        if value is None:
            return None
        given, wanted = _TYPES.get(value_of(operand).dtype), _TYPES.get(value_of(node).dtype)
        if given == wanted:
            return value
        return self._line(f"stablehlo.convert {value} : ({_tensor(_sizes(node), given)}) -> {type_of(node)}")

    def _broadcast(self, operand, node):
        if operand not in self._values or not is_tensor(operand):
            return None
        value, own, wanted = self._values[operand], _sizes(operand), _sizes(node)
        if own == wanted:
            return value
        places = range(len(wanted) - len(own), len(wanted))
        element = _TYPES.get(value_of(operand).dtype)
        return self._line(f"stablehlo.broadcast_in_dim {value}, dims = [{', '.join(map(str, places))}] : "
                          f"({type_of(operand)}) -> {_tensor(wanted, element)}")

    def _constant(self, value, node):
        element = _TYPES.get(value_of(node).dtype, "")
        if not isinstance(value, (int, float)) or not math.isfinite(value) or element.startswith("complex"):
            return None
        text = str(bool(value)).lower() if element == "i1" else f"{float(value):.17e}" if value_of(node).dtype in FLOATS else str(int(value))
        return self._line(f"stablehlo.constant dense<{text}> : {type_of(node)}")

    def _opaque(self, node):
        """Prints a call that the compiler does not look into."""
        operands = []
        torch.fx.map_arg((node.args, node.kwargs), lambda each: operands.append(each))
        operands = [each for each in operands if each in self._values and is_tensor(each)]
        made = value_of(node)
        several = isinstance(made, (tuple, list))
        places = [index for index, each in enumerate(made) if isinstance(each, torch.Tensor)] if several else [0]
        if not several and not isinstance(made, torch.Tensor) or not places:
            return
        types = [_type_of_value(made[index]) for index in places] if several else [type_of(node)]
        name = self._line(f"stablehlo.custom_call @{_quoted('torch.' + (name_of(node) or node.name))}"
                          f"({', '.join(self._values[each] for each in operands)}) : "
                          f"({', '.join(type_of(each) for each in operands)}) -> ({', '.join(types)})", len(places))
        if several:
            self._values[node] = {place: f"{name}#{index}" if len(places) > 1 else name for index, place in enumerate(places)}
        else:
            self._values[node] = name


def _sizes(node):
    return _sizes_of_value(value_of(node))


def _sizes_of_value(value):
    # Sizes that change from call to call have the value that they were compiled with.
    return [size if isinstance(size, int) else int(size.node.hint or 1) for size in value.shape]


def _type_of_value(value):
    return _tensor(_sizes_of_value(value), _TYPES.get(value.dtype, "i8"))


def _order(node, name):
    rank = len(_sizes(node))
    if name == "permute":
        return [each % rank for each in node.args[1]]
    order = list(range(rank))
    if rank > 1:
        left, right = (0, 1) if name == "t" else (node.args[1] % rank, node.args[2] % rank)
        order[left], order[right] = order[right], order[left]
    return order
