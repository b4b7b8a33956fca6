"""The whole program without its command line: paths and options in, a :class:`Report` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import IO, TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

from loopaudit.audit.inputs.continued import with_copies
from loopaudit.audit.inputs.discover import discover
from loopaudit.audit.inputs.model import Input
from loopaudit.audit.inputs.tables.bad_rows import NO_TRANSCRIPT, add_failure
from loopaudit.audit.one import audit_input
from loopaudit.audit.session import FileAudit
from loopaudit.audit.workers import ONE_PROCESS, Workers
from loopaudit.config.options import Options
from loopaudit.core import log
from loopaudit.core.report import PolicyInfo, Report
from loopaudit.policies.registry import is_built_in
from loopaudit.version import __version__

if TYPE_CHECKING:
    from loopaudit.audit.cache.cache import Cache
    from loopaudit.audit.pool import Engine

T = TypeVar("T")


def unchanged(audited: FileAudit) -> FileAudit:
    """The result of an input as it is."""
    return audited


class Work(Struct, Generic[T], frozen=True):
    """What is done with each input: an audit, and ``finish`` with its result. Pickled for other processes."""

    options: Options
    finish: Callable[[FileAudit], T]

    def __call__(
        self, item: Input, stream: IO[bytes] | None = None, on_progress: Callable[[int], None] | None = None
    ) -> T:
        """Do it; the arguments are those of :func:`audit_input`."""
        return self.finish(audit_input(item, self.options, stream=stream, on_progress=on_progress))


def audit(paths: Iterable[str], options: Options, workers: Workers = ONE_PROCESS) -> Report:
    """Find, read and replay everything that ``paths`` name.

    Raises:
        InputError: a path does not exist.
        UsageError: the engine is to read standard input.
    """
    report, inputs = begin(paths, options, workers)
    start = perf_counter()
    for result in each(inputs, Work(options, unchanged), workers):
        add(report, result)
    log.info(__name__, "read and replayed in %s ms", round(1000 * (perf_counter() - start)))
    return report


def begin(paths: Iterable[str], options: Options, workers: Workers) -> tuple[Report, list[Input]]:
    """The report of a run before any input was read, and its inputs in order.

    Raises:
        InputError: a path does not exist.
    """
    start = perf_counter()
    found = discover(paths, options.columns)
    log.info(__name__, "found %s inputs in %s ms", len(found.inputs), round(1000 * (perf_counter() - start)))
    workers.progress.found(found)
    report = new_report(options)
    report.ignored = found.ignored
    return report, with_copies(found.inputs, options)


def each(inputs: Sequence[Input], work: Work[T], workers: Workers) -> Iterator[T]:
    """What the work gives for every input, in order, whoever does it."""
    cache = workers.cache
    if cache is None or not cache.open(work.options, inputs):
        return _done(inputs, work, workers, lambda item, _: workers.progress.finished(item))
    # Kept is what was found, not what is made of it: that takes little, and depends on more than the key says.
    return map(work.finish, _kept(inputs, work.options, workers, cache))


def _kept(inputs: Sequence[Input], options: Options, workers: Workers, cache: Cache) -> Iterator[FileAudit]:
    """What every input gives, in order: out of the cache where it is known, else audited and put there.

    A result is put as soon as it is there, so that the next run goes on where this one was
    stopped.
    """

    def done(item: Input, result: FileAudit) -> None:
        cache.put(item, result)
        workers.progress.finished(item)

    known: dict[int, FileAudit] = {}
    try:
        unmet = {place for place, item in enumerate(inputs) if not cache.is_met(item)}
        # Processes of this machine read what must be read for its content; others may see other files.
        looks_up = workers.engine is None and workers.engine_for([inputs[place] for place in unmet]) is not None
        for place, item in enumerate(inputs):
            result = None if looks_up and place in unmet else cache.get(item)
            if result is not None:
                known[place] = result
                workers.progress.finished(item)
        left = [item for place, item in enumerate(inputs) if place not in known]
        engine = workers.engine_for(left) if looks_up else None
        if engine is None:
            fresh = _done(left, Work(options, unchanged), workers, done)
        else:
            fresh = _looked_up(left, Work(options, unchanged), engine, workers, cache)
        for place in range(len(inputs)):
            yield known.pop(place) if place in known else next(fresh)
    finally:
        cache.close()


def _looked_up(
    inputs: Sequence[Input], work: Work[FileAudit], engine: Engine, workers: Workers, cache: Cache
) -> Iterator[FileAudit]:
    """The result of every input, in order, by processes that ask the cache, and put there what it does not know."""
    from loopaudit.audit.cache.apart import LookUp, Outcome, lost

    def done(item: Input, outcome: Outcome) -> None:
        cache.found_apart(
            item,
            outcome.content,
            is_taken=outcome.is_taken,
            written=outcome.written,
            trouble=outcome.trouble,
        )
        workers.progress.finished(item)

    for outcome in engine(inputs, LookUp(cache.folder, cache.key, work), lost, done):
        yield outcome.result


def _done(inputs: Sequence[Input], work: Work[T], workers: Workers, on_done: Callable[[Input, T], None]) -> Iterator[T]:
    """The work done on every input, in order, by the engine or by this process."""
    if workers.apart and not all(is_built_in(selected.policy) for selected in work.options.policies):
        yield from _done_apart(inputs, work, workers, on_done)
        return
    engine = workers.engine_for(inputs)
    if engine is not None:
        yield from engine(inputs, work, lambda _, lost: work.finish(lost), on_done)
        return
    on_progress = workers.progress.read if workers.progress.counts_bytes else None
    for item in inputs:
        result = work(item, workers.stream, on_progress)
        on_done(item, result)
        yield result


def _done_apart(
    inputs: Sequence[Input], work: Work[T], workers: Workers, on_done: Callable[[Input, T], None]
) -> Iterator[T]:
    """The same for work that runs policies that are not built in: in other processes, which they may end."""
    from loopaudit.audit.isolate import spooled, without_culprits

    def failed(item: Input, lost: FileAudit) -> T:
        if lost.killed:
            lost = without_culprits(item, lost, work.options, lambda options: Work(options, unchanged))
        return work.finish(lost)

    with ExitStack() as stack:
        if workers.engine is None:
            inputs = [
                stack.enter_context(spooled(item, workers.stream)) if item.path is None and item.url is None else item
                for item in inputs
            ]
        engine = workers.engine_for(inputs, apart=True)
        if engine is not None:
            yield from engine(inputs, work, failed, on_done)


def new_report(options: Options) -> Report:
    """An empty report that names how it was made. Maps are sorted by name, as a saved report has them."""
    infos = [
        PolicyInfo(
            label=s.label,
            policy=s.policy.id,
            title=s.policy.title,
            origin=" ".join(part for part in (s.policy.origin.project, s.policy.origin.version) if part),
            params=dict(sorted(s.params.as_dict().items())),
            rules=dict(sorted(s.policy.rules.items())),
            needs={str(need): loss for need, loss in sorted(s.policy.needs.items())},
        )
        for s in options.policies
    ]
    return Report(
        version=__version__,
        mode=options.mode,
        tool_names="mapped" if options.map_names else "literal",
        failure_level=options.failure_level,
        policies=infos,
        transcripts=[],
    )


def add(report: Report, result: FileAudit) -> None:
    """Put what one input gave into the report."""
    report.transcripts.extend(result.transcripts)
    if result.failure is not None:
        add_failure(report.failures, result.failure)
    if result.ignored_rows:
        report.ignored[NO_TRANSCRIPT] = report.ignored.get(NO_TRANSCRIPT, 0) + result.ignored_rows
    if result.ignored is not None:
        report.ignored[result.ignored] = report.ignored.get(result.ignored, 0) + 1
