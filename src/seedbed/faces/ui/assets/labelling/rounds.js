// Class by class: "pick 25 images of rust", then the next class. A pick is a label at once; picked again, it goes.

export class Rounds {
  constructor(session) {
    this.session = session;
    session.on("mode", () => { if (session.mode === "rounds") this.#begin(); });
    session.on("board", () => { if (session.round && !session.classOf(session.round)) this.turnTo(this.#unfinished()); });
  }

  turnTo(name) {
    const { session } = this;
    session.round = name;
    session.tell("round");
    if (session.show === "class" && session.mode === "rounds") session.choose("class").catch(() => {});
  }

  // Forwards or backwards through the classes.
  step(by) {
    const names = this.session.board.classes.map((one) => one.name);
    if (names.length) this.turnTo(names[(names.indexOf(this.session.round) + by + names.length) % names.length]);
  }

  toggle(position) {
    const { session } = this, index = session.order.at(position);
    if (index == null || !session.round) return;
    session.selection.clear(position);
    const label = session.book.of(index).label === session.round ? "" : session.round;
    session.say([{ index, label, mark: "" }]);
    session.tell("selection");
  }

  // A frame around many takes those that have no label; what another class has, stays.
  take(positions) {
    const { session } = this;
    const open = positions.map((place) => session.order.at(place)).filter((index) => session.book.isOpen(index));
    if (session.round) session.say(open.map((index) => ({ index, label: session.round, mark: "" })));
  }

  #begin() {
    if (!this.session.classOf(this.session.round)) this.turnTo(this.#unfinished());
    else this.session.tell("round");
  }

  #unfinished() {
    const { session } = this, { classes } = session.board;
    return (classes.find((one) => session.countOf(one.name) < session.goalOf(one)) || classes[0])?.name || "";
  }
}
