// The timeline of one transcript: a lane of hindsight, a lane for each policy, drawn on one canvas.
const AXIS = 26, TALL = 30, SHORT = 20, FOOT = 6;

const view = { low: 0.5, high: 1.5 }; // the calls in view; call n reaches from n - 0.5 to n + 0.5
let tops = []; // where each lane begins, and at the end where the last one ends

const reach = () => Math.max(data.transcripts[state.index] ? data.transcripts[state.index].reach : 1, 1);
const laneHeight = (lane) => lane.kind === "loops" ? TALL + 4 : lane.all || lane.marks.length ? TALL : SHORT;

function setView(low, high) {
  const all = reach();
  const least = Math.min(8, all);
  let wide = Math.min(Math.max(high - low, least), all);
  low = Math.min(Math.max(low, 0.5), all + 0.5 - wide);
  view.low = low;
  view.high = low + wide;
  drawSoon();
}

function zoom(factor, at) {
  const centre = at === undefined ? (state.call >= view.low && state.call <= view.high ? state.call : (view.low + view.high) / 2) : at;
  const wide = (view.high - view.low) * factor;
  const share = (centre - view.low) / (view.high - view.low);
  setView(centre - wide * share, centre + wide * (1 - share));
}

function fit() { setView(0.5, reach() + 0.5); }

// Moves the view no more than it takes to show a call.
function reveal(call) {
  const wide = view.high - view.low;
  if (call < view.low + wide * 0.06) setView(call - wide * 0.2, call + wide * 0.8);
  else if (call > view.high - wide * 0.06) setView(call - wide * 0.8, call + wide * 0.2);
}

let waiting = 0;
function drawSoon() {
  if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); });
}

function draw() {
  const plot = byId("plot");
  tops = [AXIS];
  for (const lane of lanes) tops.push(tops[tops.length - 1] + laneHeight(lane));
  const width = plot.parentElement.clientWidth, height = tops[tops.length - 1] + FOOT;
  const pen = paper(plot, width, height);
  if (!pen || !data.transcripts[state.index]) return;
  const scale = width / (view.high - view.low);
  const x = (call) => (call - view.low) * scale;
  drawGround(pen, x, scale, width, height);
  lanes.forEach((lane, index) => drawLane(pen, lane, index, x, scale, width));
  if (state.call) drawCursor(pen, x, scale, height);
  drawMap();
  const wide = view.high - view.low;
  byId("range").textContent = wide >= reach() ? some(reach(), "call") : `calls ${span(Math.ceil(view.low), Math.floor(view.high))} of ${number(reach())}`;
}

function drawGround(pen, x, scale, width, height) {
  const one = data.transcripts[state.index];
  if (state.lane >= 0 && state.lane < lanes.length) {
    pen.fillStyle = palette.lane;
    pen.fillRect(0, tops[state.lane], width, tops[state.lane + 1] - tops[state.lane]);
  }
  for (const episode of one.episodes) {
    if (!episode[IS_LOOP] || !episode[FROM]) continue;
    pen.fillStyle = palette.band;
    pen.fillRect(x(episode[FROM] - 0.5), AXIS, Math.max((episode[TO] - episode[FROM] + 1) * scale, 1), height - AXIS - FOOT);
  }
  // Round numbers on the axis, far enough from each other.
  let step = 1;
  for (let power = 1; ; power *= 10) {
    const fits = [1, 2, 5].find((nice) => nice * power * scale >= 64);
    if (fits) { step = fits * power; break; }
  }
  pen.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let call = Math.max(step, Math.ceil(view.low / step) * step); call <= view.high; call += step) {
    const at = Math.round(x(call)) + 0.5;
    pen.strokeStyle = palette.line;
    pen.beginPath(); pen.moveTo(at, AXIS - 6); pen.lineTo(at, height - FOOT); pen.stroke();
    pen.fillStyle = palette.dim;
    const text = number(call), half = pen.measureText(text).width / 2 + 2;
    pen.fillText(text, Math.min(Math.max(at, half), width - half), 10);
  }
}

