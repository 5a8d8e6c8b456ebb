"""Where the files that ship with gradcat lie, in a wheel and in a checkout. A warm start does without pathlib."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.abspath(__file__))


def ops() -> str:
    """Path of ops.yaml: inside an installed package, or at the top of a checkout."""
    inside = os.path.join(PACKAGE, "ops.yaml")
    return inside if os.path.exists(inside) else os.path.join(os.path.dirname(PACKAGE), "ops.yaml")


def rules() -> str:
    """Path of the folder of rules."""
    return os.path.join(PACKAGE, "rules")


def schema() -> str:
    """Path of the JSON Schema of the export."""
    return os.path.join(PACKAGE, "schema.json")


def checkout() -> bool:
    """Whether the package runs from its sources: they may change without the version changing."""
    return not os.path.exists(os.path.join(PACKAGE, "ops.yaml"))


def yaml_files(path: str) -> list[str]:
    """A file itself, or the YAML files of a folder in order."""
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith((".yaml", ".yml"))]


def sources() -> list[str]:
    """The package's own modules and tables."""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(PACKAGE) for name in names)
    return sorted(path for path in found if path.endswith((".py", ".yaml")))


def write(path: str, data: bytes) -> None:
    """Put a file in place whole: whoever reads at the same time sees the old one or the new one."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe is written to, not replaced
        with open(path, "wb") as file:
            file.write(data)
        return
    temporary = os.path.join(os.path.dirname(path), f".{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
