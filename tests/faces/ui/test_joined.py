import re
from pathlib import Path

import pytest

from seedbed.faces.ui.joined import joined
from seedbed.faces.ui.theme import LABELLING, labelling_script


def _folder(place: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (place / f"{name}.js").write_text(text + "\n")
    return place


def test_a_module_comes_once_after_all_that_it_needs_and_what_nobody_needs_stays_out(tmp_path):
    folder = _folder(
        tmp_path,
        main='import { twice } from "./b.js";\nimport { one as first } from "./a.js";\ntwice(first);',
        b='import * as all from "./a.js";\nexport async function twice(x) { return all.one * x; }',
        a="export const one = 1;",
        unneeded="export class Nothing {}",
    )
    text = joined(folder, "main")
    assert text.split("\n") == [
        *("const from_a = (() => {", "const one = 1;", "", "return { one };", "})();"),
        *("const from_b = (() => {", "const all = from_a;", "async function twice(x) { return all.one * x; }", ""),
        *("return { twice };", "})();"),
        *("const { twice } = from_b;", "const { one: first } = from_a;", "twice(first);", ""),
    ]


@pytest.mark.parametrize(
    "line", ['import a from "./a.js";', "export default 1;", 'const a = await import("./a.js");', "export { one };"]
)
def test_a_line_that_it_cannot_read_is_refused_rather_than_left_out(tmp_path, line):
    folder = _folder(tmp_path, main=line, a="export const one = 1;")
    with pytest.raises(ValueError, match=re.escape(line)):
        joined(folder, "main")


def test_every_module_of_the_labelling_page_is_in_its_one_script():
    text = labelling_script()
    parts = {path.stem for path in LABELLING.glob("*.js")} - {"main", "early"}
    assert {name for name in parts if f"const from_{name} = (() =>" in text} == parts
