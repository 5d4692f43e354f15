// Every key in one table, which the list of keys on the page is made from. The keys of the classes come first: they are
// the person's own choice. Keys that are used here do not reach the shortcuts of the other pages.

export const KEYS = [
  { keys: ["Enter"], act: "accept", words: "Accept the proposal" },
  { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], shown: "← → ↑ ↓", act: "move", words: "Move; with shift, pick" },
  { keys: ["Home", "End", "PageUp", "PageDown"], shown: "Home End Page", act: "move", words: "Move far" },
  { keys: [" "], shown: "Space", act: "pick", words: "Pick this image too" },
  { keys: ["a"], act: "alike", words: "Pick all like this one" },
  { keys: ["z"], act: "large", words: "Large, and back" },
  { keys: ["n"], act: "unsure", words: "Not sure" },
  { keys: ["s"], act: "skip", words: "Skip" },
  { keys: ["Backspace", "Delete"], shown: "Backspace", act: "clear", words: "Take the label away" },
  { keys: ["ctrl+z", "u"], shown: "u or Ctrl Z", act: "undo", words: "Undo" },
  { keys: ["ctrl+y", "ctrl+Z"], shown: "Ctrl Y", act: "redo", words: "Do again" },
  { keys: ["]"], act: "nextClass", words: "Class by class: the next class" },
  { keys: ["["], act: "lastClass", words: "Class by class: the class before" },
  { keys: ["+", "="], shown: "+", act: "larger", words: "Larger pictures" },
  { keys: ["-"], act: "smaller", words: "Smaller pictures" },
  { keys: ["Escape"], shown: "Esc", act: "back", words: "Let go, go back" },
  { keys: ["?"], act: "help", words: "This list" },
];
const ACTS = new Map(KEYS.flatMap(({ keys, act }) => keys.map((key) => [key, act])));

// The page's own keys as rows of what is pressed, what is done and its words; a class may have taken some of them.
export function freeKeys(classes) {
  const taken = new Set(classes.map((one) => one.key));
  const written = (key) => key.replace(/^ctrl\+(.)/, (_, letter) => `Ctrl ${letter.toUpperCase()}`);
  return KEYS.flatMap(({ keys, shown, act, words }) => {
    const free = keys.filter((key) => !taken.has(key));
    if (!free.length) return [];
    return [{ pressed: free.length < keys.length ? free.map(written).join(" or ") : shown || keys[0], act, words }];
  });
}

const NATIVE = new Set(["Enter", " "]); // what presses a button that has the keyboard

export function listen(session, acts) {
  window.addEventListener("keydown", (event) => {
    const name = nameOf(event);
    if (!name || isBusy(event, name)) return;
    const klass = session.board.classes.find((one) => one.key && one.key === name);
    const act = klass ? () => acts.class(klass) : acts[ACTS.get(name)] && (() => acts[ACTS.get(name)](event));
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act();
  }, { capture: true });
}

function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (altKey) return "";
  const plain = key.length === 1 && !shiftKey ? key.toLowerCase() : key; // caps lock is no shift
  return ctrlKey || metaKey ? `ctrl+${plain}` : plain;
}

// What a mouse has pressed beside the images gives the keyboard back to them: else the next Enter would press it again,
// and the keys of the classes would go to a list that was chosen from.
export function keepKeyboard(list) {
  let isMouse = false;
  const back = () => {
    const held = document.activeElement;
    if (!isMouse || document.querySelector("dialog[open]") || !held?.matches("button, a, summary, select")) return;
    held.blur();
    list.focus({ preventScroll: true });
  };
  addEventListener("pointerdown", () => { isMouse = true; }, { capture: true });
  addEventListener("keydown", () => { isMouse = false; }, { capture: true });
  addEventListener("click", (event) => { if (!event.target.closest?.("select")) back(); });
  addEventListener("change", back);
}

// The person writes into a field, looks at a dialog, or presses a button with the keyboard.
function isBusy({ target }, name) {
  if (document.querySelector("dialog[open]") || target.closest("input, textarea, select, [contenteditable]")) return true;
  return NATIVE.has(name) && Boolean(target.closest("button, a, summary"));
}
