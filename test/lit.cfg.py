# For LLVM's own lit: `cargo build && lit test`. `cargo test` runs the same files (lit.rs).
import glob
import os
import platform

import lit.formats

top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
tools = os.environ.get("LAYOUT_TOOLS", os.path.join(top, "target", "debug"))
llvm = os.environ.get("LAYOUT_LLVM") or sorted(glob.glob("/usr/lib/llvm-*/lib/libMLIR.so"))[-1].rsplit("/lib/", 1)[0]

config.name = "layout"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(tools, "lit")
config.available_features.add(platform.machine())
config.environment["PATH"] = os.pathsep.join([tools, os.path.join(llvm, "bin"), os.environ["PATH"]])
config.substitutions += [
    ("%{plugin}", os.path.join(tools, "liblayout_plugin.so")),
    ("%{runner_libs}", f"{llvm}/lib/libmlir_runner_utils.so,{llvm}/lib/libmlir_c_runner_utils.so"),
]
