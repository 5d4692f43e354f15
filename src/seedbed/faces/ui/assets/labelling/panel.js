// The classes beside the images: what they are, how many labels each has, what else can be said, what would help most.

import { trainLink } from "./banner.js";
import { button, h, put, swatch, text } from "./dom.js";
import { freeKeys } from "./keys.js";
import { goal, number, plural } from "./words.js";

const OTHERS = { unsure: "Not sure", skip: "Skip", clear: "No label", alike: "All like this", large: "Large" };
const ENOUGH = 20; // labels, before anything can be said about wrong ones

export class Panel {
  constructor(session, acts) {
    this.session = session;
    this.acts = acts;
    this.title = h("h2", { class: "lb-title" });
    this.list = h("ul", { class: "lb-classes" });
    this.done = h("p", { class: "lb-done soft number" });
    this.gain = h("p", { class: "lb-gain", hidden: true });
    this.ready = h("div", { class: "lb-ready", hidden: true });
    this.views = h("ul", { class: "lb-views" });
    this.others = h("div", { class: "lb-others" });
    this.change = button("", () => acts.classes(), { class: "lb-link" });
    this.element = h("aside", { class: "lb-panel", "aria-label": "Classes" },
      this.title, this.list, this.others, this.done, this.gain, this.ready, this.views, this.change);
    session.on("board", () => this.build());
    session.on("counts helps images", () => this.#count());
    session.on("selection mode round order", () => this.#address());
    this.build();
  }

  build() {
    const { board } = this.session;
    this.rows = board.classes.map((klass) => this.#row(klass));
    this.list.replaceChildren(...this.rows.map((row) => row.item));
    this.change.hidden = !board.may_train;
    text(this.change, board.classes.length ? "Change classes…" : "Add the first class…");
    this.others.hidden = !board.may_label;
    const keys = new Map(freeKeys(board.classes).map(({ act, pressed }) => [act, pressed]));
    this.others.replaceChildren(...Object.entries(OTHERS).map(([act, words]) => this.#other(words, keys.get(act), act)));
    this.#count();
    this.#address();
  }

  #row(klass) {
    const count = h("span", { class: "lb-count number" });
    const filled = h("span", { class: "lb-filled" });
    const key = klass.key ? h("kbd", { "aria-hidden": "true" }, klass.key) : h("span", { class: "lb-keyless" });
    const press = button("", () => this.acts.class(klass), { class: "lb-class", "aria-keyshortcuts": klass.key || null });
    press.style.setProperty("--class", klass.colour || "var(--soft)");
    press.append(key, swatch(klass.colour), h("span", { class: "lb-name" }, klass.name), count,
      h("span", { class: "lb-meter", "aria-hidden": "true" }, filled));
    return { klass, press, count, filled, item: h("li", {}, press) };
  }

  #other(words, key, act) {
    const made = button(words, () => this.acts[act](), { class: "lb-other", "aria-keyshortcuts": key });
    if (key) made.append(" ", h("kbd", { "aria-hidden": "true" }, key === "Backspace" ? "⌫" : key));
    return made;
  }

  // To what a press on a class would go.
  #address() {
    const { session } = this, picked = session.selection.picked.size;
    const words = picked > 1 ? `${plural(picked, "image")} picked` : "This image shows";
    text(this.title, session.isRound ? "Classes" : words);
    for (const { klass, press } of this.rows) {
      put(press, "data-round", session.isRound && session.round === klass.name);
      put(press, "aria-pressed", session.isRound ? session.round === klass.name : null);
    }
    this.#current();
  }

  #current() {
    const { session } = this;
    const said = session.current >= 0 ? session.book.of(session.current).label : "";
    for (const { klass, press } of this.rows) put(press, "data-said", !session.isRound && klass.name === said);
  }

  #count() {
    const { session } = this;
    for (const { klass, press, count, filled } of this.rows) {
      const have = session.countOf(klass.name), wanted = session.goalOf(klass);
      text(count, goal(have, have < wanted ? wanted : 0));
      filled.style.width = `${Math.min(100, (100 * have) / session.goal)}%`;
      put(press, "data-full", wanted > 0 && have >= wanted);
      put(press, "aria-label", `${klass.name}, ${plural(have, "label")}`);
    }
    text(this.done, `${number(session.book.labelled)} of ${plural(session.board.images, "image")} labelled`);
    this.#help();
    this.#offer();
    this.#see();
    this.#current();
  }

  #help() {
    const first = this.session.gains[0];
    this.gain.hidden = !first;
    if (first) text(this.gain, first.sentence || `About ${plural(first.labels, "more label")} would help ${first.class}.`);
  }

  // Training is offered when every class has its number; after the first, as soon as there are more labels than it had.
  #offer() {
    const { board, complete, book } = this.session, { state, labels } = board.training;
    const training = state === "none" ? "" : board.training.sentence, more = labels ? book.labelled - labels : 0;
    this.ready.hidden = !complete && !training;
    const key = `${complete} ${book.labelled} ${labels} ${training}`;
    if (this.offered === key) return;
    this.offered = key;
    const parts = training ? [h("p", {}, training)] : [];
    if (more > 0) parts.push(h("p", {}, `There ${more === 1 ? "is" : "are"} ${plural(more, "more label")} than it began with.`));
    else if (complete) parts.push(h("p", {}, `Every class has its ${this.session.goal} labels.`));
    const open = ["waiting", "running", "stopped"].includes(state);
    if (board.may_train && !open && (complete || more > 0)) parts.push(trainLink(this.session));
    this.ready.replaceChildren(...parts);
  }

  // Ways to look at images again.
  #see() {
    const { book, quarrels = [] } = this.session;
    const wanted = [
      ["marked:unsure", `Not sure: ${book.marked.unsure}`, book.marked.unsure],
      ["marked:skipped", `Skipped: ${book.marked.skipped}`, book.marked.skipped],
      ["disagreements", `People disagree: ${quarrels.length}`, quarrels.length],
      ["mistakes", "Look for wrong labels", book.labelled >= ENOUGH && this.session.board.may_label],
    ].filter(([, , count]) => count);
    const key = JSON.stringify(wanted);
    if (this.seen === key) return;
    this.seen = key;
    const view = ([show, words]) => h("li", {}, button(words, () => this.acts.show(show), { class: "lb-link" }));
    this.views.replaceChildren(...wanted.map(view));
  }
}
