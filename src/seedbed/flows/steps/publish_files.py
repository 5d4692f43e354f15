"""Files of this machine as they are."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from seedbed.base.errors import InvalidInput
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.labels import Files
from seedbed.flows.outside import fingerprint
from seedbed.flows.step import Params, step

_TOLD = 10  # links that are named


class PublishFilesParams(Params):
    """Which files."""

    paths: tuple[str, ...] = Field(min_length=1, description="Files or folders of the machine that runs the job.")


def _paths(params: PublishFilesParams) -> tuple[str, ...]:
    return params.paths


def _outside(params: PublishFilesParams) -> Mapping[str, str]:
    return {path: fingerprint(Path(path)) for path in params.paths}


@step("publish-files", resources=Resources(cpus=0.5, memory=256 << 20), outside=_outside, paths=_paths)
def publish_files(params: PublishFilesParams, run: RunContext) -> Files:
    """Copies files and folders into the store, as they are."""
    paths = [Path(path) for path in params.paths]
    names = [path.name for path in paths]
    problems = [f"{path} is not there." for path in paths if not path.exists()]
    problems += [f"{link} is a link that leads out of {path}." for path in paths for link in _ways_out(path)]
    problems += [f"two of them are named '{name}'." for name in sorted({n for n in names if names.count(n) > 1})]
    if problems:
        raise InvalidInput("The files cannot be published.", problems=problems)
    place = run.folder / "files"
    for number, path in enumerate(paths):
        run.report(step=number, total=len(paths), doing=f"copying {path.name}")
        _copy(path, place / "files" / path.name)
    return Files(place)


def _ways_out(folder: Path) -> list[Path]:
    """Links in a folder to what is outside: who may have the folder read may not be allowed to read that."""
    root = folder.resolve()
    links = [path for path in folder.rglob("*") if path.is_symlink()] if folder.is_dir() else []
    return [link for link in links if not link.resolve().is_relative_to(root)][:_TOLD]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=False)
    else:
        shutil.copyfile(source, target)
