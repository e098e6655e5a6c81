"""The HLO text of what JAX has: functions, what they are lowered and compiled to, dumps and errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from . import _native

_EXHAUSTED = "RESOURCE_EXHAUSTED"


class Source(NamedTuple):
    """The HLO text of a program, and that of XLA's buffer assignment where a dump has it."""

    text: str
    assignment: str | None = None


def source_of(program: Any, *arguments: Any, **keywords: Any) -> Source:
    """The text of a program, which is compiled where JAX has only lowered it."""
    if isinstance(program, Source):
        return program
    if isinstance(program, os.PathLike) or _is_path(program):
        os.stat(program)  # Raises what Python raises for files that are not there.
        return Source(*_native.program_text(os.fspath(program)))
    if isinstance(program, str):
        return Source(program)
    if hasattr(program, "compile"):
        return _compiled(program)
    text = getattr(program, "as_text", lambda: None)()
    if isinstance(text, str):
        return Source(text)
    if not callable(program):
        wanted = "HLO text, the path of a file or a dump folder, a function with its arguments, or what JAX lowers or compiles it to"
        raise TypeError(f"a program must be {wanted}, found {type(program).__name__}")
    if not hasattr(program, "lower"):
        import jax

        program = jax.jit(program)
    return _compiled(program.lower(*arguments, **keywords))


def _compiled(lowered: Any) -> Source:
    """The compiled program, also one that memory does not suffice for."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            text = lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_as_text": True}).as_text()
            return Source(text, _native.program_text(folder)[1] if os.listdir(folder) else None)
        except Exception as error:
            if _EXHAUSTED not in str(error):
                raise
            return _dumped(folder, error)


def _dumped(folder: str, error: Exception) -> Source:
    """The program in a dump, or, where there is none, the text of the error."""
    return Source(*_native.program_text(folder)) if os.listdir(folder) else Source(str(error))


@contextmanager
def watch(machine: Any = "tpu_v5e", top: int = 3) -> Iterator[None]:
    """Adds to an error RESOURCE_EXHAUSTED inside of the block what takes the memory, and what lowers it.

    The report is a note of the error, which is printed with it, and ``error.report``. It is of the program if the block holds
    the first compilation of the process, since XLA reads then where to dump, and else of what the error says.

    >>> with watch():
    ...     pass
    """
    from ._reports import report

    flags = os.environ.get("XLA_FLAGS")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XLA_FLAGS"] = f"{flags or ''} --xla_dump_to={folder} --xla_dump_hlo_as_text".strip()
        try:
            yield
        except Exception as error:
            if _EXHAUSTED in str(error):
                error.report = report(_dumped(folder, error), machine=machine, top=top)  # type: ignore[attr-defined]
                error.add_note(str(error.report))  # type: ignore[attr-defined]
            raise
        finally:
            if flags is None:
                del os.environ["XLA_FLAGS"]
            else:
                os.environ["XLA_FLAGS"] = flags


def _is_path(program: Any) -> bool:
    """Whether this is the name of a file and no text, which has lines or braces, or begins with its first word."""
    is_text = isinstance(program, str) and (
        any(letter in program for letter in "\n{=") or program.split()[:1] == ["HloModule"] or _EXHAUSTED in program
    )
    return isinstance(program, str) and bool(program.strip()) and not is_text
