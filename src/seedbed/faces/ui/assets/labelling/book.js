// What is known of every image: what counts of it (the newest event of all), and above that what was said here, until
// the server's feed brings it back with its number: only numbers say what came after what when several people label.
// Pure; typed arrays, because there may be a million images and most of them say nothing.

const MARKS = ["", "skipped", "unsure"];

export class Book {
  #names = [""];
  #numbers = new Map([["", 0]]);

  constructor(images) {
    this.labels = new Uint16Array(images); // number of the class's or person's name; 0: nothing
    this.marks = new Uint8Array(images);
    this.people = new Uint16Array(images);
    this.order = new Float64Array(images); // number of the event that counts
    this.waiting = new Map(); // index: what was said here and has not come back, the oldest first
    this.counts = new Map(); // class: how many images, waiting ones included
    this.marked = { skipped: 0, unsure: 0 };
    this.labelled = 0;
  }

  // `by`: who said it; `kept`: it is on disk.
  of(index) {
    const newest = this.waiting.get(index)?.at(-1);
    if (newest) return { label: newest.label, mark: newest.mark, by: newest.by, kept: Boolean(newest.kept) };
    const label = this.#names[this.labels[index]], mark = MARKS[this.marks[index]];
    return { label, mark, by: this.#names[this.people[index]], kept: true };
  }

  // Nobody has said anything of it: it still wants a label.
  isOpen(index) {
    if (this.waiting.size && this.waiting.has(index)) return !this.of(index).label && !this.of(index).mark;
    return !this.labels[index] && !this.marks[index];
  }

  // An event of the server's feed; false: it is older than what is known, or of no image of ours.
  heard({ id, index, label, mark, by, number }) {
    if (index < 0 || index >= this.order.length) return false;
    const ours = this.waiting.get(index)?.some((entry) => entry.id === id);
    if (!ours && number <= this.order[index]) return false;
    this.#changing(index, () => {
      if (ours) this.#drop({ id, index }); // it is on disk, even where the answer to us was lost
      if (number > this.order[index]) this.#write(index, label, mark, by, number);
    });
    return true;
  }

  said(entry) {
    this.#changing(entry.index, () => this.waiting.set(entry.index, [...(this.waiting.get(entry.index) || []), entry]));
  }

  // It is on disk; what others said at the same time is not known yet.
  kept({ id, index }) {
    for (const entry of this.waiting.get(index) || []) entry.kept ||= entry.id === id;
  }

  refused(entry) { this.#changing(entry.index, () => this.#drop(entry)); }

  // Indexes of which something holds, in their order.
  where(test) {
    const found = [];
    for (let index = 0; index < this.labels.length; index++) {
      if (this.labels[index] || this.marks[index] || this.waiting.has(index)) if (test(this.of(index))) found.push(index);
    }
    return found;
  }

  #write(index, label, mark, by, number) {
    this.labels[index] = this.#numberOf(label);
    this.marks[index] = Math.max(0, MARKS.indexOf(mark || ""));
    this.people[index] = this.#numberOf(by);
    this.order[index] = number;
  }

  #drop(entry) {
    const left = (this.waiting.get(entry.index) || []).filter((one) => one.id !== entry.id);
    if (left.length) this.waiting.set(entry.index, left);
    else this.waiting.delete(entry.index);
  }

  #numberOf(name) {
    if (!this.#numbers.has(name)) this.#numbers.set(name, this.#names.push(name) - 1);
    return this.#numbers.get(name);
  }

  #changing(index, change) {
    this.#count(this.of(index), -1);
    change();
    this.#count(this.of(index), 1);
  }

  #count({ label, mark }, step) {
    if (label) {
      this.counts.set(label, (this.counts.get(label) || 0) + step);
      this.labelled += step;
    } else if (mark) this.marked[mark] += step;
  }
}
