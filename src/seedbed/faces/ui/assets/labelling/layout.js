// Where each position lies: rows of equal cells, each group under its heading. Pure geometry over any number of images;
// everything is found by its group, so that nothing here grows with the number of images.

export class Layout {
  constructor(groups, width, { cell, caption, gap, heading }) {
    this.columns = Math.max(1, Math.round((width + gap) / (cell + gap)));
    this.cell = Math.floor((width - gap * (this.columns - 1)) / this.columns); // cells share the width evenly
    this.tall = this.cell + caption;
    this.gap = gap;
    this.row = this.tall + gap;
    this.groups = [];
    let first = 0, top = 0;
    for (const { size, name } of groups) {
      const head = groups.length > 1 ? heading : 0;
      this.groups.push({ first, size, name, top, head });
      first += size;
      top += head + Math.ceil(size / this.columns) * this.row;
    }
    this.count = first;
    this.height = top;
  }

  place(position) {
    const group = this.groupOf(position);
    const inside = position - group.first;
    return {
      x: (inside % this.columns) * (this.cell + this.gap),
      y: group.top + group.head + Math.floor(inside / this.columns) * this.row,
    };
  }

  groupOf(position) { return this.groups[last(this.groups, (group) => group.first <= position)]; }

  // Positions whose rows are touched by these heights: first, and one past the last.
  window(from, to) {
    if (!this.count) return [0, 0];
    return [this.#rowStart(from), this.#rowEnd(to)];
  }

  headings(from, to) {
    return this.groups.filter((group) => group.head && group.top + group.head > from && group.top < to);
  }

  #rowStart(y) {
    const group = this.groups[last(this.groups, (one) => one.top <= Math.max(y, 0))];
    const row = Math.max(0, Math.floor((y - group.top - group.head) / this.row));
    return group.first + Math.min(row * this.columns, group.size);
  }

  #rowEnd(y) {
    const group = this.groups[last(this.groups, (one) => one.top <= Math.max(y, 0))];
    const rows = Math.max(0, Math.ceil((y - group.top - group.head) / this.row));
    return group.first + Math.min(rows * this.columns, group.size);
  }

  // The image above or below: the same column of the next row, in the neighbouring group where this one ends.
  vertical(position, step) {
    const group = this.groupOf(position);
    const inside = position - group.first, column = inside % this.columns;
    const target = inside + step * this.columns;
    if (target >= 0 && target < group.size) return group.first + target;
    const lastRow = Math.floor((group.size - 1) / this.columns);
    if (step > 0 && Math.floor(inside / this.columns) < lastRow) return group.first + group.size - 1;
    const other = this.groups[this.groups.indexOf(group) + step];
    if (!other) return position;
    const start = step > 0 ? 0 : Math.floor((other.size - 1) / this.columns) * this.columns;
    return other.first + Math.min(start + column, other.size - 1);
  }

  // Every position that a rectangle touches, for dragging.
  within({ left, top, right, bottom }) {
    const found = [];
    const [from, to] = this.window(top, bottom);
    for (let position = from; position < to; position++) {
      const { x, y } = this.place(position);
      if (x < right && x + this.cell > left && y < bottom && y + this.tall > top) found.push(position);
    }
    return found;
  }
}

// The last place in a sorted list where the test still holds; the first place if it never does.
function last(list, test) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (test(list[middle])) low = middle;
    else high = middle - 1;
  }
  return low;
}
