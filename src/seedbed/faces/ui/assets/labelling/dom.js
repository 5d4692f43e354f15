// Elements in one line. Text always goes in as text, so names that people gave never become markup.

export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child != null && child !== false));
  return made;
}

// Only what differs is written: setting an attribute to what it is already would still be read out again.
export function put(element, name, value) {
  const isOff = value == null || (value === false && !name.startsWith("aria-") && name !== "data-kept");
  if (isOff) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export function text(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

// A button that a mouse presses without taking the keyboard away from the images.
export function button(words, press, attributes = {}) {
  const made = h("button", { type: "button", class: "button", ...attributes, onclick: press }, words);
  made.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && event.preventDefault());
  return made;
}

export function swatch(colour) {
  const made = h("span", { class: "lb-swatch", "aria-hidden": "true" });
  made.style.setProperty("--class", colour || "var(--soft)");
  return made;
}
