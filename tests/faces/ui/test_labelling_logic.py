"""The labelling page's pure modules, in the browser that runs them: geometry, orders, picks, the book, the outbox."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from seedbed.faces.ui.theme import LABELLING

_ORIGIN = "https://modules.test"


@pytest.fixture(scope="module")
def modules(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules; they come from the folder, no server is needed."""

    def serve(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name.endswith(".js"):
            route.fulfill(body=(LABELLING / name).read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")

    context = browser.new_context()
    context.route(f"{_ORIGIN}/**", serve)
    page = context.new_page()
    page.goto(_ORIGIN)
    yield page
    context.close()


def run(page: Page, module: str, names: str, body: str) -> Any:
    return page.evaluate(f"async () => {{ const {{ {names} }} = await import('/{module}.js'); {body} }}")


_LAYOUT = """const measures = { cell: 100, caption: 20, gap: 10, heading: 40 };
const layout = new Layout([{ size: 5, name: "a" }, { size: 4, name: "b" }], 430, measures);"""


def test_cells_stand_in_rows_under_their_groups_headings(modules: Page):
    places = run(modules, "layout", "Layout", _LAYOUT + "return [0, 3, 4, 5, 8].map((at) => layout.place(at));")
    # four columns of 100 with gaps of 10; rows of 130; the second group begins below a heading of 40 and two rows
    assert [(place["x"], place["y"]) for place in places] == [(0, 40), (330, 40), (0, 170), (0, 340), (330, 340)]
    assert run(modules, "layout", "Layout", _LAYOUT + "return layout.height") == 470


def test_a_window_holds_the_rows_that_it_touches_and_no_others(modules: Page):
    windows = "return [[0, 50], [41, 169], [171, 299], [310, 345], [-500, 9000]].map(([a, b]) => layout.window(a, b));"
    assert run(modules, "layout", "Layout", _LAYOUT + windows) == [[0, 4], [0, 4], [4, 5], [5, 9], [0, 9]]


def test_going_down_stays_in_the_column_and_enters_the_next_group(modules: Page):
    steps = "return [[0, 1], [3, 1], [4, 1], [8, -1], [0, -1], [6, 1]].map(([at, by]) => layout.vertical(at, by));"
    assert run(modules, "layout", "Layout", _LAYOUT + steps) == [4, 4, 5, 4, 0, 6]


def test_a_frame_touches_cells_and_not_the_gaps_between_them(modules: Page):
    frames = "[{ left: 50, top: 50, right: 115, bottom: 60 }, { left: 101, top: 50, right: 109, bottom: 60 }]"
    assert run(modules, "layout", "Layout", _LAYOUT + f"return {frames}.map((box) => layout.within(box));") == [
        [0, 1],
        [],
    ]


def test_a_hundred_thousand_images_need_no_more_elements_than_a_few(modules: Page):
    body = """const measures = { cell: 110, caption: 25, gap: 10, heading: 40 };
    const layout = new Layout([{ size: 100000, name: "" }], 1000, measures);
    const [from, to] = layout.window(500000, 500900); return to - from;"""
    assert 50 <= run(modules, "layout", "Layout", body) <= 90


def test_an_order_comes_as_little_endian_numbers(modules: Page):
    body = "return Array.from(decoded('AQAAAAACAAADAAEA'));"
    assert run(modules, "order", "decoded", body) == [1, 512, 65539]


def test_groups_that_do_not_add_up_are_left_out(modules: Page):
    body = """const groups = (sizes) => sizes.map((size) => ({ size, name: "g" }));
    return [[2, 1], [2, 2]].map((sizes) => new Order([7, 8, 9], groups(sizes)).groups.length);"""
    assert run(modules, "order", "Order", body) == [2, 1]


def test_the_next_image_is_searched_for_once_around(modules: Page):
    body = "const order = new Order([5, 6, 7]); return [order.next(1, (i) => i === 5), order.next(0, () => false)];"
    assert run(modules, "order", "Order", body) == [0, -1]


def test_shift_reaches_from_the_anchor_and_a_label_goes_to_what_is_picked_or_to_the_cursor(modules: Page):
    body = """const picks = new Selection(); picks.clear(4); const alone = picks.targets;
    picks.reach(2); const reached = picks.targets;
    picks.reach(5); picks.toggle(9); return [alone, reached, picks.targets];"""
    assert run(modules, "selection", "Selection", body) == [[4], [2, 3, 4], [4, 5, 9]]


_BOOK = """const book = new Book(3);
const said = (id, index, label) => book.said({ id, index, label, mark: "", by: "me" });
const heard = (id, index, label, number, by = "ada") => book.heard({ id, index, label, mark: "", by, number });"""


def test_the_newest_event_counts_and_older_ones_change_nothing(modules: Page):
    body = "heard('a', 0, 'rust', 5); return [heard('b', 0, 'blight', 3), book.of(0).label, book.counts.get('rust')];"
    assert run(modules, "book", "Book", _BOOK + body) == [False, "rust", 1]


def test_what_waits_is_shown_until_it_is_kept_and_then_gives_way_to_newer_words(modules: Page):
    body = """heard('a', 1, 'rust', 5); said('b', 1, 'mildew'); const waiting = book.of(1);
    book.kept({ id: 'b', index: 1 }); const kept = book.of(1);
    heard('b', 1, 'mildew', 6, 'me'); heard('c', 1, 'rust', 7);
    return [waiting, kept, book.of(1), book.counts.get('mildew')];"""
    waiting, kept, newer, left = run(modules, "book", "Book", _BOOK + body)
    assert (waiting["label"], waiting["kept"]) == ("mildew", False)
    assert (kept["label"], kept["kept"]) == ("mildew", True)
    assert (newer["label"], newer["by"], left) == ("rust", "ada", 0)


def test_an_own_event_that_comes_back_in_the_news_is_on_disk(modules: Page):
    body = "said('b', 2, 'rust'); heard('b', 2, 'rust', 9, 'me'); return [book.of(2).kept, book.labelled];"
    assert run(modules, "book", "Book", _BOOK + body) == [True, 1]


def test_whoever_came_later_on_disk_counts_in_whatever_order_the_news_and_the_answers_come(modules: Page):
    body = """said('a', 0, 'rust'); said('b', 0, 'mildew'); for (const id of 'ab') book.kept({ id, index: 0 });
    heard('a', 0, 'rust', 1, 'me'); const between = book.of(0).label; heard('b', 0, 'mildew', 2, 'me');
    said('c', 1, 'rust'); book.kept({ id: 'c', index: 1 }); heard('x', 1, 'blight', 3); const ours = book.of(1).label;
    heard('c', 1, 'rust', 4, 'me'); return [between, book.of(0).label, ours, book.of(1).label, book.waiting.size];"""
    assert run(modules, "book", "Book", _BOOK + body) == ["mildew", "mildew", "rust", "rust", 0]


def test_a_refused_label_leaves_what_was_there_before(modules: Page):
    body = "heard('a', 0, 'rust', 5); said('b', 0, 'x'); book.refused({ id: 'b', index: 0 }); return book.of(0);"
    assert run(modules, "book", "Book", _BOOK + body)["label"] == "rust"


def test_undo_leaves_alone_what_somebody_else_has_changed_since(modules: Page):
    body = """const history = new History(), none = { label: "", mark: "" }, rust = { label: "rust", mark: "" };
    history.add([{ index: 1, before: none, after: rust }, { index: 2, before: none, after: rust }]);
    const { changes, left } = history.undo((index) => (index === 1 ? rust : { label: "blight", mark: "" }));
    return [changes.map((one) => [one.index, one.after.label]), left, history.undo(() => none)];"""
    assert run(modules, "history", "History", body) == [[[1, ""]], 1, None]


_LABELS = """const pages = [], told = [];
const empty = { more: false, classes: 0, last: 0, events: [] };
const api = { post: async () => {}, get: async () => ({ ...empty, ...pages.shift() }) };
const storage = { lasting: true, of: async () => [], add: async () => {}, remove: async () => {} };
const tell = (kind, said) => {
  if (kind === "overruled") told.push(said.map((one) => [one.index, one.by, one.label]));
};
const labels = new Labels({ api, me: "me", owner: "o", storage, tell });
labels.turnTo("d", 9);
const theirs = (index, label, number, by = "ada", mark = "") => ({ id: `${number}`, index, label, mark, by, number });
const news = async (...events) => {
  pages.push({ events, last: Math.max(...events.map((one) => one.number)) });
  await labels.catchUp();
};
const say = (index, label, mark = "") => labels.say([{ index, label, mark }]);
"""


def test_whoever_says_something_else_than_a_colleague_is_told_what_they_had_said(modules: Page):
    body = """await news(theirs(0, "rust", 1), theirs(1, "rust", 2), theirs(2, "", 3, "ada", "unsure"));
    await news(theirs(3, "rust", 4, "me"));
    say(0, "healthy"); say(1, "rust"); say(2, "healthy"); say(3, "healthy"); say(4, "healthy");
    labels.undo(); say(0, "", "skipped"); return told;"""
    assert run(modules, "labels", "Labels", _LABELS + body) == [[[0, "ada", "rust"]]]


def test_what_a_colleague_said_in_the_same_moment_is_told_to_the_one_who_has_the_last_word(modules: Page):
    body = """await news(theirs(8, "rust", 1)); say(0, "healthy"); say(1, "healthy"); say(2, "healthy");
    const own = labels.book.waiting.get(1)[0].id;
    await news(theirs(0, "rust", 2), { ...theirs(1, "healthy", 3, "me"), id: own }, theirs(1, "rust", 4),
      theirs(2, "rust", 5), theirs(2, "healthy", 6));
    return told;"""
    assert run(modules, "labels", "Labels", _LABELS + body) == [[[0, "ada", "rust"]]]


def test_all_that_was_ever_said_is_no_news_when_the_page_opens(modules: Page):
    body = """say(0, "healthy"); await news(theirs(0, "rust", 1)); return told;"""
    assert run(modules, "labels", "Labels", _LABELS + body) == []


def test_what_colleagues_had_said_is_told_in_one_line(modules: Page):
    body = """const of = (by, label) => ({ by, label });
    const many = [of("ada", "rust"), of("ada", "rust"), of("olga", "blight"), of("vera", "x"), of("vera", "y")];
    return [overruled([of("ada", "rust")]), overruled(many)];"""
    assert run(modules, "words", "overruled", body) == [
        "ada had called it rust.",
        "ada had called 2 images rust, olga had called 1 image blight, 2 had other names.",
    ]


_OUTBOX = """const { Refused, Unreachable } = await import('/api.js');
const stored = new Map(), kept = [], refused = [], sent = [];
const storage = { lasting: true, of: async () => [...stored.values()],
  add: async (some) => some.forEach((e) => stored.set(e.id, e)),
  remove: async (ids) => ids.forEach((id) => stored.delete(id)) };
const box = (send) => new Outbox({ storage,
  send: async (batch) => { sent.push(batch.map((e) => e.id)); return send(batch); },
  kept: (batch) => kept.push(...batch.map((e) => e.id)), refused: (e) => refused.push(e.id), changed: () => {} });
const entry = (id, data = 'd') => ({ id, data, index: 0, label: 'rust', mark: '' });"""


def test_the_outbox_sends_again_what_was_not_confirmed_in_the_same_order(modules: Page):
    body = """let fails = 2; const outbox = box(() => { if (fails-- > 0) throw new Unreachable("down"); return 1; });
    outbox.put([entry('a')]); outbox.put([entry('b')]); await outbox.empty();
    return [kept, stored.size, sent.length];"""
    assert run(modules, "outbox", "Outbox", _OUTBOX + body) == [["a", "b"], 0, 3]


def test_one_refused_label_does_not_hold_up_the_others(modules: Page):
    body = """const isBad = (e) => e.id === 'bad';
    const outbox = box((batch) => { if (batch.some(isBad)) throw new Refused(422, {}); return 1; });
    outbox.put(['a', 'bad', 'c', 'd'].map((id) => entry(id))); await outbox.empty();
    return [kept, refused, stored.size];"""
    assert run(modules, "outbox", "Outbox", _OUTBOX + body) == [["a", "c", "d"], ["bad"], 0]


def test_one_message_speaks_of_one_data_set(modules: Page):
    body = """const outbox = box(() => 1);
    outbox.put([entry('a', 'x'), entry('b', 'x'), entry('c', 'y'), entry('d', 'x')]);
    await outbox.empty(); return sent;"""
    assert run(modules, "outbox", "Outbox", _OUTBOX + body) == [["a", "b"], ["c"], ["d"]]


def test_what_an_earlier_page_left_is_sent_before_anything_new(modules: Page):
    body = """stored.set('old', entry('old')); const outbox = box(() => 1); const left = await outbox.load('me');
    outbox.put([entry('new')]); await outbox.empty(); return [left.length, kept];"""
    assert run(modules, "outbox", "Outbox", _OUTBOX + body) == [1, ["old", "new"]]


def test_the_saving_line_tells_the_truth(modules: Page):
    body = """return [[0, "idle"], [1, "sending"], [3, "sending"], [2, "unreachable"], [1, "signed-out"]].map(
        ([waiting, state]) => saving({ waiting, state, memoryOnly: false }));"""
    assert run(modules, "words", "saving", body) == [
        "All saved",
        "1 label waits to be saved",
        "3 labels wait to be saved",
        "2 labels wait here: no connection",
        "1 label waits until you sign in again",
    ]


_SESSION = """const classes = ["rust", "mildew", "other"].map((name) => ({ name, other: name === "other" }));
const session = Object.assign(Object.create(Session.prototype), { board: { classes, goal: 3 } });
const complete = (...counts) => {
  session.labels = { book: { counts: new Map(classes.map(({ name }, place) => [name, counts[place]])) } };
  return session.complete;
};"""


def test_the_class_for_everything_else_needs_no_number(modules: Page):
    body = "return [complete(3, 2, 9), complete(3, 3, 0), complete(4, 3, 1), classes.map((one) => session.goalOf(one))]"
    assert run(modules, "session", "Session", _SESSION + body) == [False, True, True, [3, 3, 0]]


def test_caps_lock_is_no_shift(modules: Page):
    body = """const told = [], note = (word) => () => told.push(word);
    listen({ board: { classes: [{ name: "rust", key: "r" }] } },
      { class: note("rust"), skip: note("skip"), undo: note("undo"), redo: note("redo") });
    for (const pressed of [{ key: "R" }, { key: "r" }, { key: "S" }, { key: "S", shiftKey: true },
      { key: "Z", ctrlKey: true }, { key: "Z", ctrlKey: true, shiftKey: true }])
      document.body.dispatchEvent(new KeyboardEvent("keydown", { ...pressed, bubbles: true }));
    return told;"""
    assert run(modules, "keys", "listen", body) == ["rust", "rust", "skip", "undo", "redo"]


def test_what_the_server_refuses_is_told_with_every_reason(modules: Page):
    body = """const told = (problem) => new Refused(422, problem).message;
    const problems = ["It is there already.", "It is too long."];
    return [told({}), told({ detail: "No.", problems, hint: "Take another." })];"""
    assert run(modules, "api", "Refused", body) == [
        "The server answered 422.",
        "No. It is there already. It is too long. Take another.",
    ]
