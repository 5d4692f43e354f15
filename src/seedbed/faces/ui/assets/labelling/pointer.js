// Mouse and finger over the grid: click, control and shift click, drag a frame around many, double click for large.
// A finger scrolls as everywhere; its tap picks, because a finger has no shift key.

import { h } from "./dom.js";

const FAR = 6; // pixels after which a press is a drag
const EDGE = 40, SPEED = 14; // near the edge the grid scrolls along

export class Pointer {
  #drag = null;

  // `acts`: tap(position, {add, reach}), sweep(positions, {add}), swept(positions), large(position)
  constructor(grid, acts) {
    this.grid = grid;
    this.acts = acts;
    this.frame = h("div", { class: "lb-band", hidden: true });
    grid.canvas.append(this.frame);
    const { element } = grid;
    element.addEventListener("pointerdown", (event) => this.#down(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    element.addEventListener("pointerup", (event) => this.#up(event));
    element.addEventListener("pointercancel", () => this.#end());
    element.addEventListener("dblclick", (event) => this.#twice(event));
  }

  #down(event) {
    if (event.button || event.target.closest("button") || event.target === this.grid.element) return;
    const cell = this.grid.cellOf(event.target);
    if (event.pointerType === "mouse") {
      event.preventDefault(); // no text is marked and no picture dragged away
      this.grid.list.focus({ preventScroll: true });
      this.grid.element.setPointerCapture(event.pointerId);
    }
    this.#drag = { from: this.grid.pointOf(event), at: event, cell, mouse: event.pointerType === "mouse", far: false };
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag?.mouse) return;
    drag.at = event;
    const to = this.grid.pointOf(event);
    if (!drag.far && Math.hypot(to.x - drag.from.x, to.y - drag.from.y) < FAR) return;
    if (!drag.far) this.#along();
    drag.far = true;
    this.#sweep();
  }

  #up(event) {
    const drag = this.#drag;
    this.#end();
    if (!drag) return;
    if (drag.far) this.acts.swept(drag.swept || [], { add: event.shiftKey || event.ctrlKey || event.metaKey });
    else if (drag.cell && this.#isStill(drag, event)) {
      const add = !drag.mouse || event.ctrlKey || event.metaKey;
      this.acts.tap(drag.cell.position, { add, reach: event.shiftKey });
    }
  }

  #isStill({ from }, event) {
    const to = this.grid.pointOf(event);
    return Math.hypot(to.x - from.x, to.y - from.y) < 2 * FAR; // a finger that scrolled did not tap
  }

  #twice(event) {
    const cell = this.grid.cellOf(document.elementFromPoint(event.clientX, event.clientY));
    if (cell) this.acts.large(cell.position);
  }

  #sweep() {
    const drag = this.#drag, to = this.grid.pointOf(drag.at);
    const box = {
      left: Math.min(drag.from.x, to.x), right: Math.max(drag.from.x, to.x),
      top: Math.min(drag.from.y, to.y), bottom: Math.max(drag.from.y, to.y),
    };
    Object.assign(this.frame.style, {
      left: `${box.left}px`, top: `${box.top}px`, width: `${box.right - box.left}px`, height: `${box.bottom - box.top}px`,
    });
    this.frame.hidden = false;
    drag.swept = this.grid.layout.within(box);
    this.acts.sweep(drag.swept, { add: drag.at.shiftKey || drag.at.ctrlKey || drag.at.metaKey });
  }

  // While the frame is at the edge, the grid goes on by itself.
  #along() {
    const step = () => {
      if (!this.#drag) return;
      const { element } = this.grid, edge = element.getBoundingClientRect(), y = this.#drag.at.clientY;
      const by = y < edge.top + EDGE ? -SPEED : y > edge.bottom - EDGE ? SPEED : 0;
      if (by) {
        element.scrollTop += by;
        this.#sweep();
      }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  #end() {
    this.#drag = null;
    this.frame.hidden = true;
  }
}
