// What can be undone. Pure: an action is a list of changes, each with what was shown before and after.

const MOST = 200;

export class History {
  #done = [];
  #undone = [];

  add(changes) {
    this.#done = [...this.#done.slice(1 - MOST), changes];
    this.#undone = [];
  }

  get size() { return this.#done.length; }

  // The changes that take the last action back, where nobody else has changed the image since.
  undo(current) { return step(this.#done, this.#undone, current); }
  redo(current) { return step(this.#undone, this.#done, current); }
}

function step(from, to, current) {
  const action = from.pop();
  if (!action) return null;
  const back = action.map(({ index, before, after }) => ({ index, before: after, after: before }));
  to.push(back);
  const ours = back.filter(({ index, before }) => same(current(index), before));
  return { changes: ours, left: back.length - ours.length };
}

const same = (one, other) => one.label === other.label && one.mark === other.mark;
