"""One file in TOML with the options of a run, which `cgx-run --config` reads as well."""

import difflib
import pathlib
import re

from cgx_core import compiler
from cgx_core.adaptation import Adaptation

# These are the options of cgx-run by their long names, which a test compares. They are only known here, so that a
# config file of a run is accepted; the options below are used.
RUN_OPTIONS = frozenset("""
    adapt adapt-every address alpha candidate compress data device elastic eval eval-data eval-every eval-set feed first-step job
    keep-best keep-last learn-levels local-steps log-every members messages-in metrics no-cache pad-last plan profile
    profile-steps program progress quiet rank ranks reference rendezvous repeat report resume save save-every secret-file seed
    set shuffle state steps stop-on-nan streams timeout tls tls-ca tls-certificate tls-key trace transport until warmup
    write-plan""".split())
_SHARED = ("plan", "seed", "timeout", "transport")  # mean the same in a framework
# These options are for the Python functions, which check their values. All others are the compiler's.
_OF_PYTHON = frozenset("weights gradients report select name adapt plan transport seed timeout".split())

# The options are checked on this step: a gradient on two ranks.
_STEP = ("module attributes {cgx.num_ranks = 2 : i64} { func.func public @main(%w: tensor<64x64xf32>) -> tensor<64x64xf32> {"
         " %0 = cgx.all_reduce sum(%w) {id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],"
         ' layers = [#cgx.layer<"w", gradient>]} : tensor<64x64xf32> return %0 : tensor<64x64xf32> } }')


def read_options(path):
    """Returns options of `cgx.compress` and `cgx.install` from a file: those of its table [compress], and those that
    mean the same in a framework: plan, seed, timeout, transport, adapt with adapt-every, warmup and profile-steps.

    Raises:
      ValueError: the file is not TOML, or has a name that nobody knows; with its line.
      ImportError: this Python reads no TOML.
    """
    text = pathlib.Path(path).read_text(encoding="utf-8")
    toml = _toml()
    try:
        content = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise ValueError(f"{path}: expected TOML: {error}") from None
    for name, value in content.items():
        known = ["compress"] if isinstance(value, dict) else RUN_OPTIONS
        if name not in known:
            what = "the table [compress]" if isinstance(value, dict) else "the name of an option of cgx-run, or a table [compress]"
            raise ValueError(f"{_place(path, text, name)}: expected {what}, got '{name}'{_meant(name, [*known, 'compress'])}")
    options = _compress_options(path, text, content.get("compress", {}))
    options.update((name, content[name]) for name in _SHARED if name in content)
    if "adapt" in content:
        names = {"adapt-every": "every", "warmup": "warmup", "profile-steps": "profile_steps"}
        options["adapt"] = Adaptation(content["adapt"], **{names[name]: content[name] for name in names if name in content})
    return options


def _toml():
    try:
        import tomllib
        return tomllib
    except ImportError:
        pass
    try:
        import tomli
        return tomli
    except ImportError:
        raise ImportError("expected Python 3.11 or later, or the package tomli (pip install tomli), to read a config file") from None


def _compress_options(path, text, given):
    """Returns the options of the table, or of the text that `cgx-run --compress` takes."""
    if isinstance(given, str):
        given = {name: int(value) if value.isdecimal() else value.strip("{}") or True for name, value in re.findall(r"([\w-]+)(?:=(\{[^}]*\}|\S+))?", given)}
    options = {name.replace("-", "_"): value for name, value in given.items()}
    own = {name: value for name, value in options.items() if name not in _OF_PYTHON}
    try:
        compiler.run(_STEP, [compiler.pipeline("cgx-compress", own)], name="<options>")
    except compiler.CompileError as error:
        message = re.sub(r"(?m)^(\S+:\d+:\d+: )?(error: )?(--cgx-compress: )?", "", str(error))
        named = [name for name in given if re.search(rf"\b{re.escape(name.replace('_', '-'))}\b", message)]
        raise ValueError(f"{_place(path, text, named[0] if named else 'compress')}: {message}") from None
    return options


def _place(path, text, name):
    """Returns the place of a name, such as cgx.toml:3."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[?\s*[\"']?{re.escape(name)}\b", line):
            return f"{path}:{number}"
    return str(path)


def _meant(name, known):
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
