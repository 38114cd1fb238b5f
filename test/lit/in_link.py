"""lit in a folder whose name has spaces: what tests write in their RUN lines is not quoted, so they see it through a link."""

import atexit
import os
import shutil
import tempfile

import lit.formats


def without_spaces(path):
    """A path to the same folder that a shell reads as one word. A link, where it takes one, lasts as long as this process."""
    if not any(letter.isspace() for letter in path):
        return path
    folder = tempfile.mkdtemp(prefix="cgx-lit-")
    made_by = os.getpid()  # the processes that run tests end before it
    atexit.register(lambda: os.getpid() == made_by and shutil.rmtree(folder, ignore_errors=True))
    link = os.path.join(folder, "link")
    os.symlink(path, link)
    return link


class ShTestInLink(lit.formats.ShTest):
    """ShTest whose `%s` and `%t` are below the given folders. lit itself resolves links."""

    def __init__(self, source_root, exec_root):
        super().__init__(execute_external=False)
        self.roots = source_root, exec_root

    def execute(self, test, lit_config):
        test.suite.source_root, test.suite.exec_root = self.roots
        return super().execute(test, lit_config)
