// Whoever says something else of an image than a colleague did is told so, beside the work: a line that goes by itself,
// with a way to look again. It is drawn after the label is shown, so that no key waits for it.

import { button, h } from "./dom.js";
import { overruled } from "./words.js";

const AFTER = 150; // milliseconds; what is said in one go is told in one line
const SECONDS = 9;

export class Overruled {
  #said = []; // of what the line tells: {index, label, by}, as it was before
  #line = null;
  #soon = 0;

  constructor(session, acts) {
    Object.assign(this, { session, acts });
    session.on("overruled", (said) => this.#hear(said));
  }

  #hear(said) {
    const known = this.session.proposals.said; // where people disagree, each one's word is on the image
    if (!this.#soon && !this.#line?.isConnected) this.#said = [];
    this.#said.push(...said.filter(({ index }) => !known.has(index)));
    this.#soon ||= setTimeout(() => this.#tell(), AFTER);
  }

  #tell() {
    this.#soon = 0;
    if (!this.#said.length) return;
    this.#line?.remove();
    const words = h("span", {}, `${overruled(this.#said)} `, button("Look again", () => this.#look(), { class: "lb-link" }));
    this.#line = seedbed.toast(words, { seconds: SECONDS });
  }

  #look() {
    this.#line.remove();
    const { session } = this, indexes = [...new Set(this.#said.map(({ index }) => index))];
    const place = indexes.length === 1 ? session.order.positionOf(indexes[0]) : -1;
    if (place >= 0) session.move(place);
    else this.acts.show(`images:${indexes.join(",")}`);
  }
}
