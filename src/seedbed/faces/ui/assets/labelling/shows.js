// What the page can show, and how each order of images comes about: from the server, or from what the book knows.

import { Order } from "./order.js";

export const ORDERS = {
  worth: "Worth a label first",
  groups: "In groups of alike images",
  class: "Likeliest of this class first", // of the round's class, in class by class
  unsure: "Least certain first",
  random: "In random order",
  index: "As they lie in the folder",
};

// `show` is a word of ORDERS, or one of: labelled:CLASS, marked:MARK, images:1,2,3, disagreements, mistakes.
export async function orderOf(show, { api, book, proposals, round }) {
  const [by, what] = split(show);
  const review = (indexes) => new Order(Uint32Array.from(indexes), [], { by, review: true });
  switch (by) {
    case "labelled": return review(book.where((said) => said.label === what));
    case "marked": return review(book.where((said) => said.mark === what));
    case "images": return review(what.split(",").map(Number).filter((index) => index >= 0 && index < book.labels.length));
    case "disagreements": {
      const [all, quality] = await Promise.all([api.get("/disagreements"), api.get("/quality").catch(() => null)]);
      const found = all.filter(({ index }) => index >= 0);
      proposals.agreement = (quality?.pairs || []).map(({ sentence }) => sentence);
      proposals.said = new Map(found.map(({ index, said }) => [index, said]));
      return review(found.map(({ index }) => index));
    }
    case "mistakes": {
      const found = await api.get("/mistakes");
      proposals.suspect(found);
      return review(found.map(({ index }) => index));
    }
    case "class": return Order.fromAnswer(await api.get(`/order?by=class&class=${encodeURIComponent(round)}`));
    default: return Order.fromAnswer(await api.get(`/order?by=${encodeURIComponent(ORDERS[by] ? by : "worth")}`));
  }
}

export function titleOf(show) {
  const [by, what] = split(show);
  const titles = {
    labelled: `Labelled as ${what}`,
    marked: what === "unsure" ? "Not sure" : "Skipped",
    images: "Chosen images",
    disagreements: "Where people disagree",
    mistakes: "Perhaps labelled wrongly",
  };
  return ORDERS[by] || titles[by] || ORDERS.worth;
}

export const isReview = (show) => !ORDERS[split(show)[0]];

function split(show) {
  const colon = show.indexOf(":");
  return colon < 0 ? [show, ""] : [show.slice(0, colon), show.slice(colon + 1)];
}
