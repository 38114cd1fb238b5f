"""Provides the entry points by which torch finds an installed wheel."""

from ranks import PACKAGE, ROOT

PYTHON_PACKAGES = ROOT / "tools" / "python"


def python_path(folder):
    """Returns a PYTHONPATH with the entry points of pyproject.toml, which are written to a folder."""
    metadata = folder / "cgx-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cgx\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("[torch.backends]\ncgx = cgx.torch_backend:autoload\n")
    return f"{folder}:{PACKAGE}:{PYTHON_PACKAGES}"
