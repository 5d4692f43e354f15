// Where labels wait that are not confirmed: the browser's own database, which outlives the page and the browser.
// A browser that has none (some private windows) keeps them in memory, and the page says so.

const NAME = "seedbed-labelling", WAITING = "waiting";

export async function openStorage() {
  try {
    return new Kept(await done(Object.assign(indexedDB.open(NAME, 1), { onupgradeneeded: upgrade })));
  } catch {
    return new Forgotten();
  }
}

function upgrade(event) {
  event.target.result.createObjectStore(WAITING, { keyPath: "id" }).createIndex("owner", "owner");
}

class Kept {
  lasting = true;

  constructor(database) { this.database = database; }

  async of(owner) {
    const store = this.database.transaction(WAITING).objectStore(WAITING);
    const found = await done(store.index("owner").getAll(owner));
    return found.sort((one, other) => one.turn - other.turn);
  }

  add(entries) { return this.#write((store) => entries.forEach((entry) => store.put(entry))); }
  remove(ids) { return this.#write((store) => ids.forEach((id) => store.delete(id))); }

  #write(change) {
    const transaction = this.database.transaction(WAITING, "readwrite");
    change(transaction.objectStore(WAITING));
    transaction.commit(); // at once, not when this page has time: it may be closed the next moment
    return new Promise((kept, failed) => {
      transaction.oncomplete = () => kept();
      transaction.onabort = transaction.onerror = () => failed(transaction.error);
    });
  }
}

class Forgotten {
  lasting = false;
  async of() { return []; }
  async add() {}
  async remove() {}
}

function done(request) {
  return new Promise((good, bad) => {
    request.onsuccess = () => good(request.result);
    request.onerror = request.onblocked = () => bad(request.error);
  });
}
