"""A step of a program through the tools: a child process with limits, how long it took, and what it complained of.

In the environment: LLVM, its prefix; LAYOUT_TOOLS, the folder of the three programs; PROGRAM_SECONDS, the most that a
step may take; PROGRAM_GIGABYTES, the most memory.
"""

import dataclasses
import os
import pathlib
import resource
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
LLVM = pathlib.Path(os.environ.get("LLVM", "/usr/lib/llvm-22"))
TOOLS = pathlib.Path(os.environ.get("LAYOUT_TOOLS", HERE.parents[1] / "target/release"))
MOST = float(os.environ.get("PROGRAM_SECONDS", 120))
MEMORY = int(float(os.environ.get("PROGRAM_GIGABYTES", 6)) * 2**30)


@dataclasses.dataclass
class Step:
    """How a step went: seconds of the processor if they say something, and what it complained of."""

    seconds: float | None
    error: str | None = None
    text: str = ""
    unfinished: bool = False


def ran(command, output=None, most=MOST, memory=MEMORY):
    """Runs a command into a file, or gives what it prints."""
    with tempfile.TemporaryFile() as errors, open(output, "wb") if output else tempfile.TemporaryFile() as out:
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors, preexec_fn=limited)
        end, used, status = time.monotonic() + 4 * most, None, None
        while used is None:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                used = usage.ru_utime + usage.ru_stime
            elif time.monotonic() > end or processor_seconds(process.pid) > most:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                return Step(most, f"ended after {most:g} s of the processor or {4 * most:g} s of the clock", unfinished=True)
            else:
                time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
        if output is None:
            out.seek(0)
        text = "" if output else out.read().decode(errors="replace")
        error = None
        if process.returncode != 0:
            lines = [line for line in said.splitlines() if "error" in line or "panicked" in line or "Assertion" in line]
            error = (lines or said.splitlines()[-1:] or [""])[0].strip()[:300]
            if process.returncode < 0:
                error = f"signal {-process.returncode}; {error}"
        return Step(used, error, text)


def processor_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
