"""Where files go that the package writes, as the tools write theirs (runtime/output).

A link stays a link, and what it leads to is replaced as a whole: readers see the old bytes or all new ones.
What is no regular file, like a pipe or /dev/stdout, is written to.
"""

import os
import secrets


def make_folder(path):
    """Makes a folder, and those above it, where they are not there yet.

    Their owner may use what is new whatever the umask: what is about to be written there could not be."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return
    if os.path.dirname(path) != path:
        make_folder(os.path.dirname(path))
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):  # made by another process meanwhile is as good
            raise
        return
    mode = os.stat(path).st_mode & 0o7777
    if mode & 0o700 != 0o700:
        os.chmod(path, mode | 0o700)


def write(path, pieces):
    """Writes bytes, one piece behind the other, to a file.

    Args:
      path: the file; replaced if it exists, with its permissions kept.
      pieces: an iterable of bytes.
    """
    path = os.fspath(path)
    if os.path.exists(path) and not _is_replaceable(path):
        with open(path, "ab") as file:  # behind what a shell has written there
            file.writelines(pieces)
        return
    path = os.path.realpath(path)
    partial = f"{path}.part{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(partial, flags, 0o666), "wb") as file:
            if os.path.exists(path):
                os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:  # an interrupt as well
        try:
            os.unlink(partial)
        except FileNotFoundError:
            pass
        raise


def _is_replaceable(path):
    """Whether it is a regular file with a name of its own, which descriptors in /dev/fd and /proc have not."""
    return os.path.isfile(path) and not os.path.abspath(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
