"""Writes the files of this package by the rules of the tools (runtime/output).

A link stays a link, and its target is replaced as a whole: readers see all old bytes or all new ones. A path that is no
regular file, such as a pipe or /dev/stdout, is written to.
"""

import os
import secrets


def make_folder(path):
    """Makes a folder and its missing parents. The owner may use the new ones whatever the umask is, because the files
    could not be written there otherwise.

    Their owner may use what is new whatever the umask: what is about to be written there could not be."""
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return
    if os.path.dirname(path) != path:
        make_folder(os.path.dirname(path))
    try:
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):  # it does not matter which process made it
            raise
        return
    mode = os.stat(path).st_mode & 0o7777
    if mode & 0o700 != 0o700:
        os.chmod(path, mode | 0o700)


def write(path, pieces):
    """Writes the pieces of bytes, one after the other, to a file.

    Args:
      path: the file; replaced if it exists, with its permissions kept.
      pieces: an iterable of bytes.
    """
    path = os.fspath(path)
    if os.path.exists(path) and not _is_replaceable(path):
        with open(path, "ab") as file:  # appends after the text that a shell has written there
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
    except BaseException:  # including an interrupt
        try:
            os.unlink(partial)
        except FileNotFoundError:
            pass
        raise


def _is_replaceable(path):
    """Returns true if it is a regular file with a name of its own, which descriptors in /dev/fd and /proc do not have."""
    return os.path.isfile(path) and not os.path.abspath(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
