// Questions to the server, with the page's own cookie. What goes wrong is one of three things, told apart because the
// outbox treats them differently: nobody answered, nobody is signed in, or the server said no with a sentence.

export class Unreachable extends Error {}
export class SignedOut extends Error {}
export class Refused extends Error {
  constructor(status, problem) {
    const { detail, problems = [], hint } = problem;
    super([detail || `The server answered ${status}.`, ...problems, hint].filter(Boolean).join(" "));
    this.status = status;
  }
}

const AGAIN = new Set([408, 425, 429]); // refusals that pass by themselves, as all from 500 on
const PATIENCE = 40_000; // milliseconds; longer than any answer that is worth waiting for

export class Api {
  constructor(project) {
    this.project = `/api/v1/projects/${encodeURIComponent(project)}`;
  }

  get(path, options) { return this.#ask("GET", path, undefined, options); }
  post(path, body, options) { return this.#ask("POST", path, body, options); }
  patch(path, body, options) { return this.#ask("PATCH", path, body, options); }

  async #ask(method, path, body, { signal } = {}) {
    const address = path.startsWith("/api/") ? path : this.project + path;
    const limits = [AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])];
    const request = { method, credentials: "same-origin", signal: AbortSignal.any(limits) };
    if (body !== undefined) {
      request.body = JSON.stringify(body);
      request.headers = { "Content-Type": "application/json" };
    }
    let status = 0, said;
    try {
      const answer = await (early(path) || fetch(address, request));
      status = answer.status;
      said = status === 204 ? null : await answer.json();
    } catch (error) { // also an answer that was cut off in the middle
      if (status < 400) throw new Unreachable(String(error));
    }
    if (status === 401) throw new SignedOut("Nobody is signed in.");
    if (AGAIN.has(status) || status >= 500) throw new Unreachable(said?.detail || `The server answered ${status}.`);
    if (status >= 400) throw new Refused(status, said || {});
    return said;
  }
}

// The answer to what was asked while the page was still coming, once.
function early(path) {
  const found = window.seedbedLabelling?.answers.get(path);
  window.seedbedLabelling?.answers.delete(path);
  return found;
}

export const thumbnail = (data, index, size) => `/api/v1/data/${data}/images/${index}/thumbnail?size=${size}`;
