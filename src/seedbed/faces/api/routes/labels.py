"""/projects/{ref}/labels: what people say of images; files of labels in and out; where people disagree."""

import json
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from seedbed.assets.projects.labels import LabelEvent
from seedbed.faces.api.access import Here, Labeller, Rules, Trainer, Viewer
from seedbed.faces.api.paths import drop_upload, source_path
from seedbed.faces.api.project_requests import ImportAsked, LabelsAsked
from seedbed.faces.api.project_views import (
    ChangesView,
    DisagreementView,
    ImportedView,
    KeptView,
    LabelView,
    QualityView,
)
from seedbed.faces.api.routes.projects import ProjectRef
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import BundleView
from seedbed.flows.usecases.label_files import FROM_DATA
from seedbed.flows.usecases.labels import Feed, Said

labels = router("projects")
DataRef = Annotated[
    str, Query(max_length=500, description="uuid of the data set that rows are of; empty: the project's.")
]
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/json": {"schema": {}},
            "application/zip": {"schema": {"type": "string", "format": "binary"}},
        }
    }
}


@labels.get("/{ref}/labels", name="labels")
def find(ref: ProjectRef, here: Here, by: Viewer) -> dict[str, LabelView]:
    """Image to what counts of it."""
    return {image: LabelView.of(label) for image, label in here.projects.labels(ref, by=by).items()}


@labels.post("/{ref}/labels", status_code=201)
def add_labels(ref: ProjectRef, asked: LabelsAsked, here: Here, by: Labeller) -> KeptView:
    """Append label events; on disk when this answers."""
    said = [
        Said(LabelEvent(one.id, one.image, one.label, by.name, one.source, one.mark), one.index) for one in asked.labels
    ]
    events = here.projects.events_of(ref, said, data=asked.data, by=by)
    count = here.projects.add_labels(ref, events, by=by)
    return KeptView(count=count, last=here.projects.last_number(ref, by=by))


@labels.get("/{ref}/labels/history")
def history(ref: ProjectRef, image: Annotated[str, Query(max_length=1000)], here: Here, by: Viewer) -> list[LabelView]:
    """Everything that was ever said of one image."""
    return [LabelView.of(event) for event in here.projects.history(ref, image, by=by)]


@labels.get("/{ref}/labels/changes", response_model=ChangesView)
def changes(
    ref: ProjectRef,
    here: Here,
    by: Viewer,
    after: Annotated[int, Query(ge=0, le=(1 << 31) - 1, description="The number to go on from.")] = 0,
    data: DataRef = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
) -> Response:
    """What was said after a number, the oldest first, in today's names of the classes."""
    feed = here.projects.changes(ref, after=after, limit=limit, data=data, by=by)
    return Response(json.dumps(_as_json(feed), ensure_ascii=False), media_type="application/json")


@labels.get("/{ref}/disagreements")
def disagreements(ref: ProjectRef, here: Here, by: Viewer, data: DataRef = "") -> list[DisagreementView]:
    """Images on which people's last labels differ, the newest first."""
    return [DisagreementView.of(one) for one in here.projects.disagreements(ref, data=data, by=by)]


@labels.get("/{ref}/quality")
def quality(ref: ProjectRef, here: Here, by: Viewer) -> QualityView:
    """How far people agree where several labelled an image, and how each does where the golden label is known."""
    return QualityView.of(here.projects.quality(ref, by=by))


@labels.post("/{ref}/labels/import")
def import_labels(ref: ProjectRef, asked: ImportAsked, here: Here, rules: Rules, by: Trainer) -> ImportedView:
    """Take labels from a file, folder or archive, all or none."""
    given = asked.format != FROM_DATA or asked.path or asked.upload
    source = source_path(rules, asked.path, asked.upload) if given else None
    how = asked.model_dump(include={"format", "add_classes", "skip_missing", "golden"})
    made = here.projects.import_labels(ref, source, **how, by=by)
    drop_upload(rules, asked.upload)
    return ImportedView.of(made)


@labels.get("/{ref}/labels/export", response_class=Response, responses=_FILE)
def export_labels(
    ref: ProjectRef,
    here: Here,
    by: Viewer,
    format: Annotated[
        str, Query(max_length=50, description="csv, label-studio, coco, yolo, huggingface or folders.")
    ] = "csv",
    images: Annotated[bool | None, Query(description="With the images; left out: as is usual for the format.")] = None,
) -> StreamingResponse:
    """The labels that count, as a file that other tools read: CSV, JSON, or a zip archive where images go along."""
    made = here.projects.export_labels(ref, format=format, images=images, by=by)
    disposition = f"attachment; filename*=utf-8''{quote(made.name)}"  # names may have letters that headers have not
    headers = {"Content-Disposition": disposition, "Cache-Control": "private, no-store"}
    return StreamingResponse(made.pieces, media_type=made.media, headers=headers)


@labels.post("/{ref}/snapshot", status_code=201)
def snapshot(ref: ProjectRef, here: Here, by: Labeller) -> BundleView:
    """The labels as they are now, as a labels bundle."""
    return BundleView.of(here.projects.snapshot_labels(ref, by=by))


def _as_json(feed: Feed) -> dict[str, Any]:
    """By hand: a hundred thousand labels are read when a page opens, and checking each again would take seconds."""
    found = feed.changes
    events = [
        {
            "number": one.number,
            "id": one.id,
            "image": one.image,
            "index": row,
            "label": one.label,
            "mark": one.mark,
            "by": one.by,
            "at": one.at,
        }
        for one, row in zip(found.events, feed.rows, strict=True)
    ]
    return {"last": found.last, "classes": found.classes, "more": found.more, "events": events}
