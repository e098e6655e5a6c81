"""Writes the page for the browser: build.py MODULE FOLDER. All its parts are in one file, which opens without a server."""

import base64
import hashlib
import lzma
import sys
from pathlib import Path

HERE = Path(__file__).parent
REPORT = HERE.parent / "inspect" / "src" / "hlo" / "page"


def hashed(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def packed(module: bytes) -> bytes:
    """The module in LZMA, which takes a quarter less than gzip. `unpack.js` knows these numbers of context bits."""
    filters = [{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
    return lzma.compress(module, format=lzma.FORMAT_RAW, filters=filters)


def page(module: bytes) -> str:
    """The page. A report inside it runs its own script, so the policy names both."""
    script = (HERE / "page.js").read_text()
    scripts = f"{hashed(script)} {hashed((REPORT / 'script.js').read_text())} 'wasm-unsafe-eval'"
    parts = {
        "policy": f"default-src 'none'; script-src {scripts}; worker-src blob:; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "style": (REPORT / "style.css").read_text() + (HERE / "style.css").read_text(),
        "worker": (HERE / "worker.js").read_text(),
        "unpack": (HERE / "unpack.js").read_text(),
        "size": str(len(module)),
        "module": base64.b64encode(packed(module)).decode(),
        "script": script,
    }
    text = (HERE / "page.html").read_text()
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return text


module, folder = Path(sys.argv[1]), Path(sys.argv[2])
(folder / "layout.wasm").write_bytes(module.read_bytes())
(folder / "index.html").write_text(page(module.read_bytes()))
