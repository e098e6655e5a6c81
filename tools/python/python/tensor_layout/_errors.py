"""Errors of the package."""

from __future__ import annotations


class LayoutError(ValueError):
    """A text, a number or an array is wrong.

    The message says what is wrong and what would be right. ``text`` is the text at fault and ``at`` the position in it, in
    characters from 0; both are None where no text is at fault. ``kind`` is ``syntax`` for a text that does not follow its
    grammar, ``unknown`` for a name, ``too large`` for more than 64 bits or a limit, ``unsupported`` for what is right and
    cannot be done, ``undecided`` where the time was too short, ``internal`` for a bug of the package, and else ``invalid``.
    """

    def __init__(self, message: str, text: str | None = None, at: int | None = None, kind: str = "invalid") -> None:
        super().__init__(message, text, at, kind)
        self.message = message
        self.text = text
        self.at = at
        self.kind = kind

    @property
    def line(self) -> int | None:
        """The number of the line at fault, from 1."""
        return None if self.text is None or self.at is None else self.text.count("\n", 0, self.at) + 1

    @property
    def column(self) -> int | None:
        """The column at fault, from 1."""
        if self.text is None or self.at is None:
            return None
        return self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1

    def __str__(self) -> str:
        if self.text is None or self.at is None:
            return self.message
        line = self.text.split("\n")[self.line - 1]
        # Of a long line the part around the fault.
        first = max(0, self.column - 1 - 60)
        shown = line[first : first + 100]
        where = f"line {self.line}, column {self.column}: " if "\n" in self.text else ""
        return f"{where}{self.message}\n  {shown}\n  {' ' * (self.column - 1 - first)}^"


LayoutError.__module__ = "tensor_layout"
