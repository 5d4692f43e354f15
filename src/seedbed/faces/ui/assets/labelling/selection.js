// Which images are picked, and where the keyboard stands. Pure; positions, not images: a new order begins afresh.

export class Selection {
  constructor() { this.clear(0); }

  clear(cursor = this.cursor) {
    this.cursor = cursor;
    this.anchor = cursor;
    this.picked = new Set();
  }

  // What a label goes to: the picked ones, else the one under the cursor.
  get targets() { return this.picked.size ? [...this.picked].sort((one, other) => one - other) : [this.cursor]; }

  only(position) {
    this.clear(position);
    this.picked.add(position);
  }

  toggle(position) {
    this.cursor = this.anchor = position;
    if (!this.picked.delete(position)) this.picked.add(position);
  }

  reach(position) { // from the anchor to here, as shift does
    this.cursor = position;
    this.picked = new Set();
    const [from, to] = [Math.min(this.anchor, position), Math.max(this.anchor, position)];
    for (let place = from; place <= to; place++) this.picked.add(place);
  }

  pick(positions, { add = false } = {}) {
    if (!add) this.picked = new Set();
    for (const position of positions) this.picked.add(position);
  }
}
