// One image of the grid: its picture, what is said of it, and an honest sign of whether that is on disk yet.

import { thumbnail } from "./api.js";
import { h, put, text } from "./dom.js";
import * as words from "./words.js";

const AGAIN = [1000, 3000, 9000]; // milliseconds; a picture that did not come is asked for again

export class Cell {
  constructor() {
    this.swatch = h("span", { class: "lb-swatch" });
    this.name = h("span", { class: "lb-name" });
    this.sign = h("span", { class: "lb-sign" });
    this.frame = h("div", { class: "lb-frame" });
    this.caption = h("div", { class: "lb-caption" }, this.swatch, this.name, this.sign);
    this.element = h("div", { role: "option", class: "lb-cell" }, this.frame, this.caption);
  }

  bind(position, index, { x, y }, session) {
    this.position = position;
    this.index = index;
    this.element.id = `image-${index}`;
    this.element.style.transform = `translate(${x}px, ${y}px)`;
    put(this.element, "aria-setsize", session.order.length);
    put(this.element, "aria-posinset", position + 1);
    this.frame.replaceChildren(); // a new picture each time: the old one must never stand under the new name
    this.picture = null;
    this.draw(session);
  }

  load(data, size) {
    if (this.picture) return;
    this.picture = h("img", { alt: "", decoding: "async", draggable: "false" });
    const picture = this.picture;
    let tries = 0;
    picture.onload = () => { put(picture, "data-there", true); };
    picture.onerror = () => {
      if (tries < AGAIN.length) setTimeout(() => { if (picture === this.picture) picture.src = picture.src; }, AGAIN[tries++]);
    };
    picture.src = thumbnail(data, this.index, size);
    this.frame.append(picture);
  }

  draw(session) {
    const said = session.book.of(this.index), proposal = session.proposals.of(this.index);
    const state = said.mark || (said.label ? "labelled" : proposal ? "proposed" : "open");
    const shown = said.label || (proposal ? proposal.label : "");
    const quarrel = session.proposals.said.get(this.index);
    put(this.element, "data-state", state);
    put(this.element, "data-kept", state === "open" || state === "proposed" ? null : said.kept);
    put(this.element, "data-sure", state === "proposed" && proposal.confidence >= 0.75);
    this.element.style.setProperty("--class", session.classOf(shown)?.colour || "var(--soft)");
    text(this.name, quarrel ? quarrelWords(quarrel) : captionOf(said, proposal));
    put(this.element, "aria-label", words.image(this.index, said, proposal));
    put(this.element, "title", quarrel ? quarrelWords(quarrel) : this.#title(said, session)); // in full: cells are narrow
    this.drawRound(session, said);
    this.drawPlace(session);
  }

  // In the rounds of class by class, what belongs to this round's class is checked and the rest steps back.
  drawRound(session, said = session.book.of(this.index)) {
    const round = session.isRound ? session.round : "";
    put(this.element, "data-round", round ? (said.label === round ? "in" : said.label ? "other" : "open") : null);
  }

  drawPlace({ selection, people, me, isRound, round, book }) {
    const picked = isRound ? book.of(this.index).label === round : selection.picked.has(this.position);
    put(this.element, "aria-selected", picked);
    put(this.element, "data-cursor", selection.cursor === this.position);
    const visitor = people.find((one) => one.where === this.index && one.name !== me);
    put(this.frame, "data-visitor", visitor ? visitor.name : null);
  }

  #title(said, { me }) {
    if (!said.label && !said.mark) return null;
    const by = said.by && said.by !== me ? ` by ${said.by}` : "";
    return said.kept ? `On disk${by}` : "On its way to the disk";
  }
}

function captionOf(said, proposal) {
  if (said.mark) return said.mark === "unsure" ? "not sure" : "skipped";
  if (said.label && proposal) return `${said.label}, or ${proposal.label}?`;
  if (said.label) return said.label;
  return proposal ? `${proposal.label}?` : "";
}

const quarrelWords = (said) => Object.entries(said).map(([person, label]) => `${person}: ${label}`).join(" · ");