function drawLane(pen, lane, index, x, scale, width) {
  const top = tops[index], tall = tops[index + 1] - top, middle = top + tall / 2;
  if (lane.kind === "loops") { drawLoops(pen, x, scale, top, tall, width); return; }
  pen.strokeStyle = palette.line;
  pen.beginPath(); pen.moveTo(0, Math.round(middle) + 0.5); pen.lineTo(width, Math.round(middle) + 0.5); pen.stroke();
  if (lane.policy && lane.policy.status === "cannot_evaluate") {
    pen.save();
    pen.setLineDash([3, 4]); pen.strokeStyle = palette.dim;
    pen.beginPath(); pen.moveTo(0, Math.round(middle) + 0.5); pen.lineTo(width, Math.round(middle) + 0.5); pen.stroke();
    pen.restore();
    return;
  }
  if (lane.policy && lane.policy.hidden) drawLost(pen, lane.policy, x, middle, width);
  if (scale >= 7) drawMarks(pen, lane.marks, x, scale, top, tall);
  else drawColumns(pen, lane.marks, x, scale, top, tall, width, index === state.lane);
}

// From the last kept firing of a lane on, nothing is known of those that were only counted.
function drawLost(pen, policy, x, middle, width) {
  const last = policy.marks[policy.marks.length - 1];
  const from = Math.max(last ? x(last[AT] + 0.5) : 0, 0) + 10;
  if (from > width) return;
  pen.fillStyle = palette.dim;
  pen.textAlign = "left";
  const text = `${number(policy.hidden)} more firings counted, not kept`;
  if (pen.measureText(text).width < width - from) {
    pen.fillStyle = palette.card;
    pen.fillRect(from - 4, middle - 8, pen.measureText(text).width + 8, 16);
    pen.fillStyle = palette.dim;
    pen.fillText(text, from, middle + 0.5);
  }
}

function drawLoops(pen, x, scale, top, tall, width) {
  const one = data.transcripts[state.index];
  pen.strokeStyle = palette.line;
  pen.beginPath(); pen.moveTo(0, top + tall / 2); pen.lineTo(width, top + tall / 2); pen.stroke();
  one.episodes.forEach((episode, i) => {
    if (!episode[FROM]) return;
    const from = x(episode[FROM] - 0.5), wide = Math.max((episode[TO] - episode[FROM] + 1) * scale, 3);
    if (from > width || from + wide < 0) return;
    const high = episode[IS_LOOP] ? tall - 14 : 6;
    pen.fillStyle = episode[IS_LOOP] ? palette.loop : palette.wait;
    box(pen, from, top + (tall - high) / 2, wide, high, 5);
    pen.fill();
    const label = episode[IS_LOOP] ? `${i + 1} ${episode[KIND]}` : "";
    const left = Math.max(from, 0) + 7, room = Math.min(from + wide, width) - left - 5;
    pen.fillStyle = palette.card;
    pen.textAlign = "left";
    const short = [label, `${i + 1}`].find((text) => text && pen.measureText(text).width <= room);
    if (short) pen.fillText(short, left, top + tall / 2 + 0.5);
  });
}

