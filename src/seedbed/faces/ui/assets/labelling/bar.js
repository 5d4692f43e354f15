// The row above the images: how to label, what to show first, who else is here, and whether everything is saved.

import { button, h, put, text } from "./dom.js";
import { ORDERS, isReview, titleOf } from "./shows.js";
import { number, saving } from "./words.js";

const MODES = { grid: "Grid", single: "One by one", rounds: "Class by class" };

export class Bar {
  constructor(session, acts) {
    this.session = session;
    const mode = ([name, words]) => button(words, () => acts.mode(name), { class: "lb-mode", "data-mode": name });
    this.modes = Object.entries(MODES).map(mode);
    this.select = h("select", { id: "lb-show", "aria-label": "Show", onchange: () => acts.show(this.select.value) });
    this.people = h("ul", { class: "lb-people", "aria-label": "Who else is here" });
    this.saved = h("span", { class: "lb-saved", role: "status" });
    this.element = h("div", { class: "lb-bar" },
      h("div", { class: "lb-modes", role: "group", "aria-label": "How to label" }, ...this.modes),
      h("label", { class: "lb-show", for: "lb-show" }, h("span", { class: "soft" }, "Show"), this.select),
      h("div", { class: "lb-tools", role: "group", "aria-label": "Tools" },
        button("−", () => acts.smaller(), { class: "plain", title: "Smaller pictures (-)", "aria-label": "Smaller pictures" }),
        button("+", () => acts.larger(), { class: "plain", title: "Larger pictures (+)", "aria-label": "Larger pictures" }),
        button("Undo", () => acts.undo(), { class: "lb-link", title: "Undo (u)" }),
        button("Keys", () => acts.help(), { class: "lb-link", title: "All keys (?)" })),
      this.people, this.saved);
    session.on("mode", () => this.#mode());
    session.on("board order counts mode", () => this.#shows());
    session.on("saving", () => this.#saving());
    session.on("people", () => this.#people());
    this.#mode();
    this.#shows();
    this.#saving();
    this.#people();
  }

  #mode() { for (const one of this.modes) put(one, "aria-pressed", one.dataset.mode === this.session.mode); }

  #shows() {
    const { board, show } = this.session;
    const labelled = board.classes.filter((one) => this.session.countOf(one.name)).map((one) => `labelled:${one.name}`);
    const rounds = this.session.mode === "rounds";
    const isAble = { groups: board.grouping !== "off", class: rounds };
    const able = Object.keys(ORDERS).filter((by) => isAble[by] ?? true);
    const others = [...labelled, ...(isReview(show) && !labelled.includes(show) ? [show] : [])];
    const key = [...able, "", ...others].join("\n");
    if (this.listed !== key) {
      this.listed = key;
      const option = (by) => h("option", { value: by }, titleOf(by));
      const again = others.length ? [h("optgroup", { label: "Look again" }, ...others.map(option))] : [];
      this.select.replaceChildren(h("optgroup", { label: "To label" }, ...able.map(option)), ...again);
    }
    if (this.select.value !== show) this.select.value = show;
  }

  #saving() {
    const { outbox } = this.session;
    const state = { waiting: outbox.waiting, state: outbox.state, memoryOnly: !outbox.storage.lasting };
    text(this.saved, saving(state));
    put(this.saved, "data-state", !state.waiting ? "saved" : state.state === "idle" ? "sending" : state.state);
  }

  #people() {
    const others = this.session.people.filter((one) => one.name !== this.session.me);
    this.people.replaceChildren(...others.slice(0, 5).map(({ name, where }) => {
      const doing = where >= 0 ? `${name} looks at image ${number(where + 1)}` : `${name} is here`;
      const first = h("span", { "aria-hidden": "true" }, name.slice(0, 1));
      return h("li", { class: "avatar", title: doing }, first, h("span", { class: "unseen" }, doing));
    }));
  }
}
