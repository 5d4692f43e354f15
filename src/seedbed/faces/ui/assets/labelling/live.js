// News from elsewhere: other people's labels, the project's changes, who else is here. One question stays open at the
// server until something happens; nothing is asked in a rhythm but who is here.

import { Refused, SignedOut } from "./api.js";

const WAIT = 25; // seconds that a question stays open
const PRESENCE = 8000, HIDDEN = 4; // milliseconds; a page that is not looked at says so less often
const CALM = 400, BURST = 150; // who labels fast makes many events: they are read a few at a time

export class Live {
  #cursor = 0;
  #board = 0;

  constructor(session) {
    this.session = session;
    session.on("order selection", () => this.#moved());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#moved(); });
  }

  async start() {
    if (this.session.board.may_label) this.#presence();
    while (true) {
      try {
        if (!this.#cursor) await this.#begin();
        const { events, cursor } = await this.session.api.get(`/api/v1/events?after=${this.#cursor}&wait=${WAIT}`);
        this.#cursor = cursor;
        await this.#hear(events.filter((event) => event.project === this.session.id));
        await pause(BURST);
      } catch (error) {
        this.#cursor = 0; // whatever was missed is read anew
        await pause(error instanceof SignedOut || error instanceof Refused ? 10_000 : 1500);
      }
    }
  }

  async #begin() {
    const { event } = await this.session.api.get("/api/v1/health");
    await this.session.catchUp();
    await this.session.refresh();
    this.#cursor = event;
  }

  async #hear(events) {
    if (events.some((event) => event.kind.startsWith("label."))) await this.session.catchUp();
    if (events.some((event) => !event.kind.startsWith("label."))) {
      clearTimeout(this.#board);
      this.#board = setTimeout(() => this.session.refresh().catch(() => {}), CALM);
    }
  }

  // --- who is here ------------------------------------------------------------------------------------------------------

  async #presence() {
    for (let beat = 0; ; beat++) {
      if (!document.hidden || beat % HIDDEN === 0) await this.#present();
      await pause(PRESENCE);
    }
  }

  #moved() {
    if (!this.session.board.may_label) return;
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.#present(), 5 * CALM);
  }

  async #present() {
    try {
      const { people } = await this.session.api.post("/presence", { where: this.session.current });
      this.session.people = people;
      this.session.tell("people");
    } catch { /* the saving line already says when nobody answers */ }
  }
}

const pause = (milliseconds) => new Promise((over) => setTimeout(over, milliseconds));
