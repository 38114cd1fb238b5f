"""What a process has loaded."""


def compilers():
    """The libraries of a compiler among it."""
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file}
    return sorted(path for path in paths if any(word in path for word in ("cgx_compiler", "LLVM", "MLIR")))
