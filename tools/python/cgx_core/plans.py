"""Plans of codecs in the forms that users pass: a path, or the result of json.load."""

import contextlib
import json
import os
import pathlib
import tempfile


def plan_text(plan):
    """Returns the JSON text of a plan."""
    return pathlib.Path(plan).read_text() if isinstance(plan, (str, os.PathLike)) else json.dumps(plan)


@contextlib.contextmanager
def plan_file(plan):
    """Provides the path of a plan for the compiler, which reads files; None where there is no plan."""
    if plan is None or isinstance(plan, (str, os.PathLike)):
        yield None if plan is None else os.fspath(plan)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(plan_text(plan))
        file.flush()
        yield file.name
