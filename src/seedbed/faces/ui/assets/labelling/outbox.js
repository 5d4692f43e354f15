// Labels on their way to the server's disk. They wait in the browser's database until the server has confirmed them,
// and are sent in the order in which they were given, again and again with the same ids: the server counts an id once,
// so nothing is lost or doubled, whatever is killed or closed in between.

import { Refused, SignedOut, Unreachable } from "./api.js";

const MOST = 1000; // entries in one message
const PAUSES = [250, 500, 1000, 2000, 4000]; // milliseconds before trying again
const FASTEST = 15; // milliseconds: a burst of keys goes as few messages

export class Outbox {
  #queue = [];
  #failures = 0;
  #running = false;
  #wake = () => {};

  // `send(entries)` ends when they are on disk; `kept`, `refused` and `changed` are told what happens.
  constructor({ storage, send, kept, refused, changed }) {
    Object.assign(this, { storage, send, kept, refused, changed, state: "idle" });
    addEventListener("online", () => this.#wake());
  }

  get waiting() { return this.#queue.length; }

  // What an earlier page left behind.
  async load(owner) {
    const left = await this.storage.of(owner);
    this.#queue = [...left, ...this.#queue];
    this.#run();
    return left;
  }

  put(entries) {
    this.#queue.push(...entries);
    this.storage.add(entries).catch(() => { this.storage.lasting = false; });
    this.changed();
    this.#run();
  }

  // Resolves once nothing waits; for what must come after all labels, such as another name for a class.
  async empty() {
    while (this.#queue.length) await new Promise((later) => setTimeout(later, 50));
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    await pause(FASTEST);
    while (this.#queue.length) await this.#once(this.#next());
    this.#running = false;
    this.#say("idle");
  }

  // Indexes count within one data set, and one message speaks of one.
  #next() {
    const { data } = this.#queue[0];
    const end = this.#queue.findIndex((entry) => entry.data !== data);
    return this.#queue.slice(0, Math.min(end < 0 ? MOST : end, MOST));
  }

  async #once(batch) {
    try {
      await this.send(batch);
      this.#failures = 0;
      this.#done(batch);
      this.kept(batch);
    } catch (error) {
      if (error instanceof Refused) await this.#apart(batch, error);
      else if (error instanceof SignedOut || error instanceof Unreachable) await this.#later(error);
      else throw error;
    }
    this.changed();
  }

  // One refused entry refuses its whole message: sent alone, the others get through.
  async #apart(batch, error) {
    if (batch.length === 1) {
      this.#done(batch);
      this.refused(batch[0], error);
      return;
    }
    const half = batch.length >> 1;
    await this.#once(batch.slice(0, half));
    if (this.state === "unreachable" || this.state === "signed-out") return; // the rest is tried from the front again
    await this.#once(batch.slice(half));
  }

  async #later(error) {
    this.#say(error instanceof SignedOut ? "signed-out" : "unreachable");
    const milliseconds = PAUSES[Math.min(this.#failures++, PAUSES.length - 1)];
    await Promise.race([pause(milliseconds), new Promise((wake) => { this.#wake = wake; })]);
  }

  #done(batch) {
    const ids = new Set(batch.map((entry) => entry.id));
    this.#queue = this.#queue.filter((entry) => !ids.has(entry.id));
    this.storage.remove([...ids]).catch(() => {}); // sent again it counts once
    this.#say("sending");
  }

  #say(state) {
    if (state === this.state) return;
    this.state = state;
    this.changed();
  }
}

const pause = (milliseconds) => new Promise((over) => setTimeout(over, milliseconds));
