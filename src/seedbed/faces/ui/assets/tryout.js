// What the model makes of images that were dropped: asked over the API, with the most alike images as explanation.
// Names from the server go in as text, never as markup.
(() => {
  const FEW = 4; // answers that are open at once; of more, each opens with a click
  const SLOW = 2500; // milliseconds, after which it is said why it takes longer
  const make = (tag, className, text) => Object.assign(document.createElement(tag), { className: className || "", textContent: text || "" });
  const percent = (share) => (share > 0.9995 ? "over 99.9 %" : `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`);
  const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
  let asked = 0; // of two drops in a row only the answers to the second are shown
  let pictures = []; // addresses of the files that are shown

  function bar(share) {
    const made = make("div", "bar");
    made.append(make("div"));
    made.firstChild.style.width = `${100 * share}%`;
    return made;
  }

  // Not every file that the server reads is one that browsers show.
  function picture(file) {
    const none = () => make("div", "own small soft", "no preview");
    if (!file) return none();
    const image = make("img", "own");
    Object.assign(image, { alt: "", decoding: "async", src: URL.createObjectURL(file) });
    image.onerror = () => image.replaceWith(none());
    pictures.push(image.src);
    return image;
  }

  function shares({ probabilities = {} }) {
    const made = make("div", "shares");
    const all = Object.entries(probabilities).sort((one, two) => two[1] - one[1]).slice(0, 4);
    for (const [name, share] of all) made.append(make("span", "", name), bar(share), make("span", "number", percent(share)));
    return made;
  }

  // Each leads to the image itself, large and with its label.
  function alike({ similar, similar_labels: said = [] }, place) {
    const shelf = make("div", "shelf"), { data, try: project } = place.dataset;
    for (const [at, index] of similar.slice(0, 8).entries()) {
      const named = make("figure"), link = make("a"), image = make("img"), label = said[at] || "";
      link.href = `/projects/${encodeURIComponent(project)}/label?show=images:${index}`;
      image.src = `/api/v1/data/${encodeURIComponent(data)}/images/${index}/thumbnail?size=128`;
      image.alt = `image ${index + 1}${label ? `, ${label}` : ""}`;
      image.loading = "lazy";
      link.append(image);
      named.append(link, make("figcaption", "small soft", label));
      shelf.append(named);
    }
    return [make("p", "small soft", "The most alike images that have a label:"), shelf];
  }

  function head(tag, answer, file, said, more) {
    const made = make(tag, "head"), words = make("div", "answer-words");
    words.append(make("span", "soft small wrap", answer.file), said, more);
    made.append(picture(file), words);
    return made;
  }

  function refused(answer, file) {
    const made = make("article", "answer-card");
    const said = make("span", "unread", "cannot be read"), reason = make("span", "soft small", answer.problem);
    made.append(head("div", answer, file, said, reason));
    return made;
  }

  function card(answer, file, place, open) {
    if (answer.problem) return refused(answer, file);
    const made = make("details", "answer-card"), why = make("div", "stack why");
    const said = make("span", "likely", answer.label), sure = make("span", "soft", `${percent(answer.confidence)} sure`);
    why.append(shares(answer));
    if (answer.similar?.length && place.dataset.data) why.append(...alike(answer, place));
    made.append(head("summary", answer, file, said, sure), why);
    made.open = open;
    return made;
  }

  function inWords(answers) {
    const counts = new Map();
    for (const { label, problem } of answers) if (!problem) counts.set(label, (counts.get(label) || 0) + 1);
    const named = [...counts].sort((one, two) => two[1] - one[1]).map(([name, count]) => `${count} ${name}`);
    const unread = answers.filter(({ problem }) => problem).length;
    const parts = [named.length ? `${many(answers.length - unread, "image")}: ${named.join(", ")}.` : ""];
    if (unread) parts.push(`${many(unread, "file")} cannot be read.`);
    return parts.filter(Boolean).join(" ");
  }

  // The same table that the folder for a device writes.
  function table(answers) {
    const classes = Object.keys(answers.find(({ probabilities }) => probabilities && Object.keys(probabilities).length)?.probabilities || {});
    const cell = (value) => `"${String(value).replaceAll('"', '""')}"`;
    const rows = answers.filter(({ problem }) => !problem).map((one) =>
      [one.file, one.label, one.confidence, ...classes.map((name) => one.probabilities[name])]);
    return [["file", "class", "confidence", ...classes], ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  function show(answers, place) {
    const files = new Map(place.sent.map(({ path, file }) => [path, file]));
    const named = (name) => files.get(name) || files.get([...files.keys()].find((path) => path.endsWith(`/${name}`)));
    const top = make("div", "row answers-head"), said = make("p", answers.length > 1 ? "" : "unseen", inWords(answers));
    said.setAttribute("role", "status");
    top.append(said);
    if (answers.filter(({ problem }) => !problem).length > 1) {
      const save = make("a", "button", "Download these answers (CSV)");
      save.href = URL.createObjectURL(new Blob([table(answers)], { type: "text/csv" }));
      save.download = "answers.csv";
      pictures.push(save.href);
      top.append(save);
    }
    const open = answers.length <= FEW;
    document.getElementById("answers").replaceChildren(top, ...answers.map((one) => card(one, named(one.file), place, open)));
  }

  async function ask(place, upload) {
    const mine = ++asked, answers = document.getElementById("answers");
    for (const address of pictures.splice(0)) URL.revokeObjectURL(address);
    const wait = make("p", "soft", "Looking at them …");
    wait.setAttribute("role", "status");
    answers.replaceChildren(wait);
    const slow = setTimeout(() => { wait.textContent = "Looking at them … The first time it takes a few seconds."; }, SLOW);
    const reply = await fetch(`/api/v1/projects/${encodeURIComponent(place.dataset.try)}/predict`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ upload }),
    }).catch(() => null);
    const found = reply ? await reply.json().catch(() => ({})) : { detail: "The server cannot be reached. Drop them once more." };
    clearTimeout(slow);
    if (mine !== asked) return;
    if (reply?.ok) return show(found, place);
    const said = make("p", "note bad", [found.detail || "That did not work.", found.hint].filter(Boolean).join(" "));
    said.setAttribute("role", "alert");
    answers.replaceChildren(said);
  }

  document.addEventListener("uploaded", (event) => {
    if (event.target.dataset.try) ask(event.target, event.detail.upload);
  }, true);
})();
