// Files that are dropped or chosen go to the server as one upload, with a bar; the place then fires "uploaded".
// A place is any [data-drop]; all listeners sit on the document, because pages draw their places late and anew.
(() => {
  const ODD = /(^|\/)(\.|Thumbs\.db$|desktop\.ini$|__MACOSX\/)/;
  const at = (event, mark) => (event.target instanceof Element ? event.target.closest(mark) : null);
  const part = (place, name) => place.querySelector(`[data-part="${name}"]`);
  const going = new Map(); // place -> request

  // Folders come as trees; a reader gives at most a hundred entries at a time.
  async function walk(entry, found) {
    if (entry.isFile) {
      const file = await new Promise((give, fail) => entry.file(give, fail));
      found.push({ path: entry.fullPath.replace(/^\//, ""), file });
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((give, fail) => reader.readEntries(give, fail));
      if (!some.length) return;
      for (const inner of some) await walk(inner, found);
    }
  }

  async function dropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) return [...transfer.files].map((file) => ({ path: file.name, file }));
    const found = [];
    for (const entry of entries) await walk(entry, found);
    return found;
  }

  const chosen = (input) => [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

  const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`);
  const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

  function say(place, text, state = "") {
    const said = part(place, "said");
    said.textContent = text;
    said.className = `drop-said ${state}`;
  }

  function show(place, share) {
    const bar = part(place, "bar");
    bar.hidden = share === null;
    if (share === null) return;
    bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    bar.firstElementChild.style.width = `${100 * share}%`;
  }

  function left(began, share) {
    const seconds = ((Date.now() - began) / 1000) * (1 / Math.max(share, 0.001) - 1);
    if (Date.now() - began < 2000 || seconds < 3) return "";
    return seconds < 90 ? `, about ${Math.ceil(seconds / 5) * 5} s left` : `, about ${Math.round(seconds / 60)} min left`;
  }

  function send(place, all) {
    const files = all.filter(({ path }) => !ODD.test(path));
    if (!files.length) return say(place, "There is no file in it.", "bad");
    going.get(place)?.abort();
    const form = new FormData();
    for (const { path, file } of files) form.append("files", file, path);
    const request = new XMLHttpRequest(), began = Date.now();
    going.set(place, request);
    const failed = (text) => { going.delete(place); show(place, null); say(place, text, "bad"); place.classList.remove("going"); };
    request.upload.onprogress = ({ loaded, total }) => {
      show(place, loaded / total);
      say(place, `Sending ${many(files.length, "file")}: ${size(loaded)} of ${size(total)}${left(began, loaded / total)}`);
    };
    request.onerror = () => failed("The server could not be reached. Drop them once more to try again.");
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* said below */ }
      if (request.status >= 300) return failed([answer.detail || "That did not work.", answer.hint].filter(Boolean).join(" "));
      going.delete(place);
      place.classList.remove("going");
      show(place, null);
      const first = files[0].path.split("/");
      const name = first.length > 1 ? first[0] : files.length === 1 ? first[0].replace(/\.[^.]+$/, "") : "";
      say(place, `${many(answer.files, "file")} ${answer.files === 1 ? "is" : "are"} here (${size(answer.size)})${name ? `: ${name}` : ""}.`, "ok");
      place.dataset.upload = answer.upload;
      place.sent = files;
      place.dispatchEvent(new CustomEvent("uploaded", { detail: { upload: answer.upload, files: answer.files, name } }));
    };
    place.classList.add("going");
    say(place, `Sending ${many(files.length, "file")} …`);
    show(place, 0);
    request.open("POST", "/api/v1/uploads" + (place.dataset.project ? `?project=${encodeURIComponent(place.dataset.project)}` : ""));
    request.send(form);
  }

  // beside the places too: else the browser leaves the page to show the file that missed one
  const hasFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");

  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      const place = at(event, "[data-drop]");
      if (place || hasFiles(event)) event.preventDefault();
      place?.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    const place = at(event, "[data-drop]");
    if (place && !place.contains(event.relatedTarget)) place.classList.remove("over");
  });
  document.addEventListener("drop", async (event) => {
    const place = at(event, "[data-drop]");
    if (place || hasFiles(event)) event.preventDefault();
    if (!place) {
      if (hasFiles(event)) window.seedbed?.toast("Drop files on a field with a dashed line.", { state: "warn" });
      return;
    }
    place.classList.remove("over");
    try { send(place, await dropped(event.dataTransfer)); } catch (error) { say(place, `They cannot be read: ${error.message}`, "bad"); }
  });
  document.addEventListener("click", (event) => {
    const button = at(event, "[data-pick]");
    if (button) part(button.closest("[data-drop]"), button.dataset.pick).click();
  });
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.type !== "file") return;
    const place = input.closest("[data-drop]");
    if (!place || !input.files.length) return;
    send(place, chosen(input));
    input.value = ""; // or the same files, chosen once more, would be no change
  });
})();
