"""Asks the runtime which layers are compressed, and how, where no program has to be analyzed. It loads no compiler."""

import ctypes
import functools
import json

from cgx_core.compiler import Compilation, CompileError, Diagnostic, pipeline
from cgx_core.libraries import open_library, text


@functools.cache
def _library():
    library = open_library("cgx_runtime")
    handle = ctypes.c_void_p
    library.cgx_decision_create.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(handle)]
    library.cgx_decision_create.restype = ctypes.c_int
    library.cgx_decision_destroy.argtypes, library.cgx_decision_destroy.restype = [handle], None
    for name in ("manifest", "report", "report_json", "diagnostics"):
        function = getattr(library, f"cgx_decision_{name}")
        function.argtypes, function.restype = [handle], ctypes.c_char_p
    library.cgx_last_error.restype = ctypes.c_char_p
    return library


def operand(layer, kind, dtype, shape, origin, layer_shape=None):
    """Returns a layer in a collective.

    Args:
      layer: its name.
      kind: "gradient", "weight" or "other".
      dtype: of its elements, "f32".
      shape: of what one rank puts in.
      origin: two numbers, in whose order random numbers are selected: whatever travels with it.
      layer_shape: of the parameter, where what travels has another.
    """
    own = {} if layer_shape is None else {"layer_shape": list(layer_shape)}
    return {"layer": layer, "kind": kind, "dtype": dtype, "shape": list(shape), "origin": list(origin), **own}


def collective(number, kind, operands, **more):
    """Returns a collective between all ranks: an "all_reduce" or "reduce_scatter" with a `reduction`, or an
    "all_gather"; the latter two along a `dim`."""
    return {"id": number, "kind": kind, "operands": operands, **more}


def decide(ranks, collectives, options):
    """Decides what `cgx-opt --cgx-compress --cgx-report --cgx-emit-manifest` would make of a program with these
    collectives.

    Args:
      options: of `cgx-compress`, as of `compiler.pipeline`.

    Raises:
      CompileError: an option is wrong.
    """
    library, words = _library(), pipeline("cgx-compress", options)
    table = json.dumps({"cgx_layers": 1, "ranks": ranks, "collectives": collectives})
    handle = ctypes.c_void_p()
    if library.cgx_decision_create(table.encode(), words.partition("=")[2].encode(), ctypes.byref(handle)):
        raise CompileError(text(library.cgx_last_error()))
    try:
        manifest = text(library.cgx_decision_manifest(handle))
        said = json.loads(text(library.cgx_decision_diagnostics(handle)))
        return Compilation("", json.loads(manifest), manifest, text(library.cgx_decision_report(handle)),
                           json.loads(text(library.cgx_decision_report_json(handle))),
                           tuple(Diagnostic(each["severity"], "", 0, 0, each["message"]) for each in said), (words,))
    finally:
        library.cgx_decision_destroy(handle)
