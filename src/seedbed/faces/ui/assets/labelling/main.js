// The labelling page: puts the parts together. It has begun to ask the server before the page around it is drawn.

import { Banner } from "./banner.js";
import { Bar } from "./bar.js";
import { classesDialog, keysDialog } from "./dialogs.js";
import { button, h, text } from "./dom.js";
import { Grid } from "./grid.js";
import { Helps } from "./helps.js";
import { keepKeyboard, listen } from "./keys.js";
import { Live } from "./live.js";
import { Overruled } from "./overruled.js";
import { Panel } from "./panel.js";
import { Pointer } from "./pointer.js";
import { Rounds } from "./rounds.js";
import { Session } from "./session.js";
import { isReview } from "./shows.js";
import { Single } from "./single.js";

const about = JSON.parse(document.querySelector("meta[name=seedbed-labelling]").content);
const memory = `seedbedLabelling ${about.project}`;
const session = new Session(about);
const { show: wished, mode: first } = window.seedbedLabelling;
const opened = session.open(wished === "class" ? "worth" : wished); // no class has a round yet
opened.catch(() => {});

begin(await element("labelling"));

async function begin(place) {
  place.replaceChildren(h("p", { class: "lb-wait soft", role: "status" }, "The images are coming…"));
  try { await opened; } catch (error) {
    const again = button("Try again", () => location.reload());
    const words = `The images cannot be shown: ${error.message} `;
    place.replaceChildren(h("div", { class: "note bad", role: "alert" }, words, again));
    return;
  }
  build(place);
}

function build(place) {
  const grid = new Grid(session), rounds = new Rounds(session);
  const acts = actsOf(grid, rounds);
  const single = new Single(session, acts), panel = new Panel(session, acts), bar = new Bar(session, acts);
  const banner = new Banner(session, acts), keys = keysDialog(session), classes = classesDialog(session);
  Object.assign(acts, {
    help: () => keys.show(), classes: () => classes.show(),
    larger: () => (single.shown ? single.zoom(1) : grid.grow(1)),
    smaller: () => (single.shown ? single.zoom(-1) : grid.grow(-1)),
  });
  const speaker = h("p", { class: "unseen", role: "status", "aria-live": "polite" });
  const help = "Arrows move, the keys of the classes label, a question mark lists all keys.";
  const how = h("p", { class: "unseen", id: "lb-how" }, help);
  const body = h("div", { class: "lb-body" }, grid.element, single.element, panel.element);
  place.replaceChildren(bar.element, banner.element, body, how, speaker, keys.element, classes.element);
  session.on("said", (words) => text(speaker, words));
  session.on("mode", () => { grid.element.hidden = single.shown; remember(); });
  session.on("order", remember);
  session.on("grouped", () => grouped(acts));
  const pointed = pointerActs(rounds);
  new Pointer(grid, pointed);
  session.on("group", (positions) => pointed.swept(positions, { add: false }));
  listen(session, acts);
  keepKeyboard(grid.list);
  session.tell("order");
  acts.mode(first);
  resume();
  grid.list.focus({ preventScroll: true });
  new Live(session).start();
  new Helps(session);
  new Overruled(session, acts);
  place.dataset.ready = "true"; // for those who measure
}

// What keys and buttons do.
function actsOf(grid, rounds) {
  const going = () => session.isRound && !session.peeking;
  return {
    class: (klass) => {
      if (going()) return rounds.turnTo(klass.name);
      session.label(klass.name);
      return session.tell("said", `${klass.name}. ${session.countOf(klass.name)} labels.`);
    },
    accept: () => (going() ? rounds.toggle(session.selection.cursor) : session.accept()),
    pick: () => {
      if (going()) return rounds.toggle(session.selection.cursor);
      session.selection.toggle(session.selection.cursor);
      return session.tell("selection");
    },
    unsure: () => session.label("", "unsure"),
    skip: () => session.label("", "skipped"),
    clear: () => session.say(session.targets.map((index) => ({ index, label: "", mark: "" }))),
    undo: () => session.undo(),
    redo: () => session.redo(),
    move: (event) => move(grid, event),
    step: (by) => step(by),
    alike: () => session.current >= 0 && session.allLike(session.current).catch(sorry("Alike images cannot be shown")),
    large: () => session.peek(),
    mode: (mode) => turn(mode),
    show: (show) => session.choose(show).catch(sorry("That cannot be shown now")),
    nextClass: () => rounds.step(1),
    lastClass: () => rounds.step(-1),
    back: () => back(),
  };
}

