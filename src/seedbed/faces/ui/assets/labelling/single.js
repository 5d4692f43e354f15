// One image, large: what it shows is said with one key, and the next comes. A click looks closer.

import { thumbnail } from "./api.js";
import { button, h, put, text } from "./dom.js";
import { number, percent } from "./words.js";

const SIDE = 1024; // pixels that are asked for
const AHEAD = 3; // images that are fetched before they are shown
const CLOSER = [1, 2, 4];

export class Single {
  #names = new Map();
  #closer = 0;

  constructor(session, acts) {
    this.session = session;
    this.stage = h("div", { class: "lb-stage", role: "group", "aria-label": "The image" });
    this.said = h("p", { class: "lb-saying" });
    this.offer = h("span", {});
    this.take = button("", () => acts.accept(), { class: "lb-take", hidden: true });
    this.take.append(this.offer, h("kbd", { "aria-hidden": "true" }, "Enter"));
    this.where = h("p", { class: "lb-where soft small" });
    this.element = h("div", { class: "lb-single", hidden: true },
      this.stage,
      h("div", { class: "lb-under" },
        button("←", () => acts.step(-1), { "aria-label": "The image before" }),
        h("div", { class: "lb-words" }, h("div", { class: "lb-said" }, this.said, this.take), this.where),
        button("→", () => acts.step(1), { "aria-label": "The next image" })));
    this.stage.addEventListener("click", (event) => { this.#aim(event); this.zoom(this.#closer ? -this.#closer : 1); });
    this.stage.addEventListener("pointermove", (event) => this.#aim(event));
    session.on("mode order selection", () => this.draw());
    session.on("images board", () => this.#words());
  }

  get shown() { return this.session.mode === "single" || this.session.peeking; }

  draw() {
    this.element.hidden = !this.shown;
    const index = this.session.current;
    if (!this.shown || index < 0) return;
    if (this.index !== index || this.data !== this.session.board.data) this.#turnTo(index);
    this.#words();
  }

  zoom(step) {
    this.#closer = Math.min(CLOSER.length - 1, Math.max(0, this.#closer + step));
    this.stage.style.setProperty("--closer", CLOSER[this.#closer]);
    put(this.stage, "data-closer", this.#closer > 0);
  }

  #turnTo(index) {
    this.index = index;
    this.data = this.session.board.data;
    this.zoom(-CLOSER.length);
    const src = thumbnail(this.data, index, SIDE);
    const picture = h("img", { alt: `Image ${number(index + 1)}`, src, draggable: "false" });
    picture.onload = () => put(picture, "data-there", true);
    this.stage.replaceChildren(picture);
    this.#fetchAhead();
    this.#name(index);
  }

  #fetchAhead() {
    const { order, selection, book } = this.session;
    let place = selection.cursor;
    for (let count = 0; count < AHEAD && place >= 0; count++) {
      place = order.review ? (place + 1) % order.length : order.next(place, (index) => book.isOpen(index));
      if (place >= 0) new Image().src = thumbnail(this.data, order.at(place), SIDE);
    }
  }

  async #name(index) {
    if (!this.#names.has(index)) {
      try {
        const [record] = await this.session.api.get(`/api/v1/data/${this.data}/records?offset=${index}&limit=1`);
        this.#names.set(index, record?.file || "");
      } catch { return; } // the name is only a help
    }
    if (index === this.index) this.#words();
  }

  #words() {
    if (!this.shown || this.index == null) return;
    const { session, index } = this;
    const said = session.book.of(index), proposal = session.proposals.of(index);
    put(this.element, "data-state", said.mark || (said.label ? "labelled" : "open"));
    put(this.element, "data-kept", said.kept);
    const shown = said.label || proposal?.label || "";
    this.element.style.setProperty("--class", session.classOf(shown)?.colour || "var(--soft)");
    this.said.replaceChildren(...saying(said, proposal));
    text(this.offer, said.label ? `Change to ${proposal?.label}` : "Accept");
    this.take.hidden = !proposal || Boolean(said.mark) || !session.board.may_label;
    const place = `${number(session.selection.cursor + 1)} of ${number(session.order.length)}`;
    text(this.where, [place, this.#names.get(index)].filter(Boolean).join(" · "));
    session.proposals.want(Array.from(session.order.indexes.slice(session.selection.cursor, session.selection.cursor + 8)));
  }

  #aim({ clientX, clientY }) {
    const edge = this.stage.getBoundingClientRect();
    const across = (100 * (clientX - edge.left)) / edge.width, down = (100 * (clientY - edge.top)) / edge.height;
    this.stage.style.setProperty("--at", `${across}% ${down}%`);
  }
}

function saying(said, proposal) {
  const strong = (words) => h("strong", {}, words);
  if (said.mark === "unsure") return ["Not sure"];
  if (said.mark === "skipped") return ["Skipped"];
  if (said.label && proposal) return ["Labelled ", strong(said.label), "; perhaps ", strong(proposal.label)];
  if (said.label) return ["Labelled ", strong(said.label), said.kept ? "" : ", on its way to the disk"];
  if (proposal) return ["Looks like ", strong(proposal.label), `, ${percent(proposal.confidence)} sure`];
  return ["What does it show?"];
}
