"""What CGX in the environment says: options of `install`, for scripts that know nothing of cgx."""

import os
import shlex


def options_of(text):
    """Options of `cgx.install`, from words such as `bits=4 exclude=*embed* "gradients=bits=4 bucket=64"`. Raises ValueError."""
    options = {}
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise ValueError(f'CGX={text!r}: expected options of cgx.install, such as CGX="bits=4 exclude=*embed*", got {word!r}')
        options[name] = {"True": True, "False": False}.get(value, int(value) if value.isdecimal() else value)
    return options


def given():
    """The options of this process; none where it is to be left alone. Those of a file that `config=cgx.toml` names are among
    them, under what stands beside it."""
    options = options_of(os.environ.get("CGX", ""))
    config = options.pop("config", None)
    if config is None:
        return options
    from cgx_core.config_file import read_options
    return {**read_options(config), **options}
