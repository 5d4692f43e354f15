// The window onto all images: only what can be seen (and a few rows around it) exists as elements, about 150 of them,
// whether there are a hundred images or a million. Elements are used again as one scrolls.

import { button, h, put } from "./dom.js";
import { Cell } from "./cell.js";
import { Layout } from "./layout.js";
import { plural } from "./words.js";

const SIZES = [84, 112, 168]; // sides of a picture in pixels
const OVER = 1.5; // rows alive above and below what is seen
const MEASURES = { caption: 25, gap: 10, heading: 46 };
const TWO_LINES = 42; // pixels of a caption where labels are looked at again: it says more then
const RUSH = 90; // milliseconds: who drags the scroll bar does not want every picture on the way

export class Grid {
  #alive = new Map(); // position: cell
  #free = [];
  #timer = 0;
  #top = 0;

  constructor(session) {
    this.session = session;
    this.size = remembered();
    const told = { "aria-multiselectable": "true", "aria-label": "Images", "aria-describedby": "lb-how" };
    this.list = h("div", { role: "listbox", class: "lb-list", tabindex: "0", ...told });
    this.heads = h("div", { class: "lb-heads" });
    this.canvas = h("div", { class: "lb-canvas" }, this.list, this.heads);
    this.element = h("div", { class: "lb-scroller" }, this.canvas);
    this.element.addEventListener("scroll", () => this.#render(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(this.element);
    session.on("order", () => this.#reset());
    session.on("images", (indexes) => this.#redraw(indexes));
    session.on("selection mode people", () => this.#places());
    session.on("mode round", () => this.#redraw(null));
  }

  grow(step) {
    this.size = Math.min(SIZES.length - 1, Math.max(0, this.size + step));
    try { localStorage.seedbedCell = this.size; } catch { /* a browser that remembers nothing */ }
    this.#reset({ keep: true });
  }

  // The cell under an element of the page, for the pointer.
  cellOf(element) {
    const found = element.closest?.(".lb-cell");
    return found ? [...this.#alive.values()].find((cell) => cell.element === found) : undefined;
  }

  // A position in the canvas from one on the screen.
  pointOf({ clientX, clientY }) {
    const edge = this.canvas.getBoundingClientRect();
    return { x: clientX - edge.left, y: clientY - edge.top };
  }

  page() { return Math.max(1, Math.floor(this.element.clientHeight / this.layout.row)); }

  #resized() {
    const width = this.canvas.clientWidth;
    // hidden behind the large image, it forgets where it was scrolled to; and what was seen is to be seen still
    if (!width || this.#alive.has(this.session.selection.cursor)) this.revealed = -1;
    if (!width) return;
    if (width !== this.width || !this.layout) this.#reset({ keep: true });
    else this.#places();
    this.#render();
  }

  #reset({ keep = false } = {}) {
    this.width = this.canvas.clientWidth;
    if (!this.width) return; // not on the page yet, or behind the large image
    const cell = Math.min(SIZES[this.size], this.width < 500 ? Math.floor((this.width - 2 * MEASURES.gap) / 3) : Infinity);
    const { groups, review } = this.session.order;
    this.layout = new Layout(groups, this.width, { ...MEASURES, cell, caption: review ? TWO_LINES : MEASURES.caption });
    put(this.list, "data-review", review);
    this.canvas.style.height = `${this.layout.height}px`;
    this.list.style.setProperty("--cell", `${this.layout.cell}px`);
    for (const position of [...this.#alive.keys()]) this.#release(position);
    if (!keep) this.element.scrollTop = 0;
    this.#reveal();
    this.#render();
    this.#places();
  }

  #render() {
    const { layout, session, element } = this;
    if (!layout || !element.clientHeight) return;
    const top = element.scrollTop, bottom = top + element.clientHeight;
    const [from, to] = layout.window(top - OVER * layout.row, bottom + OVER * layout.row);
    for (const position of this.#alive.keys()) if (position < from || position >= to) this.#release(position);
    const rushing = Math.abs(top - this.#top) > element.clientHeight;
    this.#top = top;
    for (let position = from; position < to; position++) if (!this.#alive.has(position)) this.#bind(position);
    this.#headings(top, bottom);
    clearTimeout(this.#timer);
    if (rushing) this.#timer = setTimeout(() => this.#load(), RUSH);
    else this.#load();
    const [first, last] = layout.window(top, bottom);
    session.proposals.want(Array.from(session.order.indexes.slice(first, last)));
  }

  #bind(position) {
    const cell = this.#free.pop() || new Cell();
    cell.bind(position, this.session.order.at(position), this.layout.place(position), this.session);
    this.#alive.set(position, cell);
    if (!cell.element.isConnected) this.list.append(cell.element);
    cell.element.hidden = false;
  }

  #release(position) {
    const cell = this.#alive.get(position);
    this.#alive.delete(position);
    cell.element.hidden = true;
    cell.element.id = "";
    this.#free.push(cell);
  }

  #load() {
    const side = Math.min(384, 64 * Math.ceil((this.layout.cell * Math.min(devicePixelRatio, 2)) / 64));
    for (const cell of this.#alive.values()) cell.load(this.session.board.data, side);
  }

  #headings(top, bottom) {
    const seen = this.layout.headings(top, bottom);
    const key = seen.map((group) => group.first).join();
    if (key === this.headed) return;
    this.headed = key;
    this.heads.replaceChildren(...seen.map((group) => this.#heading(group)));
  }

  #heading(group) {
    const number = this.layout.groups.indexOf(group) + 1;
    const title = group.name || `Group ${number}`;
    const pick = () => {
      const { session } = this;
      const places = Array.from({ length: group.size }, (_, inside) => group.first + inside);
      session.tell("group", places.filter((place) => session.book.isOpen(session.order.at(place))));
      this.list.focus({ preventScroll: true });
    };
    const attributes = { class: "lb-link", "aria-label": `Pick all of ${title} that have no label` };
    const made = h("div", { class: "lb-head" }, h("h2", {}, title),
      h("span", { class: "soft small" }, plural(group.size, "image")), button("Pick all without a label", pick, attributes));
    made.style.transform = `translateY(${group.top}px)`;
    return made;
  }

  #redraw(indexes) {
    const some = indexes && new Set(indexes);
    for (const cell of this.#alive.values()) if (!some || some.has(cell.index)) cell.draw(this.session);
  }

  #places() {
    if (!this.layout) return;
    this.#reveal();
    for (const cell of this.#alive.values()) cell.drawPlace(this.session);
    const cursor = this.#alive.get(this.session.selection.cursor);
    put(this.list, "aria-activedescendant", cursor ? cursor.element.id : null);
  }

  // Brings the cursor into view when it has moved; who scrolls away from it may stay away.
  #reveal() {
    const { selection, order } = this.session;
    if (!this.element.clientHeight || !order.length) return;
    if (this.revealed === selection.cursor && this.revealedOf === order) return;
    [this.revealed, this.revealedOf] = [selection.cursor, order];
    const { element, layout } = this;
    const { y } = layout.place(selection.cursor), group = layout.groupOf(selection.cursor);
    const top = y === group.top + group.head ? group.top : y; // a group's first row with its heading
    const bottom = y + layout.tall + 6;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    this.#render();
  }
}

function remembered() {
  try { return Math.min(SIZES.length - 1, Number(localStorage.seedbedCell ?? 1)) || 0; } catch { return 1; }
}
