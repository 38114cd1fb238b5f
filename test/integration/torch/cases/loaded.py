"""Lists the libraries that a process has loaded."""


def compilers():
    """Returns the libraries of a compiler among them."""
    with open("/proc/self/maps") as file:
        paths = {line.split()[-1] for line in file}
    return sorted(path for path in paths if any(word in path for word in ("cgx_compiler", "LLVM", "MLIR")))
