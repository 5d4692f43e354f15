// One person labels one project: everything that the parts of the page share, and what can be done with it.
// Parts listen with `on` and draw; they never change what is here but through these methods.

import { Api } from "./api.js";
import { Labels } from "./labels.js";
import { Order } from "./order.js";
import { Proposals } from "./proposals.js";
import { Selection } from "./selection.js";
import { isReview, orderOf } from "./shows.js";
import { openStorage } from "./storage.js";
import { plural } from "./words.js";

const IMPATIENT = 900; // milliseconds until images are shown in any order rather than none
const AGAIN = 3000; // milliseconds until an order that could not be had is asked for again
const FOLLOWS_LABELS = new Set(["worth", "unsure", "class"]); // orders that change with what is labelled
const STALE = 20; // labels after which what is worth labelling next may be something else

export class Session {
  #listeners = new Map();

  constructor({ project, name, person }) {
    this.id = project;
    this.me = name;
    this.owner = `${project} ${person}`;
    this.api = new Api(project);
    this.selection = new Selection();
    this.order = new Order([]);
    this.people = [];
    this.gains = [];
    this.mode = "grid"; // or single, or rounds
    this.peeking = false; // one image large for a moment, in the other modes
    this.since = 0; // labels that were kept since the order was made
    this.on("kept", (count) => { this.since += count; });
    this.on("kept heard", () => this.proposals.labelsChanged());
    this.on("refused", (error) => seedbed.toast(`A label was not accepted: ${error.message}`, { state: "failed" }));
  }

  get book() { return this.labels.book; }
  get outbox() { return this.labels.outbox; }
  catchUp() { return this.labels.catchUp(); }

  on(kinds, listener) {
    for (const kind of kinds.split(" ")) this.#listeners.set(kind, [...(this.#listeners.get(kind) || []), listener]);
  }

