"""From the outcomes of an ingest to records and findings: the same bytes become one record."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.findings import (
    Finding,
    Severity,
    conflicting_classes,
    files_left_out,
    findings_about,
)
from seedbed.assets.data.folder import DataSetFolder
from seedbed.assets.data.journal import Batch, Outcome
from seedbed.assets.data.records import ImageRecord
from seedbed.assets.data.sources import Item, Source

Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Merged:
    """Records in the order of the cache's rows, and what was noticed while merging."""

    records: tuple[ImageRecord, ...]
    copies: int
    conflicts: Groups  # files of equal bytes under two classes
    leaked: Groups  # files of equal bytes in the training and in the test part
    unreadable: tuple[tuple[str, str], ...]  # file, reason
    bombs: tuple[tuple[str, str], ...]


def merge(items: Sequence[Item], batches: Sequence[Batch], existing: DataSetFolder | None) -> Merged:
    """One record per distinct image, those of the earlier version first.

    Equal bytes under two classes are left unlabelled; in the training and the test part, they count as test.
    """
    outcomes = [outcome for batch in batches for outcome in batch.outcomes]
    files: defaultdict[str, list[Item]] = defaultdict(list)
    measured: dict[str, Outcome] = {}
    for outcome in outcomes:
        if outcome.id:
            files[outcome.id].append(items[outcome.index])
            measured.setdefault(outcome.id, outcome)
    old = {record.id: record for record in existing.records} if existing else {}
    conflicts = _groups(existing, "conflicting-classes")
    leaked = _groups(existing, "train-test-leak")
    doubted = {file for group in conflicts for file in group}
    records = []
    for image in [*old, *(image for batch in batches for image in batch.rows)]:
        first = old.get(image) or _new_record(measured[image], files[image][0])
        record = _joined(first, files[image])
        classes = {first.klass, *(item.klass for item in files[image])} - {""}
        if len(classes) > 1 or doubted.intersection(record.files):
            record = replace(record, klass="")
            conflicts.add(record.files)
        if {"train", "test"} <= {first.split, *(item.split for item in files[image])}:
            leaked.add(record.files)
        records.append(record)
    failed = [(items[o.index].name, o.reason, o.bomb) for o in outcomes if o.reason]
    return Merged(
        records=tuple(records),
        copies=sum(map(len, files.values())) - sum(len(batch.rows) for batch in batches),
        conflicts=_without_parts(conflicts),
        leaked=_without_parts(leaked),
        unreadable=tuple((file, reason) for file, reason, bomb in failed if not bomb),
        bombs=tuple((file, reason) for file, reason, bomb in failed if bomb),
    )


def findings_of(merged: Merged, source: Source, pixels: NDArray[np.uint8]) -> list[Finding]:
    """Everything worth saying about a data set, the worst first."""
    error, warning, note = Severity.ERROR, Severity.WARNING, Severity.NOTE
    damaged = [*merged.unreadable, *((file, "damaged in the archive") for file in source.damaged)]
    found = [
        _with_reasons("unreadable", "1 file could not be read", "{n} files could not be read", damaged),
        _with_reasons("too-large", "1 file is too large to open", "{n} files are too large to open", merged.bombs),
        files_left_out(
            "missing",
            error,
            "1 file is named but is not there",
            "{n} files are named but are not there",
            source.missing,
        ),
        conflicting_classes(merged.conflicts),
        *findings_about(merged.records, pixels, merged.leaked),
        files_left_out(
            "links-outside",
            warning,
            "1 symbolic link leads to a folder or out of this one and was not followed",
            "{n} symbolic links lead to folders or out of this one and were not followed",
            source.outside,
        ),
        files_left_out("not-images", note, "1 file is not an image", "{n} files are not images", source.not_images),
    ]
    order = list(reversed(Severity))
    return sorted((finding for finding in found if finding), key=lambda finding: order.index(finding.severity))


def _with_reasons(code: str, one: str, many: str, failed: Sequence[tuple[str, str]]) -> Finding | None:
    reasons = dict(failed)
    finding = files_left_out(code, Severity.ERROR, one, many, reasons)
    if finding is None:
        return None
    start, _, _ = finding.sentence.partition(": ")
    shown = "; ".join(f"{file} ({reasons[file]})" for file in sorted(reasons)[:5])
    more = f"; and {len(reasons) - 5:,} more" if len(reasons) > 5 else ""
    return replace(finding, sentence=f"{start}: {shown}{more}.")


def _new_record(outcome: Outcome, item: Item) -> ImageRecord:
    return ImageRecord(
        id=outcome.id,
        file=item.name,
        image=outcome.image,
        klass=item.klass,
        split=item.split,
        width=outcome.width,
        height=outcome.height,
        bytes=outcome.bytes,
        format=outcome.format,
        phash=outcome.phash,
        extra=dict(item.extra),
    )


def _joined(record: ImageRecord, items: Sequence[Item]) -> ImageRecord:
    """A record with all that further files of the same bytes say."""
    if not items or (len(items) == 1 and items[0].name == record.file and items[0].klass == record.klass):
        return record
    names = dict.fromkeys([*record.also, *(item.name for item in items)])
    splits = [record.split, *(item.split for item in items)]
    extra: dict[str, str] = {}
    for values in (*(item.extra for item in reversed(items)), record.extra):
        extra |= {name: value for name, value in values.items() if value}
    return replace(
        record,
        klass=record.klass or next((item.klass for item in items if item.klass), ""),
        split="test" if "test" in splits else next((split for split in splits if split), ""),
        also=tuple(name for name in names if name != record.file),
        extra=extra,
    )


def _groups(existing: DataSetFolder | None, code: str) -> set[tuple[str, ...]]:
    findings = existing.findings if existing else ()
    return {group for finding in findings if finding.code == code for group in finding.groups}


def _without_parts(groups: set[tuple[str, ...]]) -> Groups:
    """Sorted, without groups that another one contains."""
    return tuple(sorted(g for g in groups if not any(set(g) < set(other) for other in groups)))
