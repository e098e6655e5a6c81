# The lit tests: what is a test, and what its RUN lines may use.
#
# `cargo test -p layout-test --test lit` runs them (lit.rs). By hand, after `cargo build`: `/usr/lib/llvm-22/bin/lit test`,
# with `--param tools=FOLDER` for tools of another profile and `--param llvm=PREFIX` for another LLVM.
#
# RUN lines are for bash, with `set -o pipefail`; lit joins them with `&&`. Inside a loop, `|| exit 1` ends the test where
# a command fails. Beside lit's own substitutions (%s, %S, %t) there are %{plugin}, the dialect and its passes as a plugin
# of upstream's mlir-opt, %{python}, and %{runner_libs}, what `mlir-runner -shared-libs=` needs for printing. Where Open MPI is
# installed, tests that say `REQUIRES: mpi` run, with %{mpirun}, which starts as many processes as its first argument says,
# and %{mpi}, its library. %{lines} prints each of its arguments on a line, and %{sample} those that run: all, or the sample
# that LAYOUT_SAMPLE=SEED/SHARE asks for. %{programs} are the files of passes/ and run/ that run/verified.test lowers, a
# sample likewise; %{listed} prints the lines of a file that begin with their names.
import glob
import os
import platform
import shutil
import sys

import lit.formats

test = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, test)
from sample import sample
tools = lit_config.params.get("tools", os.path.join(os.path.dirname(test), "target", "debug"))
llvm = lit_config.params.get("llvm", os.path.dirname(os.path.dirname(os.path.realpath(sys.argv[0]))))

config.name = "layout"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "stablehlo", "templates"]
config.test_source_root = test
config.test_exec_root = os.path.join(tools, "lit")
config.available_features.add(platform.machine())
config.environment = dict(os.environ)
config.environment["PATH"] = os.pathsep.join([tools, os.path.join(llvm, "bin"), os.environ["PATH"]])
config.substitutions += [
    ("%{python}", sys.executable),
    ("%{sample}", f"{sys.executable} {test}/sample.py"),
    ("%{lines}", f"env LAYOUT_SAMPLE=0/1 {sys.executable} {test}/sample.py"),
    ("%{plugin}", os.path.join(tools, "liblayout_plugin.so")),
    ("%{runner_libs}", f"{llvm}/lib/libmlir_runner_utils.so,{llvm}/lib/libmlir_c_runner_utils.so"),
]

programs = sorted(path for folder in ("passes", "passes/vectorize", "run") for path in glob.glob(f"{test}/{folder}/*.mlir"))
names = sample(sorted({os.path.basename(path) for path in programs}))
config.substitutions += [
    ("%{programs}", " ".join(path for path in programs if os.path.basename(path) in names)),
    ("%{listed}", "grep" + "".join(f" -e '^{name} '" for name in names)),
]

# The library as it is without the package for developers.
mpi = glob.glob("/usr/lib/*/libmpi.so.40")
if mpi and shutil.which("mpirun"):
    config.available_features.add("mpi")
    config.substitutions += [("%{mpirun}", os.path.join(os.path.dirname(test), "tools", "mpirun.sh")), ("%{mpi}", mpi[0])]

# A test that hangs fails after this many seconds; lit can only tell with the Python package psutil.
if lit_config.maxIndividualTestTimeIsSupported[0] and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = 600