// One shape for each mark.
function drawMarks(pen, marks, x, scale, top, tall) {
  const size = Math.min(Math.max(scale * 0.8, 7), 15);
  for (let i = lower(marks, view.low - 1); i < marks.length && marks[i][AT] <= view.high + 1; i++) {
    const mark = marks[i], at = x(mark[AT]);
    if (mark[FIRST] && mark[FIRST] !== mark[CALL]) { // about a whole response
      pen.fillStyle = palette.actions[mark[ACTION]];
      pen.globalAlpha = 0.35;
      box(pen, x(mark[FIRST]) - size / 2, top + tall / 2 - 3, x(mark[CALL]) - x(mark[FIRST]) + size, 4, 2);
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.save();
    pen.translate(at - size / 2, top + tall / 2 - size / 2 - 2);
    pen.scale(size / 16, size / 16);
    pen.fillStyle = palette.actions[mark[ACTION]];
    pen.fill(PATHS[mark[ACTION]], "evenodd");
    pen.restore();
    const grade = verdict(mark);
    if (grade !== "none") { pen.fillStyle = palette[grade]; pen.fillRect(at - size / 2 + 1, top + tall - 6, size - 2, 2.5); }
    if (mark === state.mark) {
      pen.strokeStyle = palette.accent; pen.lineWidth = 2;
      box(pen, at - size / 2 - 4, top + 2, size + 8, tall - 3, 5); pen.stroke();
      pen.lineWidth = 1;
    }
  }
}

// Where calls are narrower than a shape: columns of the strongest action, the worst grade below.
function drawColumns(pen, marks, x, scale, top, tall, width, chosen) {
  const wide = 3, count = Math.ceil(width / wide);
  const strongest = new Uint8Array(count), worst = new Int8Array(count).fill(-1);
  const rank = { none: -1, good: 0, open: 1, wrong: 2 };
  for (let i = lower(marks, view.low - 1); i < marks.length && marks[i][AT] <= view.high; i++) {
    const mark = marks[i];
    const from = Math.max(Math.floor(x(mark[AT] - 0.5) / wide), 0), to = Math.min(Math.max(Math.ceil(x(mark[AT] + 0.5) / wide), from + 1), count);
    const grade = rank[verdict(mark)];
    for (let column = Math.min(from, count - 1); column < to; column++) {
      if (mark[ACTION] > strongest[column]) strongest[column] = mark[ACTION];
      if (grade > worst[column]) worst[column] = grade;
    }
  }
  const colours = [palette.good, palette.open, palette.wrong];
  for (let column = 0; column < count; column++) {
    if (!strongest[column]) continue;
    const high = 6 + strongest[column] / 8 * (tall - 16);
    pen.fillStyle = palette.actions[strongest[column]];
    pen.fillRect(column * wide, top + tall - 8 - high, wide, high);
    if (worst[column] >= 0) { pen.fillStyle = colours[worst[column]]; pen.fillRect(column * wide, top + tall - 6, wide, 2.5); }
  }
  if (state.mark && chosen) {
    pen.strokeStyle = palette.accent; pen.lineWidth = 2;
    box(pen, x(state.mark[AT]) - 6, top + 2, 12, tall - 3, 5); pen.stroke();
    pen.lineWidth = 1;
  }
}

function drawCursor(pen, x, scale, height) {
  const wide = Math.max(scale, 1.5);
  pen.globalAlpha = 0.16;
  pen.fillStyle = palette.accent;
  pen.fillRect(x(state.call) - wide / 2, AXIS - 6, wide, height - AXIS);
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.accent;
  const at = Math.round(x(state.call)) + 0.5;
  if (scale < 7) { pen.beginPath(); pen.moveTo(at, AXIS - 6); pen.lineTo(at, height - FOOT); pen.stroke(); }
}

// The whole transcript with the part in view, above the lanes.
function drawMap() {
  const map = byId("map"), width = map.parentElement.clientWidth, height = 30;
  const pen = paper(map, width, height);
  const one = data.transcripts[state.index];
  if (!pen || !one) return;
  strip(pen, one, width, height);
  const scale = width / reach();
  const from = (view.low - 0.5) * scale, to = (view.high - 0.5) * scale;
  if (view.high - view.low >= reach()) return;
  pen.fillStyle = palette.card; pen.globalAlpha = 0.65;
  pen.fillRect(0, 0, from, height); pen.fillRect(to, 0, width - to, height);
  pen.globalAlpha = 1;
  pen.strokeStyle = palette.accent; pen.lineWidth = 2;
  box(pen, from + 1, 1, Math.max(to - from - 2, 4), height - 2, 4); pen.stroke();
  pen.lineWidth = 1;
}

// What lies under a point of the plot: lane, nearest mark within reach of a finger, call.
function under(event, far = 9) {
  const area = byId("plot").getBoundingClientRect();
  const px = event.clientX - area.left, py = event.clientY - area.top;
  const scale = area.width / (view.high - view.low);
  const call = Math.min(Math.max(Math.round(view.low + px / scale), 1), reach());
  let index = -1;
  for (let i = 0; i < lanes.length; i++) if (py >= tops[i] && py < tops[i + 1]) index = i;
  let best = null, gap = far;
  if (index >= 0) {
    const marks = lanes[index].marks, at = view.low + px / scale;
    for (let i = lower(marks, at - far / scale); i < marks.length && marks[i][AT] <= at + far / scale; i++) {
      const away = Math.abs((marks[i][AT] - at) * scale);
      if (away < gap || (away === gap && best && marks[i][ACTION] > best[ACTION])) { gap = away; best = marks[i]; }
    }
  }
  const loop = index === 0 ? data.transcripts[state.index].episodes.findIndex((e) => e[FROM] && call >= e[FROM] && call <= e[TO]) : -1;
  return { index, mark: best, call, loop, px, py };
}
