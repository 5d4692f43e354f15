// What the images probably show, going by the labels so far. Asked for what is on the screen, and asked again when
// labels have changed; never for images that have a label.

const MOST = 1000, CALM = 150, STALE = 1200; // images in one question; milliseconds

export class Proposals {
  #known = new Map(); // index: {label, confidence}
  #suspects = new Map(); // the same for images that have a label which may be wrong
  #visible = [];
  #fresh = new Set(); // asked since labels last changed
  #timer = 0;
  #busy = false;

  constructor({ api, book, changed, shown }) {
    Object.assign(this, { api, book, changed, shown, said: new Map(), agreement: [] });
  }

  of(index) {
    if (this.#suspects.has(index)) return this.#suspects.get(index);
    return this.shown && this.book().isOpen(index) ? this.#known.get(index) : undefined;
  }

  suspect(mistakes) {
    this.#suspects = new Map(mistakes.map(({ index, likely, confidence }) => [index, { label: likely, confidence }]));
  }

  // Somebody has judged this image anew.
  settle(index) {
    this.#suspects.delete(index);
    this.said.delete(index);
  }

  // Other images: their numbers mean nothing any more.
  forget() {
    for (const known of [this.#known, this.#suspects, this.#fresh, this.said]) known.clear();
  }

  want(indexes) {
    this.#visible = indexes;
    this.#soon(CALM);
  }

  labelsChanged() {
    this.#fresh.clear();
    this.#soon(STALE);
  }

  #soon(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), milliseconds);
  }

  async #ask() {
    if (this.#busy || !this.shown) return;
    const indexes = this.#visible.filter((index) => !this.#fresh.has(index) && this.book().isOpen(index)).slice(0, MOST);
    if (!indexes.length) return;
    this.#busy = true;
    indexes.forEach((index) => this.#fresh.add(index));
    try {
      const { suggestions } = await this.api.post("/suggestions", { indexes });
      const changed = suggestions.filter(({ index, label, confidence }) => this.#learn(index, { label, confidence }));
      if (changed.length) this.changed(changed.map(({ index }) => index));
    } catch {
      indexes.forEach((index) => this.#fresh.delete(index)); // proposals are a help, not a need: the next look asks again
    }
    this.#busy = false;
  }

  #learn(index, proposal) {
    const before = this.#known.get(index);
    this.#known.set(index, proposal);
    return before?.label !== proposal.label || Math.abs(before.confidence - proposal.confidence) > 0.01;
  }
}
