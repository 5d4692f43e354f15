// No module: it stands in the page's head as it is, and asks for the board and the order of the images before anything
// else has come. The modules take the answers over.
(() => {
  const { project } = JSON.parse(document.querySelector("meta[name=seedbed-labelling]").content);
  const asked = new URLSearchParams(location.search);
  let before = {};
  try { before = JSON.parse(localStorage[`seedbedLabelling ${project}`] || "{}"); } catch { /* nothing is remembered */ }
  const show = asked.get("show") || before.show || "worth", mode = asked.get("mode") || before.mode || "grid";
  const isOrder = /^(worth|groups|unsure|random|index)$/.test(show);
  const paths = ["/board", ...(isOrder ? [`/order?by=${show}`] : [])];
  const answers = new Map(paths.map((path) => [path, fetch(`/api/v1/projects/${project}${path}`)]));
  answers.forEach((answer) => answer.catch(() => {}));
  window.seedbedLabelling = { show, mode, answers };
})();
