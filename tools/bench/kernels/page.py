"""The page of kernels beside their peers, `benches/kernels.md`."""

from bench.results import Column, Page, Row, Table

FORMS = ["strided", "physical"]
PEERS = ["NumPy", "row-major", "row-major loops", "normalize-memrefs"]


def goals(rows: list[Row]) -> str:
    return f"{sum(row[-1] == 'yes' for row in rows)} of {len(rows)} goals reached."


KERNELS_TABLE = Table(
    "kernels",
    (
        Column("kernel"), Column("operands"), Column("strided ms"), Column("physical ms"), Column("unit"),
        *(Column(name) for name in (*FORMS, *PEERS)), Column("goal"), Column("reached"),
    ),
    summary=goals,
)  # fmt: skip


def page(write: bool = True) -> Page:
    return Page("kernels", [KERNELS_TABLE], write)
