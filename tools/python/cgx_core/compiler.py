"""Asks the compiler of cgx (libcgx_compiler.so): every decision about a step is made there."""

import ctypes
import dataclasses
import functools
import json
import re

from cgx_core.codecs import in_words
from cgx_core.libraries import open_library, text


class CompileError(RuntimeError):
    """The compiler rejected a step. The message contains the diagnostics with their places."""


class _Input(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32), ("source", ctypes.c_char_p),
                ("source_bytes", ctypes.c_size_t), ("name", ctypes.c_char_p),
                ("options", ctypes.POINTER(ctypes.c_char_p)), ("option_count", ctypes.c_size_t)]


class _Diagnostic(ctypes.Structure):
    _fields_ = [("severity", ctypes.c_int), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("column", ctypes.c_uint32), ("message", ctypes.c_char_p)]


_ABI_VERSION = 1
_SEVERITIES = ("error", "warning", "remark", "note")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler about one place of a step."""
    severity: str
    file: str
    line: int
    column: int
    message: str

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        return f"{place}{self.severity}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Compilation:
    """A rewritten module. `manifest` is None where no pass made one; `report` is the text for people,
    `report_json` the same for programs; `options` are those of `run`."""
    module: str
    manifest: dict | None
    manifest_text: str
    report: str
    report_json: dict | None
    diagnostics: tuple
    options: tuple = ()


@functools.cache
def _library():
    library = open_library("cgx_compiler")
    handle = ctypes.c_void_p
    library.cgx_compiler_run.argtypes = [ctypes.POINTER(_Input), ctypes.POINTER(handle)]
    library.cgx_compiler_run.restype = ctypes.c_int
    for name in ("module", "manifest", "report", "report_json"):
        function = getattr(library, f"cgx_compilation_{name}")
        function.argtypes, function.restype = [handle], ctypes.c_char_p
    library.cgx_compilation_diagnostic_count.argtypes = [handle]
    library.cgx_compilation_diagnostic_count.restype = ctypes.c_size_t
    library.cgx_compilation_diagnostic.argtypes = [handle, ctypes.c_size_t]
    library.cgx_compilation_diagnostic.restype = _Diagnostic
    library.cgx_compilation_destroy.argtypes = [handle]
    library.cgx_compilation_destroy.restype = None
    library.cgx_compiler_version.restype = ctypes.c_char_p
    return library


def version():
    """Returns the version of the compiler."""
    return text(_library().cgx_compiler_version())


def run(module, options, name="<step>"):
    """Runs passes on the text of a module.

    Args:
      module: MLIR text.
      options: as the command line of `cgx-opt` has them: ["--cgx-compress=bits=4", "--cgx-report"].
      name: what diagnostics call the module where they know no better place.

    Raises:
      CompileError: the compiler refused an option or the module.
    """
    library = _library()
    source = module.encode()
    arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    request = _Input(ctypes.sizeof(_Input), _ABI_VERSION, source, len(source), name.encode(), arguments, len(options))
    handle = ctypes.c_void_p()
    status = library.cgx_compiler_run(ctypes.byref(request), ctypes.byref(handle))
    if not handle:
        raise CompileError(f"libcgx_compiler.so does not fit this package (status {status}): install both from one "
                           "version of cgx")
    try:
        diagnostics = tuple(_diagnostic(library.cgx_compilation_diagnostic(handle, index))
                            for index in range(library.cgx_compilation_diagnostic_count(handle)))
        if status:
            said = [str(each) for each in diagnostics if each.severity in ("error", "note")]
            raise CompileError("\n".join(said) or f"the compiler failed with status {status}")
        manifest = text(library.cgx_compilation_manifest(handle))
        report_json = text(library.cgx_compilation_report_json(handle))
        return Compilation(text(library.cgx_compilation_module(handle)), json.loads(manifest) if manifest else None,
                           manifest, text(library.cgx_compilation_report(handle)),
                           json.loads(report_json) if report_json else None, diagnostics, tuple(options))
    finally:
        library.cgx_compilation_destroy(handle)


def _diagnostic(raw):
    return Diagnostic(_SEVERITIES[raw.severity], text(raw.file), raw.line, raw.column, text(raw.message))


def words_of(options):
    """Returns {name: value} of the options that `pipeline` has written, for all passes together; a flag's value is
    "on"."""
    words = {}
    for option in options:
        for name, value in re.findall(r"([\w-]+)(?:=(\{[^}]*\}|\S+))?(?:\s|$)", option.partition("=")[2]):
            words[name] = value.strip("{}") or "on"
    return words


def pipeline(name, values):
    """Returns one option of `run`: a pass or pipeline, with its options from Python values. `None` and empty lists are
    left out, `True` is a flag, sequences are lists, codecs are text, and underscores in names become dashes."""
    words = []
    for key, value in in_words(values).items():
        if value is None or value is False or (isinstance(value, (list, tuple)) and not value):
            continue
        key = key.replace("_", "-")
        if value is True:
            words.append(key)
            continue
        if isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        value = str(value)
        words.append(f"{key}={{{value}}}" if " " in value else f"{key}={value}")
    return f"--{name}={' '.join(words)}" if words else f"--{name}"
