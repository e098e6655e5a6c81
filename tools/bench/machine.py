"""The machine that measures."""

import os
import pathlib
import platform
import re


def cpu(field: str) -> str:
    """A field of /proc/cpuinfo, such as `model name`; nothing where there is none."""
    file = pathlib.Path("/proc/cpuinfo")
    found = re.search(rf"^{field}\s*: (.*)$", file.read_text() if file.exists() else "", re.MULTILINE)
    return found[1] if found else ""


def caches() -> list[tuple[int, str, int]]:
    """Level, type and bytes of each cache of the first core."""
    found = []
    for folder in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        found.append((int(level), kind, int(size.rstrip("KM")) * (2**20 if size.endswith("M") else 2**10)))
    return found


def last_cache() -> int:
    """The bytes of the largest cache; 32 MiB if the system reports none."""
    return max((size for _, _, size in caches()), default=2**25)


def name() -> str:
    """The processor, its caches and its cores."""
    kinds = {"Data": " data", "Unified": ""}
    sizes = [f"L{level}{kinds[kind]} {size // 1024} KiB" for level, kind, size in caches() if kind in kinds]
    return ", ".join([cpu("model name") or platform.machine(), f"{os.cpu_count()} cores", *sizes])


def vectors() -> str:
    """The widest vectors that lowering makes for this processor, as an option of `--layout-to-llvm`."""
    flags = cpu("flags").split()
    widest = "avx512" if "avx512f" in flags else "avx2" if "avx2" in flags else ""
    return f"vectorize={widest or ('neon' if platform.machine() == 'aarch64' else 'none')}"
