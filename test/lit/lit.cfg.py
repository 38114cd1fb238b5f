"""lit configuration: tests of the compiler, one folder for each part that they test."""

import os
import sys

# The processes that run tests import what their format is.
sys.path.append(os.path.dirname(__file__))

from in_link import ShTestInLink, without_spaces

config.name = "cgx"
config.cgx_source_dir, config.cgx_bin_dir, config.cgx_lib_dir = map(
    without_spaces, (config.cgx_source_dir, config.cgx_bin_dir, config.cgx_lib_dir))
config.test_format = ShTestInLink(os.path.join(config.cgx_source_dir, "test", "lit"), without_spaces(config.cgx_test_exec_root))
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
if config.cgx_has_native:
    config.available_features.add("native")
if config.cgx_has_dnnl:
    config.available_features.add("onednn")
config.test_exec_root = config.cgx_test_exec_root
config.environment["PATH"] = os.path.pathsep.join(
    [config.cgx_bin_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%cgx_lib", config.cgx_lib_dir))
config.substitutions.append(("%examples", os.path.join(config.cgx_source_dir, "examples")))
