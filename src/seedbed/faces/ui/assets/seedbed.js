// What happens in the browser alone: theme, shortcuts, dialogs, the menu, toasts and notifications. No names from the
// server ever become markup here: text goes in as text.
(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const themes = ["system", "light", "dark"];
  const remembered = () => {
    try { return themes.includes(localStorage.seedbedTheme) ? localStorage.seedbedTheme : "system"; }
    catch { return "system"; }
  };

  function applyTheme() {
    const choice = remembered();
    root.dataset.theme = choice === "system" ? (system.matches ? "dark" : "light") : choice;
    root.dataset.choice = choice;
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      const words = { system: "as the system", light: "light", dark: "dark" }[choice];
      button.setAttribute("aria-label", `Colours: ${words}. Change`);
      button.title = `Colours: ${words}`;
    }
  }

  function nextTheme() {
    const following = themes[(themes.indexOf(remembered()) + 1) % themes.length];
    try { localStorage.seedbedTheme = following; } catch { /* a browser that remembers nothing */ }
    applyTheme();
  }

  // --- toasts and notifications
  function toast(text, { href = "", state = "", seconds = 12 } = {}) {
    let place = document.getElementById("toasts");
    if (!place) {
      place = Object.assign(document.createElement("div"), { id: "toasts" });
      place.setAttribute("role", "status");
      place.setAttribute("aria-live", "polite");
      document.body.append(place);
    }
    const box = Object.assign(document.createElement("div"), { className: `toast ${state}` });
    const words = document.createElement("div");
    words.append(text);
    if (href.startsWith("/")) {
      const link = Object.assign(document.createElement("a"), { href, textContent: "Look at it" });
      words.append(" ", link);
    }
    const close = Object.assign(document.createElement("button"), { className: "plain", textContent: "×", type: "button" });
    close.setAttribute("aria-label", "Close this message");
    close.onclick = () => box.remove();
    box.append(words, close);
    place.append(box);
    while (place.children.length > 4) place.firstChild.remove();
    setTimeout(() => box.remove(), seconds * 1000);
    return box;
  }

  function tell(text, options) {
    toast(text, options);
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    // the same tag in every open tab: the browser shows it once
    const note = new Notification("Seedbed", { body: text, tag: options.tag || options.href });
    note.onclick = () => { window.focus(); if (options.href) location.assign(options.href); };
  }

  function showBell() {
    const bell = document.querySelector("[data-bell]");
    if (!bell) return;
    const able = "Notification" in window;
    const allowed = able && Notification.permission === "granted";
    bell.setAttribute("aria-pressed", String(allowed));
    const words = allowed ? "This browser tells you when your jobs end"
      : able && Notification.permission === "denied" ? "Notifications are blocked in this browser's settings"
      : "Tell me when my jobs end";
    bell.setAttribute("aria-label", words);
    bell.title = words;
  }

  async function ringBell() {
    if (!("Notification" in window)) return toast("This browser has no notifications.", { state: "warn" });
    const answer = await Notification.requestPermission();
    showBell();
    if (answer === "granted") toast("From now on this browser tells you when your jobs end.");
    else toast("Notifications are blocked: allow them in the browser's settings for this page.", { state: "warn" });
  }

  // --- keys
  const ways = { h: "/", q: "/queue", b: "/bundles", d: "/data", z: "/zoo", m: "/doctor" };
  let went = 0;
  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
    if (event.key === "?") { open("shortcuts"); event.preventDefault(); return; }
    if (event.key === "/") {
      const search = document.querySelector("[data-search]");
      if (search) { search.focus(); search.select(); event.preventDefault(); }
      return;
    }
    if (event.key === "t") return nextTheme();
    if (event.key === "g") { went = Date.now(); return; }
    if (Date.now() - went < 1500 && ways[event.key]) location.assign(ways[event.key]);
    went = 0;
  }

  function open(id) { document.getElementById(id)?.showModal(); }

  function onClick(event) {
    const at = (name) => event.target.closest(`[data-${name}]`);
    if (at("theme-button")) nextTheme();
    else if (at("bell")) ringBell();
    else if (at("opens")) open(at("opens").dataset.opens);
    else if (at("closes")) at("closes").closest("dialog").close();
    else if (at("menu")) {
      const side = document.querySelector(".side");
      const opened = side.toggleAttribute("data-open");
      at("menu").setAttribute("aria-expanded", String(opened));
    } else if (event.target.matches("dialog") && isBeside(event, event.target)) event.target.close();
  }

  function isBeside(event, element) {
    const edge = element.getBoundingClientRect();
    return event.clientX < edge.left || event.clientX > edge.right || event.clientY < edge.top || event.clientY > edge.bottom;
  }

  // a log that is read at its end stays at its end
  function toEnd(id) {
    const log = document.getElementById(id);
    if (log && !log.matches(":focus")) log.scrollTop = log.scrollHeight;
  }

  // NiceGUI shows this while there is no connection: nobody answers, or a server that was started anew
  // knows nobody. It waits for no word of the server, who may be gone before the first one.
  function sayLost() {
    const popup = document.getElementById("popup");
    const [what, then] = popup?.querySelectorAll("span") ?? [];
    if (!then) return;
    let said = null;
    const say = (isAsked) => {
      if (said === isAsked) return; // a link that is written anew cannot be pressed
      said = isAsked;
      what.textContent = isAsked ? "You are no longer signed in." : "The server cannot be reached.";
      then.textContent = `What was saved is kept. ${isAsked ? "" : "This page goes on by itself once the server is back."}`;
      if (isAsked) then.append(Object.assign(document.createElement("a"), { href: signIn(), textContent: "Sign in again" }));
    };
    say(false);
    let asking;
    const ask = async () => {
      const answer = await fetch("/api/v1/health").catch(() => null);
      say(answer?.status === 401);
    };
    new MutationObserver(() => {
      clearInterval(asking);
      if (popup.ariaHidden === "false") asking = setInterval(ask, 1000);
    }).observe(popup, { attributeFilter: ["aria-hidden"] });
  }

  const signIn = () => `/sign-in?next=${encodeURIComponent(location.pathname)}`;

  applyTheme();
  system.addEventListener("change", applyTheme);
  window.addEventListener("storage", applyTheme); // another tab chose
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onClick);
  document.addEventListener("DOMContentLoaded", sayLost);
  window.seedbed = { toast, tell, toEnd, ready: () => { applyTheme(); showBell(); } };
})();