  tell(kind, detail) { for (const listener of this.#listeners.get(kind) || []) listener(detail); }

  // --- beginning ------------------------------------------------------------------------------------------------------

  async open(show) {
    this.show = show;
    const first = isReview(show) ? null : this.api.get(`/order?by=${encodeURIComponent(show)}`);
    first?.catch(() => {}); // it is looked at below
    const [board, storage] = await Promise.all([this.api.get("/board"), openStorage()]);
    this.people = board.people;
    this.board = board;
    const tell = (kind, detail) => this.tell(kind, detail);
    this.labels = new Labels({ api: this.api, me: this.me, owner: this.owner, storage, tell });
    this.labels.turnTo(board.data, board.images);
    this.proposals = new Proposals({
      api: this.api, book: () => this.book, shown: board.may_label && board.proposals, changed: (some) => this.tell("images", some),
    });
    await this.labels.resume();
    const labels = this.catchUp().catch(() => {}); // the news tries again
    if (first) await this.#firstOrder(first, labels);
    else await labels.then(() => this.choose(show));
    setInterval(() => this.#lookForBetter(), AGAIN);
  }

  // Images at once, in whatever order; one begins at the first that wants a label, as soon as that is known.
  async #firstOrder(asked, labels) {
    const late = new Promise((over) => setTimeout(over, IMPATIENT, null));
    const order = asked.then((answer) => Order.fromAnswer(answer)).catch(() => null);
    const [soon] = await Promise.all([Promise.race([order, late]), Promise.race([labels, late])]);
    this.#turnTo(soon || Order.ofAll(this.board.images));
    labels.then(() => {
      if (this.#isUntouched && !this.book.isOpen(this.current)) this.advance();
    });
  }

  get #isUntouched() { return !this.labels.history.size && !this.selection.cursor && !this.selection.picked.size; }

  // What was asked for was not there yet, or much has been labelled since: a better order is fetched beside the work,
  // and shown at once only where that disturbs nobody.
  async #lookForBetter() {
    const { show } = this;
    const isStale = this.order.by === show ? this.since >= STALE : this.board.looked_at;
    if (!isStale || document.hidden || this.alike || this.better || !FOLLOWS_LABELS.has(show)) return;
    const order = await orderOf(show, this).catch(() => null);
    if (!order || order.by !== show || show !== this.show || this.alike) return;
    if (this.#isUntouched) this.#turnTo(order);
    else { this.better = order; this.tell("banner"); }
  }

  // --- what is shown --------------------------------------------------------------------------------------------------

  get current() { return this.order.length ? this.order.at(this.selection.cursor) : -1; }
  get targets() {
    return this.selection.targets.map((position) => this.order.at(position)).filter((index) => index != null);
  }

  classOf(name) { return this.board.classes.find((one) => one.name === name); }
  countOf(name) { return this.book.counts.get(name) || 0; }
  get goal() { return this.board.goal || 25; }
  goalOf(klass) { return klass?.other ? 0 : this.goal; } // what is none of the others may be rare
  get complete() {
    const { classes } = this.board;
    return classes.filter((one) => !one.other).length > 1 && classes.every((one) => this.countOf(one.name) >= this.goalOf(one));
  }

  async choose(show) {
    const order = await orderOf(show, this);
    this.show = show;
    this.alike = null;
    this.#turnTo(order);
  }

  // For a while only images that look like one of them; `leave` returns to where one was.
  async allLike(index) {
    const { indexes } = await this.api.get(`/similar/${index}?count=120`);
    if (!indexes.length) throw new Error(this.board.looked_at ? "there are no others." : this.board.grouping_sentence);
    const found = [index, ...indexes.filter((one) => one !== index)];
    this.alike = { index, from: this.order, cursor: this.selection.cursor, take: 0 };
    this.#turnTo(new Order(Uint32Array.from(found), [], { by: "alike" }));
    this.takeAlike(Math.min(24, found.length));
  }

  // Picks that many of those that still want a label, the most alike first.
  takeAlike(count) {
    this.alike.take = count;
    const open = [...this.order.indexes.keys()].filter((place) => this.book.isOpen(this.order.at(place)));
    this.selection.pick(open.slice(0, count));
    this.tell("selection");
  }

  leaveAlike() {
    const { from, cursor } = this.alike;
    this.alike = null;
    this.#turnTo(from, cursor);
  }

  showBetter() { this.#turnTo(this.better); }

  #turnTo(order, cursor = 0) {
    this.order = order;
    this.better = null;
    this.since = 0;
    this.selection.clear(Math.min(cursor, Math.max(0, order.length - 1)));
    if (!order.review && !cursor && order.length && !this.book.isOpen(order.at(0))) this.#step(-1);
    this.tell("order");
    this.tell("banner");
  }

  // Whether a press picks for the round's class: not while alike images are shown, which are picked and named as ever.
  get isRound() { return this.mode === "rounds" && !this.alike; }

  turnMode(mode) {
    if (mode === "rounds" && this.alike) this.leaveAlike();
    this.mode = mode;
    this.peeking = false;
    this.selection.clear();
    this.tell("mode");
    this.tell("banner");
  }

  peek(on = !this.peeking) {
    this.peeking = on;
    this.tell("mode");
  }

  move(position, { reach = false } = {}) {
    if (reach) this.selection.reach(position);
    else this.selection.clear(position);
    this.tell("selection");
  }

  // To the next image that wants a label; where labels are looked through, simply to the next.
  advance(from = this.selection.cursor) {
    if (this.better && this.mode === "single") return this.showBetter(); // nobody sees the order there
    if (!this.#step(from)) this.tell("said", "Every image here has been looked at.");
    return this.tell("selection");
  }

  #step(from) {
    const { order, book } = this;
    const next = order.review ? Math.min(from + 1, order.length - 1) : order.next(from, (index) => book.isOpen(index));
    this.selection.clear(next < 0 ? this.selection.cursor : next);
    return next >= 0;
  }

  // --- what people say ------------------------------------------------------------------------------------------------

  // Label or mark what is picked, and go on.
  label(label, mark = "") {
    const places = this.selection.targets;
    this.say(this.targets.map((index) => ({ index, label, mark })));
    if (this.isRound && !this.peeking) this.tell("selection");
    else this.advance(places.at(-1));
  }

  accept() {
    const places = this.selection.targets;
    const proposed = this.targets.map((index) => [index, this.proposals.of(index)]).filter(([, proposal]) => proposal);
    if (!proposed.length) return this.tell("said", "There is no proposal for this image yet.");
    this.say(proposed.map(([index, { label }]) => ({ index, label, mark: "" })));
    return this.advance(places.at(-1));
  }

  say(wishes) {
    if (!this.board.may_label) return seedbed.toast("You may look here, but not label.", { state: "warn" });
    for (const { index } of wishes) this.proposals.settle(index);
    return this.labels.say(wishes);
  }

  undo() { this.#told(this.labels.undo(), "Undone"); }
  redo() { this.#told(this.labels.redo(), "Done again"); }

  #told(found, word) {
    if (!found) return this.tell("said", "There is nothing to undo.");
    const { changes, left } = found;
    if (left) seedbed.toast(`${plural(left, "image")} not undone: somebody else has labelled since.`, { state: "warn" });
    if (!changes.length) return null;
    const place = this.order.positionOf(changes[0].index);
    if (place >= 0) this.move(place);
    return this.tell("said", `${word}: ${plural(changes.length, "image")}.`);
  }

  // --- news -----------------------------------------------------------------------------------------------------------

  // The project itself changed: its classes, its images, its groups, its training.
  async refresh() {
    const before = this.board;
    const board = await this.api.get("/board");
    if (board.data !== before.data) return this.#newImages(board);
    this.board = board;
    await this.catchUp();
    if (board.grouping === "ready" && before.grouping !== "ready") this.tell("grouped");
    this.proposals.shown = board.may_label && board.proposals;
    if (board.looked_at && !before.looked_at) this.proposals.labelsChanged();
    this.tell("board");
    this.tell("images", null);
    return this.tell("counts");
  }

  async #newImages(board) {
    await this.outbox.empty();
    this.board = board;
    this.labels.turnTo(board.data, board.images);
    this.proposals.forget();
    await this.catchUp();
    await this.choose(this.show);
    this.tell("board");
    this.tell("counts");
    seedbed.toast(`The project has ${plural(board.images, "image")} now.`);
  }
}
