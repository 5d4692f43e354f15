// Amounts and short sentences. Pure, as on the server's side.

export const number = (value) => value.toLocaleString("en-US");

export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export const percent = (share) => `${Math.round(100 * share)} %`;

// The line that says honestly what is not on disk yet.
export function saving({ waiting, state, memoryOnly }) {
  if (!waiting) return "All saved";
  if (memoryOnly) return `${plural(waiting, "label")} not saved yet: keep this page open`;
  const who = `${plural(waiting, "label")} ${waiting === 1 ? "waits" : "wait"}`;
  return `${who} ${{ "signed-out": "until you sign in again", unreachable: "here: no connection" }[state] || "to be saved"}`;
}

// What a screen reader says of one image; `said` is what the book knows of it.
export function image(index, said, proposal) {
  const name = `Image ${number(index + 1)}`;
  const kept = said.kept ? "" : ", not saved yet";
  if (said.mark === "unsure") return `${name}: not sure${kept}`;
  if (said.mark === "skipped") return `${name}: skipped${kept}`;
  if (said.label) return `${name}: ${said.label}${kept}`;
  if (proposal) return `${name}: not labelled, perhaps ${proposal.label}`;
  return `${name}: not labelled`;
}

export function goal(count, wanted) {
  return wanted ? `${number(count)} of ${number(wanted)}` : number(count);
}

// What colleagues had said of images that were just named otherwise; `said`: {label, by} each.
export function overruled(said) {
  if (said.length === 1) return `${said[0].by} had called it ${said[0].label}.`;
  const alike = new Map();
  for (const { by, label } of said) {
    const named = JSON.stringify([by, label]);
    alike.set(named, (alike.get(named) || 0) + 1);
  }
  const parts = [...alike].map(([named, count]) => [...JSON.parse(named), count]);
  const told = parts.slice(0, 2).map(([by, label, count]) => `${by} had called ${plural(count, "image")} ${label}`);
  const rest = parts.slice(2).reduce((sum, [, , count]) => sum + count, 0);
  return `${[...told, ...(rest ? [`${number(rest)} had other names`] : [])].join(", ")}.`;
}
