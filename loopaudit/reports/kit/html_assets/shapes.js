// Each action has a shape of its own, so that marks can be told apart without colour.
// Paths are drawn in a square of 16; the same path serves the canvas and the page's icons.
const SHAPES = [
  "",
  "M8 3.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9zM8 6a2 2 0 1 1 0 4a2 2 0 1 1 0-4z", // observe: ring
  "M8 2 15 14H1z", // warn: triangle
  "M2 2.5h5l6.5 5.5L7 13.5H2L8 8z", // nudge: arrow
  "M8 1.5 14.5 8 8 14.5 1.5 8z", // ask: diamond
  "M3.6 1.5 8 5.9 12.4 1.5 14.5 3.6 10.1 8 14.5 12.4 12.4 14.5 8 10.1 3.6 14.5 1.5 12.4 5.9 8 1.5 3.6z", // reject: cross
  "M2.5 2.5h11v11h-11z", // block: square
  "M1.5 2h13v4.2h-13zM1.5 9.8h13V14h-13z", // strip tools: two bars
  "M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z", // stop: octagon
];
const PATHS = SHAPES.map((shape) => new Path2D(shape));

function icon(action) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon a-${data.actions[action][0]}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[action]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

// An action as a word with its shape, and the guard's own word where that differs.
function badge(action, own) {
  return el("span", { class: `badge a-${data.actions[action][0]}` }, icon(action), wordOf(action), own ? told(` (${own})`, "dim") : null);
}

// A canvas cannot read the style sheet: an element that is never seen tells it the colours of today.
let palette = {};
function readColours() {
  const probe = el("span", { class: "probe" });
  document.body.append(probe);
  const resolve = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  palette = { actions: data.actions.map(([slug]) => resolve(slug === "allow" ? "line" : slug)) };
  for (const name of ["ink", "dim", "line", "card", "loop", "wait", "good", "wrong", "open", "accent", "lane", "band"]) palette[name] = resolve(name);
  palette.none = palette.line;
  probe.remove();
}

// Fits a canvas to its box at the screen's resolution; null where it has no size.
function paper(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (width < 1 || height < 1) return null;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function box(pen, x, y, width, height, radius) {
  pen.beginPath();
  pen.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
}

// Loops and firings of a whole transcript as one small picture.
function strip(pen, one, width, height) {
  const scale = width / Math.max(one.reach, 1);
  const x = (call) => (call - 1) * scale;
  pen.fillStyle = palette.lane;
  box(pen, 0, 0, width, height, 3);
  pen.fill();
  for (const episode of one.episodes) {
    if (!episode[FROM]) continue;
    pen.fillStyle = episode[IS_LOOP] ? palette.band : palette.line;
    pen.fillRect(x(episode[FROM]), 0, Math.max((episode[TO] - episode[FROM] + 1) * scale, 1.5), height);
  }
  // The strongest action of each column of two pixels, and how many policies acted there.
  const columns = Math.ceil(width / 2);
  const strongest = new Uint8Array(columns), many = new Uint16Array(columns);
  for (const policy of one.policies) {
    const last = new Int32Array(1).fill(-1);
    for (const mark of policy.marks) {
      // A bar stands in the middle of its call, as a mark on the timeline does.
      const column = Math.min(Math.floor(Math.max(x(mark[AT] || 1) + scale / 2 - 1, 0) / 2), columns - 1);
      if (mark[ACTION] > strongest[column]) strongest[column] = mark[ACTION];
      if (column !== last[0]) { many[column]++; last[0] = column; }
    }
  }
  const all = Math.max(one.policies.length, 1);
  for (let column = 0; column < columns; column++) {
    if (!strongest[column]) continue;
    const tall = Math.max(4, Math.min(many[column] / all * 1.4, 1) * (height - 3));
    pen.fillStyle = palette.actions[strongest[column]];
    pen.fillRect(column * 2, height - tall, Math.max(1.6, Math.min(scale - 0.6, 6)), tall);
  }
}
