"""The catalog of the installed torch: from the cache, built where it is missing, verified as far as is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from . import files, store
from .names import UnknownName
from .progress import Progress, silent
from .words import NOT_RUN, NOT_YET

if TYPE_CHECKING:
    from .merge import Harvest, Sources
    from .model import Catalog

T = TypeVar("T")

#: What evidence is stored for. Other samples or another seed are somebody's own experiment, and change no card.
SAMPLES, SEED = 1, 0

#: How many warnings of a build are said one by one.
MANY = 3


class Library:
    """One catalog: of the installed torch, with the probes and rules that ship and those that a user gives."""

    def __init__(
        self,
        ops: Sequence[str] = (),
        rules: Sequence[str] = (),
        imports: Sequence[str] = (),
        *,
        progress: Progress = silent,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.ops = (files.ops(), *ops)
        self.rules = (files.rules(), *rules)
        self.imports = tuple(imports)
        self.progress = progress
        self._warn, self._said = warn, set[str]()
        self._key: store.Key | None = None
        self._reader: store.Reader | None = None

    def warn(self, message: str) -> None:
        """Pass a warning on, each once: a catalog may be built, stored and read several times."""
        if message not in self._said:
            self._said.add(message)
            self._warn(message)

    @property
    def key(self) -> store.Key:
        if self._key is None:
            from .installed import torch_build

            self._key = store.key(torch_build(), self.ops, self.rules, self.imports)
        return self._key

    @property
    def sources(self) -> Sources:
        """What the catalog is built from."""
        from pathlib import Path

        from .merge import Sources

        return Sources(ops=tuple(map(Path, self.ops)), rules=tuple(map(Path, self.rules)), imports=self.imports)

    def reader(self) -> store.Reader:
        """The catalog as it is stored; built first where there is none."""
        if self._reader is None:
            self._reader = store.load(self.key, self.warn)
        return self._reader or self.rebuild()

    def rebuild(self, *, heavy: bool = False) -> store.Reader:
        """The catalog, built anew and stored. With `heavy`, probes that load far more than torch run as well."""
        from .merge import build

        catalog = build(self.sources, self.progress, heavy=heavy)
        for warning in catalog.warnings[:MANY]:
            self.warn(warning)
        if len(catalog.warnings) > MANY:
            self.warn(f"and {len(catalog.warnings) - MANY} warnings more: gradcat coverage")
        return self.keep(catalog)

    def complete(self) -> None:
        """Have the heavy probes run, where the stored catalog was built without them."""
        if not self.read(lambda reader: reader.complete):
            self.rebuild(heavy=True)

    def resolve(self, queries: Iterable[str]) -> list[str]:
        """Node classes that words stand for, each once. Heavy probes run where nothing less answers."""
        queries = list(queries)

        def found(reader: store.Reader) -> list[str]:
            return list(dict.fromkeys(node for query in queries for node in reader.resolve(query)))

        try:
            names = self.read(found)
            if self.read(lambda reader: all(reader.node(name).reason != NOT_YET for name in names)):
                return names
        except UnknownName:
            if self.read(lambda reader: reader.complete):
                raise
        self.complete()
        return self.read(found)

    def harvest(self) -> Harvest:
        """What every probe makes, run now; the catalog of it is stored."""
        _ = self.key  # without torch it says so, sooner and better than the child process
        from .merge import assemble, harvest

        found = harvest(self.sources, self.progress, heavy=True)
        self.keep(assemble(found, self.sources))
        return found

    def keep(self, catalog: Catalog) -> store.Reader:
        """Store a catalog, for this process and the next; for this one alone where its files were edited."""
        before, self._key = self.key, None
        if self.key == before:
            self._reader = store.save(before, catalog, self.warn)
        else:
            self.warn("ops.yaml or a rule was edited meanwhile; this answer may be of before")
            self._reader = store.in_memory(self.key, catalog)
        return self._reader

    def read(self, question: Callable[[store.Reader], T]) -> T:
        """The answer of a stored catalog. Where the file turns out damaged, of one that is built anew."""
        reader = self.reader()
        try:
            return question(reader)
        except store.Damaged as damage:
            self.warn(f"the cache {store.path_of(self.key)} is damaged ({damage}); building it again")
            return question(self.rebuild())

    def prove(self, names: Iterable[str] | None = None) -> None:
        """Verify what was not run yet: among some nodes, or among all, heavy probes included."""
        if names is None:
            self.complete()
        wanted = None if names is None else set(names)
        pending = self.read(
            lambda reader: [r.name for r in reader.rows() if r.pending and (wanted is None or r.name in wanted)]
        )
        if pending:
            self.verify(None if wanted is None else pending)

    def verify(self, names: Sequence[str] | None = None, samples: int = SAMPLES, seed: int = SEED) -> Catalog:
        """Run the formulas of some nodes, or of all. What other samples show is not stored: cards depend on it."""
        from .evidence import verified

        if names is None:
            self.complete()
        catalog = self.read(lambda reader: reader.catalog())
        catalog = verified(catalog, self.sources, names, samples=samples, seed=seed, progress=self.progress)
        if (samples, seed) == (SAMPLES, SEED):
            self.keep(self._with_news(catalog))
        return catalog

    def _with_news(self, catalog: Catalog) -> Catalog:
        """The catalog with what another process verified in the meantime."""
        from dataclasses import replace

        newest = store.load(self.key, lambda message: None)
        if newest is None:
            return catalog
        try:
            theirs = {node.name: node for node in newest.catalog().nodes}
        except store.Damaged:
            return catalog
        return replace(
            catalog,
            nodes=tuple(
                theirs.get(node.name, node) if node.verification.reason == NOT_RUN else node for node in catalog.nodes
            ),
        )
