"""Reads CGX in the environment: options of `install`, for scripts that do not mention cgx."""

import os
import shlex


def options_of(text):
    """Returns options of `cgx.install`, parsed from words such as `bits=4 exclude=*embed* "gradients=bits=4
    bucket=64"`. Raises ValueError."""
    options = {}
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f'CGX={text!r}: expected options of cgx.install, such as CGX="bits=4 exclude=*embed*", got {word!r}')
        options[name] = {"True": True, "False": False}.get(value, int(value) if value.isdecimal() else value)
    return options


def given():
    """Returns the options of this process, or None where it is to be left alone. They include those of a file that
    `config=cgx.toml` names; options written beside it take precedence."""
    options = options_of(os.environ.get("CGX", ""))
    config = options.pop("config", None)
    if config is None:
        return options
    from cgx_core.config_file import read_options
    return {**read_options(config), **options}
