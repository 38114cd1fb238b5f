"""Surroundings in which the whole suite has to pass: the user, the folder, and the resources of the machine.

Each is a command that runs another command in it. Those that change what a process sees (another user, a smaller /dev/shm, a
read-only tree) make namespaces of their own, which end with it.
"""

import contextlib
import os
import pathlib
import pwd
import shutil
import stat
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Surrounding:
    """One of the surroundings.

    Attributes:
      name: for command lines.
      needs_root: whether only root can make it.
    """
    name = ""
    needs_root = False

    def why_not(self):
        """Returns why it is not possible here, or None."""
        if self.needs_root and os.geteuid() != 0:
            return "only root can make it"
        return None

    @contextlib.contextmanager
    def entered(self):
        """Provides (wrapper, environment): a command in front of another, and variables."""
        yield [], {}


class Plain(Surrounding):
    """The surroundings of this process, unchanged."""
    name = "plain"


class StrictMask(Surrounding):
    """umask 077: nobody else may read what is made."""
    name = "umask-077"

    @contextlib.contextmanager
    def entered(self):
        yield ["sh", "-c", 'umask 077; exec "$@"', "umask-077"], {}


class NoHome(Surrounding):
    """HOME is unset, as in many containers."""
    name = "no-home"

    @contextlib.contextmanager
    def entered(self):
        yield ["env", "-u", "HOME"], {}


class OneCore(Surrounding):
    """One core for everything."""
    name = "one-core"

    @contextlib.contextmanager
    def entered(self):
        yield ["taskset", "-c", "0"], {}


class Turkish(Surrounding):
    """A locale with a decimal comma, and whose upper case of i is not I."""
    name = "turkish"

    def why_not(self):
        return None if shutil.which("localedef") and pathlib.Path("/usr/share/i18n/locales/tr_TR").exists() else \
            "its source is not installed (Debian's package locales)"

    @contextlib.contextmanager
    def entered(self):
        with tempfile.TemporaryDirectory(prefix="cgx-locale-") as folder:
            os.chmod(folder, 0o755)
            subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", f"{folder}/tr_TR.UTF-8"], check=True, capture_output=True)
            yield [], {"LOCPATH": folder, "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}


class SmallSharedMemory(Surrounding):
    """/dev/shm of 64 MB, a container's default."""
    name = "small-shm"
    needs_root = True

    @contextlib.contextmanager
    def entered(self):
        yield ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64m,mode=1777 none /dev/shm; exec "$@"', "small-shm"], {}


class NoIpv6(Surrounding):
    """A network without IPv6."""
    name = "no-ipv6"
    needs_root = True

    @contextlib.contextmanager
    def entered(self):
        yield ["unshare", "--net", "sh", "-c", 'ip link set lo up; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; exec "$@"',
               "no-ipv6"], {}


class NoNamespaces(Surrounding):
    """Root who may make no namespaces and no mounts, as in most containers."""
    name = "no-namespaces"
    needs_root = True

    @contextlib.contextmanager
    def entered(self):
        yield ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--ambient-caps=-sys_admin"], {}


class ReadOnlyTree(Surrounding):
    """The sources cannot be written; the build can."""
    name = "read-only-tree"
    needs_root = True

    @contextlib.contextmanager
    def entered(self):
        script = ('mount --bind "$0" "$0" && mount --bind "$0/build" "$0/build" && mount -o remount,bind,ro "$0" && cd "$0" && '
                  'exec "$@"')
        yield ["unshare", "--mount", "sh", "-c", script, str(ROOT)], {}


class OrdinaryUser(Surrounding):
    """A user without rights, to whom the tree belongs. Where root asks, it is a copy, at the same place."""
    name = "user"
    needs_root = True
    _USER = "nobody"

    @contextlib.contextmanager
    def entered(self):
        user = pwd.getpwnam(self._USER)
        with tempfile.TemporaryDirectory(prefix="cgx-user-") as folder:
            os.chmod(folder, 0o755)
            home, copy = pathlib.Path(folder) / "home", pathlib.Path(folder) / "tree"
            home.mkdir()
            os.chown(home, user.pw_uid, user.pw_gid)
            # The Python environment is not copied: it takes gigabytes, and nothing writes to it.
            subprocess.run(["sh", "-c", 'mkdir "$2" && cd "$1" && tar -c --exclude=./build/venv . | tar -x -C "$2" && '
                            'chown -R "$3" "$2"', "copy", ROOT, copy, f"{user.pw_uid}:{user.pw_gid}"], check=True)
            (copy / "build" / "venv").mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / "python").mkdir()
            script = ('if [ -n "$2" ]; then mount --rbind "$2/$3" "$4" && mount -t tmpfs -o mode=755 none "$2" && mkdir "$2/$3" && '
                      'mount --rbind "$4" "$2/$3"; fi && '
                      'if [ -e "$0/build/venv" ]; then mount --bind "$0/build/venv" "$1/build/venv"; fi && '
                      'mount --rbind "$1" "$0" && cd "$0" && shift 4 && exec "$@"')
            yield ["unshare", "--mount", "sh", "-c", script, str(ROOT), str(copy), *_closed_to_others(shutil.which("python3")),
                   f"{folder}/python", "setpriv", f"--reuid={user.pw_uid}",
                   f"--regid={user.pw_gid}", "--clear-groups", "env", f"HOME={home}", f"USER={self._USER}"], {}


def _closed_to_others(path):
    """Returns (folder, name in it) of the first folder above a program that only its owner may enter, such as the home
    folder with root's Python, or ("", "") where there is none."""
    parts = pathlib.Path(path).parts
    for depth in range(1, len(parts)):
        if not pathlib.Path(*parts[:depth]).stat().st_mode & stat.S_IXOTH:
            return str(pathlib.Path(*parts[:depth])), parts[depth]
    return "", ""


ALL = [Plain(), StrictMask(), NoHome(), OneCore(), Turkish(), SmallSharedMemory(), NoIpv6(), NoNamespaces(), ReadOnlyTree(),
       OrdinaryUser()]


def named(name):
    """Returns the surroundings of a name, or None where there are none."""
    return next((each for each in ALL if each.name == name), None)
