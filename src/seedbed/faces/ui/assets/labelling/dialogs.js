// The two dialogs: all keys, and the classes (add, rename, colour, key, merge).

import { button, h, text } from "./dom.js";
import { freeKeys } from "./keys.js";
import { plural } from "./words.js";

export function keysDialog(session) {
  const list = h("dl", { class: "keys" });
  const made = dialog("lb-keys", "Keys", list);
  made.show = () => {
    const classes = session.board.classes.filter((one) => one.key).map((one) => [one.key, one.name]);
    const rest = freeKeys(session.board.classes).map(({ pressed, words }) => [pressed, words]);
    const line = ([key, words]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, words)];
    list.replaceChildren(...[...classes, ...rest].flatMap(line));
    made.element.showModal();
    made.element.scrollTop = 0; // not where the button to close it is
  };
  return made;
}

export function classesDialog(session) {
  const rows = h("div", { class: "lb-edit" });
  const name = h("input", { id: "lb-new-class", maxlength: 100, autocomplete: "off" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const field = h("label", { class: "field grow", for: "lb-new-class" }, "One more class", name);
  const form = h("form", { class: "row" }, field, h("button", { class: "button" }, "Add"));
  const made = dialog("lb-classes-dialog", "Classes", rows, form, wrong);

  const attempt = async (change) => {
    text(wrong, "");
    try {
      await session.outbox.empty(); // what was said before the change means the old name
      await change();
      await session.refresh();
    } catch (error) { text(wrong, error.message); drawn.clear(); }
    draw();
  };
  let drawn = new Map(); // a row stays as long as its class is the same, with what is being written in it
  const draw = () => {
    const names = session.board.classes.map((klass) => klass.name);
    drawn = new Map(session.board.classes.map((klass) => {
      const same = JSON.stringify([klass.name, klass.colour, klass.key]);
      return [same, drawn.get(same) || row(session, klass, attempt)];
    }));
    drawn.forEach(({ offer }) => offer(names));
    arrange(rows, [...drawn.values()].map(({ element }) => element));
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = name.value.trim();
    if (given) attempt(async () => { await session.api.post("/classes", { name: given }); name.value = ""; });
  });
  made.show = () => { text(wrong, ""); drawn.clear(); draw(); made.element.showModal(); name.focus(); };
  return made;
}

function row(session, klass, attempt) {
  const address = `/classes/${encodeURIComponent(klass.name)}`;
  const change = (what) => attempt(() => session.api.patch(address, what));
  const field = (value, words, attributes, done) => {
    const made = h("input", { value, "aria-label": `${words} of ${klass.name}`, autocomplete: "off", ...attributes });
    made.addEventListener("change", () => {
      const given = made.value.trim();
      if (!given && made.required) made.value = value;
      else if (given !== value) done(given);
    });
    return made;
  };
  const merge = h("select", { "aria-label": `Make ${klass.name} one with another class` });
  const fields = h("div", { class: "lb-edit-row" },
    field(klass.colour || "#777777", "Colour", { type: "color" }, (colour) => change({ colour })),
    field(klass.name, "Name", { maxlength: 100, class: "grow", required: true }, (name) => change({ name })),
    field(klass.key || "", "Key", { maxlength: 1, class: "lb-key" }, (key) => change({ key })),
    merge);
  const element = h("div", { class: "lb-edit" }, fields);
  let asked = null; // of one at a time: who chooses another class has changed their mind
  const ask = () => {
    asked?.remove();
    const yes = (into) => attempt(() => session.api.post(`${address}/merge`, { into }));
    asked = merge.value && question(session, klass, merge, yes);
    if (asked) element.append(asked);
  };
  merge.addEventListener("change", ask);
  const offer = (names) => {
    const others = names.filter((name) => name !== klass.name), chosen = merge.value;
    merge.replaceChildren(h("option", { value: "" }, "Merge into…"),
      ...others.map((name) => h("option", { value: name }, name)));
    merge.value = others.includes(chosen) ? chosen : "";
    if (merge.value !== chosen) ask();
  };
  return { element, offer };
}

// What stays is not moved: a field that is taken out and put back loses the focus.
function arrange(parent, elements) {
  const wanted = new Set(elements);
  [...parent.children].filter((child) => !wanted.has(child)).forEach((child) => child.remove());
  elements.forEach((element, place) => {
    if (parent.children[place] !== element) parent.insertBefore(element, parent.children[place] || null);
  });
}

// What cannot be undone asks first.
function question(session, klass, merge, yes) {
  const count = session.countOf(klass.name), into = merge.value;
  const words = `${plural(count, "label")} of ${klass.name} become ${into}, and ${klass.name} goes, for good.`;
  const asked = h("div", { class: "note warn row", role: "alert" }, h("span", { class: "grow" }, words),
    button(`Merge into ${into}`, () => yes(into), { class: "button danger" }),
    button("No", () => { merge.value = ""; asked.remove(); }));
  return asked;
}

function dialog(id, title, ...content) {
  const close = h("button", { type: "button", class: "button", "data-closes": "" }, "Close");
  const element = h("dialog", { id, class: "lb-dialog", "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title), ...content, h("div", { class: "actions" }, close));
  return { element };
}
