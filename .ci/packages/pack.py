#!/usr/bin/env python3
"""Makes the Python wheel and the npm packages of a built program.

    .ci/packages/pack.py PROGRAM FOLDER

The packages hold the program as it is. Made twice of the same program they are the same, byte by byte.
"""

import base64
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SUMMARY = "Agent flows as text: a compiler that proves a flow before it runs, and a durable runtime that runs it"
LICENSES = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"]
# What a static program needs of the system: nothing.
STATIC_TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
LOCAL_TAG = "py3-none-linux_x86_64"


def is_static(program: bytes) -> bool:
    """Whether a 64-bit ELF file names no interpreter, the loader of shared libraries."""
    at = int.from_bytes(program[32:40], "little")
    size, count = (int.from_bytes(program[i : i + 2], "little") for i in (54, 56))
    kinds = (int.from_bytes(program[at + n * size : at + n * size + 4], "little") for n in range(count))
    return 3 not in kinds


def wheel(program: bytes, version: str, folder: Path) -> Path:
    tag = STATIC_TAG if is_static(program) else LOCAL_TAG
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split("."))
    info = f"graphc-{version}.dist-info"
    about = (
        f"Metadata-Version: 2.1\nName: graphc\nVersion: {version}\nSummary: {SUMMARY}\n"
        "License: MIT OR Apache-2.0\nDescription-Content-Type: text/markdown\n\n"
    )
    files = {f"graphc-{version}.data/scripts/graphc": program}
    files |= {f"{info}/licenses/{name}": (ROOT / name).read_bytes() for name in LICENSES}
    files[f"{info}/METADATA"] = about.encode() + (ROOT / "README.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: graphc\nRoot-Is-Purelib: false\n{tags}".encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    path = folder / f"graphc-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if data is program else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return path


def digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def npm(program: bytes, version: str, folder: Path) -> list[Path]:
    common = {"version": version, "description": SUMMARY, "license": "MIT OR Apache-2.0"}
    platform = {"name": "graphc-linux-x64", **common, "os": ["linux"], "cpu": ["x64"]}
    main = {
        "name": "graphc",
        **common,
        "bin": {"graphc": "bin/graphc.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {"graphc-linux-x64": version},
    }
    licenses = [(name, (ROOT / name).read_bytes(), 0o644) for name in LICENSES]
    start = (ROOT / ".ci/packages/graphc.js").read_bytes()
    readme = (ROOT / "README.md").read_bytes()
    return [
        tarball(main, [("bin/graphc.js", start, 0o755), ("README.md", readme, 0o644), *licenses], folder),
        tarball(platform, [("bin/graphc", program, 0o755), *licenses], folder),
    ]


def tarball(package: dict, files: list, folder: Path) -> Path:
    text = json.dumps(package, indent=2).encode() + b"\n"
    path = folder / f"{package['name']}-{package['version']}.tgz"
    with open(path, "wb") as out, gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="", compresslevel=6) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, data, mode in [("package.json", text, 0o644), *files]:
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size, entry.mode = len(data), mode
                archive.addfile(entry, io.BytesIO(data))
    return path


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1].strip())
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    version = said.stdout.split()[1]
    data = program.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    for path in [wheel(data, version, folder), *npm(data, version, folder)]:
        print(path)


if __name__ == "__main__":
    main()
