// What else is worth knowing while one labels: which class needs more, where people disagree. Asked now and then, when
// labels have changed; all of it may be missing, and nothing waits for it.

const REST = 6000; // milliseconds between two rounds of questions
const ENOUGH = 5; // labels

export class Helps {
  #changed = ENOUGH;
  #asked = 0;
  #timer = 0;
  #quarrel = true;

  constructor(session) {
    this.session = session;
    session.on("images", (indexes) => { this.#changed += indexes ? indexes.length : ENOUGH; this.#soon(); });
    session.on("kept", () => { this.#quarrel ||= session.order.by === "disagreements"; this.#soon(); }); // settled
    session.on("heard", (others) => { this.#quarrel ||= others.length > 0; this.#soon(); });
    this.#soon();
  }

  #soon() {
    if (!this.session.board.may_label || (this.#changed < ENOUGH && !this.#quarrel)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), Math.max(800, this.#asked + REST - Date.now()));
  }

  async #ask() {
    const { session } = this;
    this.#asked = Date.now();
    this.#changed = 0;
    const quarrel = this.#quarrel;
    this.#quarrel = false;
    const empty = () => [];
    const [gains, quarrels] = await Promise.all([
      session.api.get("/gains").catch(empty),
      quarrel ? session.api.get("/disagreements").catch(empty) : session.quarrels || [],
    ]);
    session.gains = gains;
    session.quarrels = quarrels;
    session.tell("helps");
  }
}
