"""Every command and code block of the README and the docs runs, in order, page by page, in a fresh home.

Blocks marked `bash` and `python` run; other languages (`text`, `nginx`, `toml`) are to be read. `seedbed up` is
started in the background, and the page's later blocks see it. The blocks of one page share a folder and a shell; what
they leave running (jobs outlive their server) is ended with them.
"""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)

PRELUDE = """\
set -euo pipefail
start_server() {
    "$@" >server.log 2>&1 &
    echo $! >>"$PIDS"
    for _ in $(seq 300); do grep -q 'http://127' server.log && return 0; sleep 0.1; done
    cat server.log; return 1
}
"""


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


def as_script(page: Path) -> str:
    parts = [PRELUDE]
    for language, code in blocks(page):
        if language == "python":
            parts.append(f"python - <<'END_OF_BLOCK'\n{code}END_OF_BLOCK\n")
        else:
            parts.append(re.sub(r"^(seedbed up.*)$", r"start_server \1", code, flags=re.MULTILINE))
    return "\n".join(parts)


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEEDBED_")}
    scripts = str(Path(sys.executable).parent)
    return kept | {
        "PATH": f"{scripts}{os.pathsep}{kept['PATH']}",
        "SEEDBED_HOME": str(folder / "home"),
        "SEEDBED_PORT": "0",
        "PIDS": str(folder / "pids"),
        "NO_COLOR": "1",
    }


def stop(folder: Path) -> None:
    """End the servers of a page, then every process that works in its folder."""
    pids = folder / "pids"
    servers = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
    _end([psutil.Process(pid) for pid in servers if psutil.pid_exists(pid)])
    _end([process for process in psutil.process_iter() if _works_in(folder, process)])


def _works_in(folder: Path, process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return any(part.startswith(f"{folder}/") for part in process.cmdline())
    return False


def _end(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in psutil.wait_procs(processes, timeout=20)[1]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.slow
@pytest.mark.timeout(1300)  # beyond the script's own limit, which leaves what it printed
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    try:
        done = subprocess.run(
            ["bash", "-c", as_script(page)],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
    finally:
        stop(tmp_path)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
