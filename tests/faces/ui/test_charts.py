"""Charts are pure: data in, options out."""

import json
import math

import pytest

from seedbed.faces.ui import charts

ARROWS = [("images", "labels"), ("images", "model"), ("labels", "model"), ("model", "report"), ("images", "report")]
BOXES = [charts.Box(name, name, "kind", f"/bundles/{name}") for name in ("report", "model", "labels", "images")]


def test_every_box_stands_after_all_that_it_was_made_from():
    rank = {box.id: number for number, row in enumerate(charts.layers(BOXES, ARROWS)) for box in row}
    assert all(rank[origin] < rank[made] for origin, made in ARROWS)


def test_a_circle_of_arrows_is_drawn_and_does_not_hang():
    ranks = charts.layers(BOXES[:2], [("report", "model"), ("model", "report")])
    assert sorted(box.id for row in ranks for box in row) == ["model", "report"]


def test_arrows_to_what_is_not_drawn_are_no_hindrance():
    assert [[box.id for box in row] for row in charts.layers(BOXES[:1], [("gone", "report")])] == [["report"]]


def test_a_graph_lies_on_a_wide_page_and_stands_on_a_narrow_one():
    options = charts.lineage(BOXES, ARROWS)
    narrow, wide = options["media"]
    assert narrow["query"] == {"maxWidth": charts.NARROW}
    across = {node["id"]: node["value"][0] for node in wide["option"]["series"][0]["data"]}
    down = {node["id"]: node["value"][1] for node in narrow["option"]["series"][0]["data"]}
    assert across == down


def test_names_cannot_break_out_of_a_label():
    box = charts.Box("1", "{a|x}\n<script>", "}|{", "/bundles/1")
    label = charts.lineage([box], [])["baseOption"]["series"][0]["data"][0]["label"]["formatter"]
    assert label.count("{") == label.count("}") == 2


def test_long_names_in_a_graph_keep_what_they_are_told_apart_by():
    names = [f"Leaves of the northern plots, second visit.{kind}" for kind in ("model", "report")]
    nodes = charts.lineage([charts.Box(name, name, "", "/") for name in names], [])["baseOption"]["series"][0]["data"]
    shown = [node["label"]["formatter"].split("\n")[0] for node in nodes]
    assert shown == ["{a|Leaves of…isit.model}", "{a|Leaves of…sit.report}"]


def test_names_that_stand_side_by_side_on_a_phone_share_its_width():
    boxes = [charts.Box(str(number), "a very long name.labels", "", "/") for number in range(4)]
    narrow, wide = (media["option"]["series"][0]["data"] for media in charts.lineage(boxes, [])["media"])
    letters = [
        [len(node["label"]["formatter"].split("\n")[0]) - len("{a|}") for node in data] for data in (narrow, wide)
    ]
    assert sum(letters[0]) <= 44 and letters[1] == [20] * 4


@pytest.mark.parametrize("count", [3, 11, 12, 22, 23, 30, 45])
def test_where_a_phone_has_no_room_for_names_only_those_that_stand_alone_are_there(count):
    origin = charts.Box("origin", "Leaves of the northern plots", "data-set", "/")
    many = [charts.Box(str(number), f"a very long name.{number}", "labels", "/") for number in range(count)]
    graph = charts.lineage([origin, *many], [("origin", box.id) for box in many])
    narrow, wide = (media["option"]["series"][0]["data"] for media in graph["media"])
    assert all(node["label"]["show"] for node in wide)
    alone, *others = narrow
    assert alone["label"]["show"] and alone["label"]["formatter"].startswith("{a|Leaves of…hern plots}")
    shown = [node["label"]["formatter"].split("\n")[0] for node in others if node["label"]["show"]]
    assert len(shown) == (count if count <= 11 else 0)
    assert sum(len(name) - len("{a|}") for name in shown) <= 44


@pytest.mark.parametrize("count", [0, 1, 799, 800, 801, 5000, 100_001])
def test_thinning_keeps_the_ends_and_the_order(count):
    points = [(step, float(step)) for step in range(count)]
    kept = charts.thinned(points)
    assert len(kept) <= 801
    assert kept == sorted(kept)
    assert not count or (kept[0], kept[-1]) == (points[0], points[-1])


def test_what_is_not_a_number_does_not_reach_the_page():
    options = charts.curves([("loss", [(0, 1.0), (1, math.nan), (2, math.inf), (3, 0.5)])])
    assert options["series"][0]["data"] == [[0, 1.0], [3, 0.5]]
    json.dumps(options, allow_nan=False)


def test_shares_are_shown_as_percent():
    options = charts.curves([("accuracy", [(0, 0.5), (1, 0.875)])], share=True)
    assert options["series"][0]["data"] == [[0, 50.0], [1, 87.5]]
    assert options["yAxis"]["axisLabel"]["formatter"] == "{value} %"


def test_the_same_measure_of_two_parts_shares_a_panel_and_accuracy_comes_first():
    panels = charts.panels(
        ["loss_labelled", "valid/loss", "train/loss", "valid/accuracy", "seconds", "unchanged", "confident"]
    )
    assert [(panel.title, panel.names) for panel in panels] == [
        ("accuracy", ("valid/accuracy",)),
        ("loss", ("loss_labelled", "train/loss", "valid/loss")),
        ("confidence", ("confident", "unchanged")),
        ("seconds", ("seconds",)),
    ]


def test_a_confusion_is_coloured_by_the_share_of_its_row_and_mistakes_differ_from_hits():
    cells = charts.confusion(["a", "b"], [[9, 1], [0, 0]])["series"][0]["data"]
    by_place = {tuple(cell["value"][:2]): cell["itemStyle"]["color"] for cell in cells}
    assert by_place[(0, 0)].startswith("rgba(64,160,100,0.777")
    assert by_place[(1, 0)].startswith("rgba(217,120,40,0.193")
    assert by_place[(0, 1)] == by_place[(1, 1)]


def test_tooltips_are_drawn_and_never_written_as_markup():
    assert charts.curves([("<b>x</b>", [(0, 1.0)])])["tooltip"]["renderMode"] == "richText"


def test_no_name_of_a_person_becomes_a_key_of_an_option():
    evil = ":alert(1)"
    drawn = [
        charts.curves([(evil, [(0, 1.0)])]),
        charts.confusion([evil, evil], [[1, 0], [0, 1]]),
        charts.lineage([charts.Box(evil, evil, evil, "/")], []),
    ]

    def keys(value):
        if isinstance(value, dict):
            yield from value
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from keys(inner)

    assert not [key for options in drawn for key in keys(options) if key.startswith(":")]
