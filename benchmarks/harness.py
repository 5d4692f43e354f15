"""What every benchmark shares: its arguments, its machine, its table, its JSON, its section of RESULTS.md."""

import argparse
import json
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

RESULTS = Path(__file__).with_name("RESULTS.md")
_DATA = Path(__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True)
class Report:
    """What a benchmark found.

    `figures` are the numbers that claims rest on; `rows` the table, a mapping per row with the same keys. `data` says
    what was measured on; a benchmark made for real data sets `wants_real`, and then RESULTS.md keeps real runs only.
    """

    figures: Mapping[str, float]
    rows: Sequence[Mapping[str, Any]]
    data: Literal["real", "synthetic"] = "synthetic"
    wants_real: bool = False
    note: str = ""
    origin: str = ""  # when and on what the rows were measured, where that was not this run
    part: str = ""  # words that tell this section of RESULTS.md from others of the same benchmark


def main(name: str, title: str, measure: Callable[[bool], Report], arguments: Sequence[str] | None = None) -> Report:
    """Run a benchmark from the command line; `measure` is told whether to be quick."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=title)
    parser.add_argument("--quick", action="store_true", help="the same figures from less work, within 50 seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(arguments)
    report = measure(options.quick)
    print(f"{title}\n\n{table_of(report.rows)}\n")
    if report.note:
        print(f"{report.note}\n")
    print("\n".join(f"{figure}: {_shown(value)}" for figure, value in report.figures.items()))
    if options.json:
        text = {"figures": dict(report.figures), "machine": machine(), "data": report.data, "rows": list(report.rows)}
        options.json.write_text(json.dumps(text, indent=1) + "\n")
    if not options.quick and (report.data == "real" or not report.wants_real):
        keep(name, title, report)
    return report


def machine() -> dict[str, Any]:
    """This machine, without its name."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def real_data() -> Path | None:
    """The folder of real data (SEEDBED_BENCH_DATA, else ../shared/data), if there is one."""
    folder = Path(os.environ.get("SEEDBED_BENCH_DATA") or _DATA)
    return folder if folder.is_dir() else None


def table_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table, aligned so that it reads well in a terminal too."""
    if not rows:
        return ""
    cells = [[str(name) for name in rows[0]], *([_shown(value) for value in row.values()] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def keep(name: str, title: str, report: Report, results: Path = RESULTS) -> None:
    """Put a full run into RESULTS.md, in place of that benchmark's earlier one."""
    figures = table_of([{"figure": figure, "value": value} for figure, value in report.figures.items()])
    about = ", ".join(f"{key} {value}" for key, value in machine().items())
    origin = report.origin or f"{datetime.now(UTC):%Y-%m-%d}, {about}"
    run = f"`python -m benchmarks.{name}`, {report.data} data; {origin}"
    heading = f"## {name}{report.part and ' '}{report.part}:"
    parts = [f"{heading} {title}", run, table_of(report.rows), report.note, figures]
    section = "\n\n".join(part for part in parts if part) + "\n"
    text = results.read_text() if results.exists() else "# Results\n\nThe last full run of each benchmark.\n"
    sections = re.split(r"(?m)^(?=## )", text)
    others = [part.rstrip() + "\n" for part in sections[1:] if not part.startswith(heading)]
    results.write_text("\n".join([sections[0].rstrip() + "\n", *sorted([*others, section])]))


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    found = re.search(r"(?m)^model name\s*:\s*(.+)$", info.read_text()) if info.exists() else None
    return found[1] if found else platform.machine()