function pointerActs(rounds) {
  return {
    tap: (position, { add, reach }) => {
      if (session.isRound) return rounds.toggle(position);
      if (reach) session.selection.reach(position);
      else if (add) session.selection.toggle(position);
      else session.selection.only(position);
      return session.tell("selection");
    },
    sweep: (positions, { add }) => {
      if (session.isRound || add) return;
      session.selection.pick(positions);
      session.tell("selection");
    },
    swept: (positions, { add }) => {
      if (session.isRound) return rounds.take(positions);
      session.selection.pick(positions, { add });
      if (positions.length) session.selection.cursor = session.selection.anchor = positions[0];
      return session.tell("selection");
    },
    large: (position) => { session.move(position); session.peek(true); },
  };
}

function move(grid, { key, shiftKey }) {
  const { cursor } = session.selection, end = session.order.length - 1;
  if (end < 0) return;
  if (grid.element.hidden) return step({ ArrowLeft: -1, ArrowUp: -1 }[key] || 1);
  const down = (rows) => {
    let place = cursor;
    for (let row = 0; row < Math.abs(rows); row++) place = grid.layout.vertical(place, Math.sign(rows));
    return place;
  };
  const to = {
    ArrowLeft: () => cursor - 1, ArrowRight: () => cursor + 1, ArrowUp: () => down(-1), ArrowDown: () => down(1),
    PageUp: () => down(-grid.page()), PageDown: () => down(grid.page()), Home: () => 0, End: () => end,
  }[key]();
  session.move(Math.min(end, Math.max(0, to)), { reach: shiftKey && !session.isRound });
}

function step(by) {
  const to = session.selection.cursor + by;
  if (to >= 0 && to < session.order.length) session.move(to);
}

function turn(mode) {
  session.turnMode(["grid", "single", "rounds"].includes(mode) ? mode : "grid");
  const better = mode === "rounds" ? { worth: "groups" } : { class: "worth" }; // each mode has orders that suit it
  if (better[session.show] && session.board.grouping === "ready") session.choose(better[session.show]).catch(() => {});
}

function back() {
  if (session.peeking) session.peek(false);
  else if (session.selection.picked.size && !session.alike) { session.selection.clear(); session.tell("selection"); }
  else if (session.alike) session.leaveAlike();
  else if (session.mode === "single") turn("grid");
}

function grouped(acts) {
  seedbed.toast("Alike images now stand together.");
  if (!session.labels.history.size && session.show === "worth") acts.show("worth");
}

const sorry = (words) => (error) => seedbed.toast(`${words}: ${error.message}`, { state: "warn" });

// --- what a reload brings back; early.js reads it -------------------------------------------------------------------------

function remember() {
  const show = isReview(session.show) ? "worth" : session.show;
  const kept = JSON.stringify({ show, mode: session.mode });
  try { localStorage[memory] = kept; } catch { /* a browser that remembers nothing */ }
}

// After a reload, such as when the server was started anew, one is where one was.
function resume() {
  const key = `${memory} at`;
  addEventListener("pagehide", () => { try { sessionStorage[key] = session.current; } catch { /* it remembers nothing */ } });
  let at = -1;
  try { at = Number(sessionStorage[key] ?? -1); } catch { /* it remembers nothing */ }
  const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
  const place = isReload && !session.order.review ? session.order.positionOf(at) : -1;
  if (place >= 0) session.move(place);
}

// The frame around us is drawn by another script: wait for our place in it.
function element(id) {
  const found = document.getElementById(id);
  if (found) return found;
  return new Promise((there) => {
    const watch = new MutationObserver(() => {
      const place = document.getElementById(id);
      if (place) { watch.disconnect(); there(place); }
    });
    watch.observe(document.documentElement, { childList: true, subtree: true });
  });
}
