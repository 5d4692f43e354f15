// What the model makes of images that were dropped: asked over the API, with the most alike images as explanation.
// Names from the server go in as text, never as markup.
(() => {
  const make = (tag, className, text) => Object.assign(document.createElement(tag), { className: className || "", textContent: text || "" });
  const percent = (share) => `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`;

  function bar(share) {
    const made = make("div", "bar");
    made.append(make("div"));
    made.firstChild.style.width = `${100 * share}%`;
    return made;
  }

  function card(answer, file, data) {
    const made = make("article", "answer-card");
    const image = make("img");
    image.alt = answer.file;
    if (file) image.src = URL.createObjectURL(file);
    const words = make("div", "stack");
    words.append(make("div", "soft small wrap", answer.file));
    if (answer.problem) { words.append(make("p", "note warn", answer.problem)); made.append(image, words); return made; }
    words.append(make("div", "likely", answer.label), make("p", "soft", `${percent(answer.confidence)} sure`));
    const shares = make("div", "shares");
    const all = Object.entries(answer.probabilities || {}).sort((one, two) => two[1] - one[1]).slice(0, 4);
    for (const [name, share] of all) shares.append(make("span", "", name), bar(share), make("span", "number", percent(share)));
    words.append(shares);
    if (answer.similar?.length && data) {
      words.append(make("p", "small soft", "The most alike images that have a label:"));
      const shelf = make("div", "shelf");
      for (const [place, index] of answer.similar.slice(0, 8).entries()) {
        const named = make("figure"), said = answer.similar_labels?.[place] || "", like = make("img");
        like.src = `/api/v1/data/${encodeURIComponent(data)}/images/${index}/thumbnail?size=128`;
        like.alt = `image ${index + 1}`;
        like.loading = "lazy";
        named.append(like, make("figcaption", "small soft", said));
        shelf.append(named);
      }
      words.append(shelf);
    }
    made.append(image, words);
    return made;
  }

  async function ask(place, upload) {
    const answers = document.getElementById("answers");
    answers.replaceChildren(make("p", "soft", "Looking at them …"));
    const reply = await fetch(`/api/v1/projects/${encodeURIComponent(place.dataset.try)}/predict`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ upload }),
    }).catch(() => null);
    const found = reply ? await reply.json().catch(() => ({})) : { detail: "The server cannot be reached. Drop them once more." };
    if (!reply?.ok) {
      answers.replaceChildren(make("p", "note bad", [found.detail || "That did not work.", found.hint].filter(Boolean).join(" ")));
      return;
    }
    const files = new Map(place.sent.map(({ path, file }) => [path, file]));
    const named = (name) => files.get(name) || files.get([...files.keys()].find((path) => path.endsWith(`/${name}`)));
    answers.replaceChildren(...found.map((answer) => card(answer, named(answer.file), place.dataset.data)));
  }

  document.addEventListener("uploaded", (event) => {
    if (event.target.dataset.try) ask(event.target, event.detail.upload);
  }, true);
})();
