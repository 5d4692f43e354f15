"""/uploads and /data: bring images in, look at them."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import Path, Query, Request
from starlette.responses import Response

from seedbed.assets.store.checks import is_uuid
from seedbed.faces.api.access import Here, Labeller, Rules, Trainer, Viewer
from seedbed.faces.api.paths import source_path
from seedbed.faces.api.requests import DataAsked
from seedbed.faces.api.routing import Limit, Offset, router
from seedbed.faces.api.uploads import receive_files
from seedbed.faces.api.views import BundleView, JobView, UploadView, plain

uploads = router("uploads")
data = router("data")
DataRef = Annotated[str, Path(description="uuid, the beginning of one, or a name (its latest).", max_length=500)]

MULTIPART: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {"files": {"type": "array", "items": {"type": "string", "format": "binary"}}},
                }
            }
        },
    }
}


@uploads.post("", status_code=201, openapi_extra=MULTIPART)
async def upload(
    request: Request,
    here: Here,
    by: Labeller,
    project: Annotated[str, Query(max_length=500, description="The project that it is for.")] = "",
) -> UploadView:
    """Send files (an archive, images, a folder): they are written to disk as they come, then used by id."""
    folder = await to_thread.run_sync(lambda: here.data.upload_folder(project=project, by=by))
    received = await receive_files(request, folder)
    return UploadView(upload=folder.name, files=received.files, size=received.size)


@data.post("", status_code=202)
def add(asked: DataAsked, here: Here, rules: Rules, by: Trainer) -> JobView:
    """Start a job that takes in a folder, an archive, a CSV list or an upload."""
    source = source_path(rules, asked.path, asked.upload)
    job = here.data.add(source, name=asked.name, project=asked.project, to=asked.to, size=asked.size, by=by)
    return JobView.of(job)


@data.get("")
def find(
    here: Here,
    by: Viewer,
    project: Annotated[str | None, Query(max_length=500)] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> list[BundleView]:
    """The latest version of every data set."""
    found = here.data.list(project=project, limit=limit, offset=offset, by=by)
    return [BundleView.of(bundle) for bundle in found]


@data.get("/{ref}")
def show(ref: DataRef, here: Here, by: Viewer) -> dict[str, Any]:
    """Counts, classes, findings, statistics."""
    return plain(here.data.show(ref, by=by))


@data.get("/{ref}/records")
def records(ref: DataRef, here: Here, by: Viewer, limit: Limit = 100, offset: Offset = 0) -> list[dict[str, Any]]:
    """The images, one record each."""
    return [plain(record) for record in here.data.records(ref, offset=offset, limit=limit, by=by)]


@data.get(
    "/{ref}/images/{index}/thumbnail",
    response_class=Response,
    responses={
        200: {"content": {"image/jpeg": {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "It has not changed."},
    },
)
def thumbnail(
    request: Request,
    ref: DataRef,
    index: Annotated[int, Path(ge=0, le=1 << 31)],
    here: Here,
    by: Viewer,
    size: Annotated[int, Query(ge=16, le=1024)] = 128,
) -> Response:
    """One image as a small JPEG; by the data set's uuid it never changes, and browsers keep it."""
    image = here.data.thumbnail(ref, index, size=size, by=by)
    if not is_uuid(ref):  # a name means the newest version, whose image of that number may be another one
        return Response(image, media_type="image/jpeg", headers={"Cache-Control": "private, no-cache"})
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{ref}-{index}-{size}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(image, media_type="image/jpeg", headers=headers)
