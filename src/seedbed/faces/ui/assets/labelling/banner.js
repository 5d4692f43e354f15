// One line between the bar and the images, for what the person should know or decide now.

import { button, h, text } from "./dom.js";
import { goal, plural } from "./words.js";

const HINTS = {
  mistakes: "These labels look wrong. Enter takes the proposal; the class's own key says that it was right.",
  disagreements: "People say different things of these. Say what is right.",
  images: "The images that you came for: name them, or correct their labels.",
};

const MOST_PAIRS = 3; // of people who labelled the same images: the page for reviewing labels tells of all

// Where training is offered; the project's page starts it.
export function trainLink({ id, book, board }) {
  const train = board.training.labels ? "Train again with" : "Train with";
  return h("a", { class: "button main", href: `/projects/${id}#training` }, `${train} ${plural(book.labelled, "label")}`);
}

export class Banner {
  constructor(session, acts) {
    Object.assign(this, { session, acts });
    this.element = h("div", { class: "lb-banner" });
    session.on("banner board mode round order", () => this.draw());
    session.on("selection", () => { if (session.alike) this.told?.(); });
    session.on("counts", () => { if (session.mode === "rounds" || !session.board.classes.length) this.draw(); });
    this.draw();
  }

  draw() {
    // a slider that is being moved stays the same element
    if (this.session.alike && this.drawn === this.session.alike) return;
    this.drawn = this.session.alike;
    const parts = this.#parts();
    this.element.replaceChildren(...parts);
    this.element.hidden = !parts.length;
  }

  #parts() {
    const { board, alike, mode, better, order, proposals } = this.session;
    if (!board.classes.length) return this.#first();
    if (alike) return this.#alike();
    if (mode === "rounds") return this.#round();
    if (better) {
      const words = "A better order is ready: the images most worth a label first.";
      return [h("p", {}, words), button("Show it", () => this.session.showBetter())];
    }
    if (order.length && !order.review) return this.#grouping();
    const hint = HINTS[order.by] || "You look again at images that have been judged.";
    const agreement = order.by === "disagreements" ? proposals.agreement.slice(0, MOST_PAIRS) : [];
    const words = [order.length ? hint : "Nothing to see here.", ...agreement].join(" ");
    return [h("p", {}, words), button("Back to all images", () => this.acts.show("worth"))];
  }

  #first() {
    if (!this.session.board.may_train) return [h("p", {}, "No classes yet.")];
    return [h("p", {}, "No classes yet: say first what can be seen on the images."),
      button("Add a class…", () => this.acts.classes(), { class: "button main" })];
  }

  #grouping() {
    const { grouping, grouping_done: done, grouping_sentence: sentence, proposals, looked_at: seen } = this.session.board;
    if (grouping === "off") return proposals && !seen ? [h("p", {}, sentence)] : [];
    if (grouping === "failed") return [h("p", {}, sentence)];
    if (grouping === "waiting") return [h("p", {}, "Alike images will be put together soon. You can label already.")];
    if (grouping !== "running") return [];
    const values = { "aria-valuenow": Math.round(100 * done), "aria-valuemin": 0, "aria-valuemax": 100 };
    const named = { role: "progressbar", "aria-label": "Putting alike images together" };
    const bar = h("div", { class: "bar", ...named, ...values }, h("div"));
    bar.firstChild.style.width = `${100 * done}%`;
    return [h("p", {}, "Alike images are being put together. You can label already."), bar];
  }

  #alike() {
    const { session } = this, { alike, order } = session;
    const slider = h("input", { type: "range", id: "lb-alike", min: 1, max: order.length });
    const picked = h("output", { for: "lb-alike", class: "number" });
    slider.addEventListener("input", () => session.takeAlike(Number(slider.value)));
    this.told = () => {
      slider.value = alike.take;
      text(picked, plural(session.selection.picked.size, "image"));
    };
    return [h("p", {}, "The most alike come first. "), h("label", { for: "lb-alike" }, "How many to pick"), slider, picked,
      button("Back", () => this.session.leaveAlike())];
  }

  #round() {
    const { session } = this, { round, board } = session;
    const names = board.classes.map((one) => one.name), have = session.countOf(round);
    const wanted = session.goalOf(session.classOf(round));
    const next = names[(names.indexOf(round) + 1) % names.length];
    const title = h("p", { class: "lb-round" }, `Pick ${wanted ? plural(wanted, "image") : "images"} of `, h("strong", {}, round), ": ",
      h("span", { class: "number" }, goal(have, have > wanted ? 0 : wanted)));
    title.style.setProperty("--class", session.classOf(round)?.colour || "var(--leaf)");
    const main = have >= wanted && !session.complete;
    const attributes = { class: main ? "button main" : "button", title: "Next class: ]" };
    const on = button(`Next: ${next}`, () => this.acts.nextClass(), attributes);
    const parts = [title, ...(names.length > 1 ? [on] : [])];
    return session.complete && board.may_train ? [...parts, trainLink(session)] : parts;
  }
}
