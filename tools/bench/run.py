"""Runs the tools: a child process with limits, its output, the time that it took, and its complaint.

In the environment: LLVM, its prefix; LAYOUT_TOOLS, the folder of the tools of this project; PROGRAM_SECONDS, the most time
of the processor that a command may take; PROGRAM_GIGABYTES, the most memory of a step of a program.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

PACKAGE = pathlib.Path(__file__).resolve().parent
ROOT = PACKAGE.parents[1]
LLVM = pathlib.Path(os.environ.get("LLVM", "/usr/lib/llvm-22"))
TOOLS = pathlib.Path(os.environ.get("LAYOUT_TOOLS", ROOT / "target/release"))
SECONDS = float(os.environ.get("PROGRAM_SECONDS", 120))
MEMORY = int(float(os.environ.get("PROGRAM_GIGABYTES", 6)) * 2**30)

Argument: TypeAlias = str | int | float | pathlib.Path


class Failed(Exception):
    """A command or a program that failed after seconds of the processor and of the clock; the message is its first
    complaint."""

    def __init__(self, message: str, seconds: float = 0.0, clock: float = 0.0) -> None:
        super().__init__(message)
        self.seconds, self.clock = seconds, clock


class Unfinished(Failed):
    """A command that was ended because it took too long."""


@dataclass(frozen=True)
class Finished:
    """A command that succeeded: its output, its messages, and seconds of the processor and of the clock."""

    out: str
    err: str
    seconds: float
    clock: float


def existing(text: str) -> pathlib.Path:
    """A folder of the command line."""
    path = pathlib.Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return path


def run(command: Sequence[Argument], text: str = "", *, most: float | None = SECONDS, memory: int | None = None) -> Finished:
    """Runs a command with `text` as its input, for at most so many seconds of the processor and bytes of memory."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(text)
        given.seek(0)
        start = time.monotonic()
        try:
            process = subprocess.Popen(words, stdin=given, stdout=out, stderr=err)
        except OSError as error:
            raise SystemExit(f"bench: {words[0]}: {error.strerror}; LAYOUT_TOOLS and LLVM say where tools are") from error
        if memory is not None:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (memory, memory))
        status, used = waited(process, most)
        clock = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        said, complaints = (file.read().decode(errors="replace") for file in (out, err))
    if status != 0:
        name = pathlib.Path(words[0]).name
        signal = f"signal {-status}; " if status < 0 else ""
        raise Failed(f"{name}: {signal}{complaint(complaints)}", used, clock)
    return Finished(said, complaints, used, clock)


def waited(process: subprocess.Popen[bytes], most: float | None) -> tuple[int, float]:
    """The status of a child and the seconds of the processor that it took."""
    end = time.monotonic() + 4 * (most or 0)
    while True:
        # Without a limit there is nothing to look at meanwhile.
        pid, status, usage = os.wait4(process.pid, 0 if most is None else os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime
        if most is not None and (time.monotonic() > end or processor_seconds(process.pid) > most):
            process.kill()
            process.wait()
            raise Unfinished(f"ended after {most:g} s of the processor or {4 * most:g} s of the clock")
        time.sleep(0.005)


def processor_seconds(pid: int) -> float:
    """The seconds that a running process has taken so far."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def complaint(messages: str) -> str:
    """The line of messages that says what is wrong: the first error, or else the last line."""
    lines = messages.splitlines()
    errors = [line for line in lines if "error" in line or "panicked" in line or "Assertion" in line]
    return (errors or lines[-1:] or ["no message"])[0].strip()[:300]
