// What is said of the images, here and elsewhere: the book, the way to the server's disk, what can be undone, and what
// the server's feed brings. `tell` is called with what happened: images, counts, saving, kept, heard, overruled, refused.

import { Book } from "./book.js";
import { History } from "./history.js";
import { Outbox } from "./outbox.js";

const PAGE = 10_000; // events in one answer

export class Labels {
  #turn = Date.now() * 1000; // grows over pages too: what was said later is sent later
  #last = 0; // number of the newest event that is known
  #meaning = 0; // number of the newest change of a class's name that is known
  #catching = null;

  constructor({ api, me, owner, storage, tell }) {
    Object.assign(this, { api, me, owner, tell });
    this.outbox = new Outbox({
      storage, send: (batch) => this.#send(batch), kept: (batch) => this.#kept(batch),
      refused: (entry, error) => this.#refused(entry, error), changed: () => tell("saving"),
    });
  }

  // Of which images one speaks: a data set, and how many it has.
  turnTo(data, images) {
    this.data = data;
    this.book = new Book(images);
    this.history = new History();
    this.#last = 0;
  }

  // What an earlier page could not send is sent now, and shown.
  async resume() {
    for (const entry of await this.outbox.load(this.owner)) if (entry.data === this.data) this.book.said(entry);
  }

  // `wishes`: {index, label, mark} each; what is so already, and was said by this person, is not said again.
  say(wishes) {
    const changes = wishes
      .map(({ index, label, mark }) => ({ index, before: this.book.of(index), after: { label, mark } }))
      .filter(({ before, after }) => before.label !== after.label || before.mark !== after.mark || before.by !== this.me);
    if (!changes.length) return;
    this.history.add(changes);
    this.#write(changes);
    const theirs = changes.filter(({ before }) => before.by && before.by !== this.me);
    if (theirs.length) this.#overruled(theirs.map(({ index, before }) => ({ index, ...before })));
  }

  // `said` by others, as {index, label, by}: of which of those images this person says something else.
  #overruled(said) {
    const others = said.filter(({ index, label }) => label && this.book.of(index).label !== label);
    if (others.length) this.tell("overruled", others);
  }

  // What was taken back, and how many images stay because somebody else has judged them since; null: nothing was done.
  undo() { return this.#back(this.history.undo((index) => this.book.of(index))); }
  redo() { return this.#back(this.history.redo((index) => this.book.of(index))); }

  #back(found) {
    if (found?.changes.length) this.#write(found.changes);
    return found;
  }

  #write(changes) {
    const { owner, data, me: by } = this;
    const entries = changes.map(({ index, after: { label, mark } }) =>
      ({ id: newId(), owner, data, index, label, mark, by, turn: this.#turn++ }));
    for (const entry of entries) this.book.said(entry);
    this.outbox.put(entries);
    this.#changed(entries.map((entry) => entry.index));
  }

  async #send(batch) {
    const labels = batch.map(({ id, index, label, mark }) => ({ id, index, label, mark }));
    await this.api.post("/labels", { data: batch[0].data, labels });
  }

  #kept(batch) {
    const here = batch.filter((entry) => entry.data === this.data);
    for (const entry of here) this.book.kept(entry);
    this.tell("images", here.map((entry) => entry.index));
    this.tell("kept", here.length);
  }

  #refused(entry, error) {
    if (entry.data === this.data) this.book.refused(entry);
    this.tell("refused", error);
    this.#changed([entry.index]);
  }

  #changed(indexes) { // null: perhaps all
    this.tell("images", indexes);
    this.tell("counts");
  }

  // What was said elsewhere, up to now.
  catchUp() {
    this.#catching ??= this.#catch().finally(() => { this.#catching = null; });
    return this.#catching;
  }

  async #catch() {
    let more = true;
    while (more) {
      const { book, data } = this;
      const page = await this.api.get(`/labels/changes?after=${this.#last}&data=${data}&limit=${PAGE}`);
      if (book !== this.book) continue; // other images meanwhile
      if (this.#last && page.classes !== this.#meaning) {
        this.#readAnew();
        continue;
      }
      const isNews = this.#last > 0; // else it is all that was ever said
      more = page.more;
      this.#meaning = page.classes;
      this.#last = page.last;
      this.#heard(page.events.filter((event) => book.heard(event)), isNews);
    }
  }

  #heard(events, isNews) {
    if (!events.length) return;
    this.#changed(events.map((event) => event.index));
    const others = events.filter((event) => event.by !== this.me);
    this.tell("heard", others);
    // said elsewhere while this person spoke here, who then has the last word; of each image only the newest matters
    const newest = [...new Map(others.map((event) => [event.index, event])).values()];
    if (isNews) this.#overruled(newest.filter(({ index }) => this.book.of(index).by === this.me));
  }

  // A class has another name, or is one with another: what was said means something else now.
  #readAnew() {
    const waiting = [...this.book.waiting.values()].flat();
    this.book = new Book(this.book.labels.length);
    this.#last = 0;
    for (const entry of waiting) this.book.said(entry);
    this.#changed(null);
  }
}

// crypto.randomUUID is not there on plain http, which is what a cluster's node often speaks.
function newId() {
  const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}
