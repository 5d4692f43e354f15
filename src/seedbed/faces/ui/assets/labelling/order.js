// In which order the images are shown: positions on the page against indexes in the data set. Pure.

export class Order {
  // `groups`: sizes and names of runs of alike images, or nothing; `review`: these images have been looked at before.
  constructor(indexes, groups = [], { by = "", review = false } = {}) {
    this.indexes = indexes;
    const whole = groups.reduce((sum, group) => sum + group.size, 0) === indexes.length;
    this.groups = whole && groups.length > 1 ? groups.filter((group) => group.size) : [{ size: indexes.length, name: "" }];
    this.by = by;
    this.review = review;
  }

  static fromAnswer({ by, groups, order }) {
    return new Order(decoded(order), groups, { by });
  }

  static ofAll(count) {
    return new Order(Uint32Array.from({ length: count }, (_, index) => index), [], { by: "index" });
  }

  get length() { return this.indexes.length; }
  at(position) { return this.indexes[position]; }

  positionOf(index) {
    if (!this.places) {
      this.places = new Int32Array(this.indexes.reduce((most, image) => Math.max(most, image + 1), 0)).fill(-1);
      this.indexes.forEach((image, position) => { this.places[image] = position; });
    }
    return this.places[index] ?? -1;
  }

  // The next position from which `wanted` holds, going round once; -1: none.
  next(position, wanted, step = 1) {
    for (let tried = 1; tried <= this.length; tried++) {
      const place = (position + tried * step + 2 * this.length) % this.length;
      if (wanted(this.indexes[place])) return place;
    }
    return -1;
  }
}

// Little-endian 32-bit numbers in base64: 100,000 of them are half a megabyte and need no parsing.
export function decoded(base64) {
  const letters = atob(base64), bytes = new Uint8Array(letters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = letters.charCodeAt(place);
  const view = new DataView(bytes.buffer);
  return Uint32Array.from({ length: bytes.length >> 2 }, (_, number) => view.getUint32(4 * number, true));
}
