// page_draw.js - draws lanes, memory and the time axis on canvases.
//
// A bar of at least WIDE pixels is a rectangle with its pattern and a text. Narrower bars are
// summed up: each column of pixels shows the share of its time that each stage took, from the
// bottom up. So thousands of chunks remain readable, and a lane that is half busy is half full.
"use strict";

const DIMMED = 0.4; // opacity of bars that are not meant
const WIDE = 3, LABEL = 26, MINIMUM = 3; // pixels: a bar of its own, a text, a bar that is pointed at

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Returns black or white, whichever is easier to read on a colour such as "#0072B2".
function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map(i => (parseInt(hex.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#000" : "#fff";
}

// ---- patterns ------------------------------------------------------------------------------

const LINES = {
  none: [], rising: [[0, 8, 8, 0]], falling: [[0, 0, 8, 8]], upright: [[4, 0, 4, 8]], level: [[0, 4, 8, 4]],
  cross: [[0, 8, 8, 0], [0, 0, 8, 8]], dots: [[3, 4, 5, 4]],
};

// Returns what fills a stage's bars: its colour with thin lines.
function fillOf(stage) {
  const tile = document.createElement("canvas"), g = tile.getContext("2d");
  tile.width = tile.height = 8;
  g.fillStyle = stage.colour;
  g.fillRect(0, 0, 8, 8);
  g.strokeStyle = inkOn(stage.colour) === "#000" ? "rgb(0 0 0 / 30%)" : "rgb(255 255 255 / 40%)";
  g.lineWidth = stage.pattern === "dots" ? 2 : 1;
  g.lineCap = stage.pattern === "dots" ? "butt" : "square";
  g.beginPath();
  for (const [x0, y0, x1, y1] of LINES[stage.pattern]) {
    g.moveTo(x0, y0);
    g.lineTo(x1, y1);
  }
  g.stroke();
  return g.createPattern(tile, "repeat");
}

// ---- canvases ------------------------------------------------------------------------------

// Returns the context of a canvas, cleared, with one unit per pixel of the page.
function begin(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "11px system-ui, Arial, sans-serif";
  g.textBaseline = "middle";
  return {g, width, height, scale};
}

// Returns the function from time to pixels for a view {begin, end} in microseconds.
const axisOf = (view, width) => us => (us - view.begin) / (view.end - view.begin) * width;

// Returns the index of the first element for which `isAfter` holds; elements are sorted.
function firstWhere(list, isAfter) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(list[middle]))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Returns the bars of a lane that are within a view.
function barsIn(lane, view) {
  return lane.bars.slice(firstWhere(lane.bars, bar => bar.end > view.begin),
                         firstWhere(lane.bars, bar => bar.begin >= view.end));
}

// ---- lanes ---------------------------------------------------------------------------------

function drawText(g, bar, x, width, height) {
  const chunk = bar.args.chunk, whole = chunk === undefined ? bar.name : `${bar.name} ${chunk}`;
  const room = width - 8;
  const text = [whole, chunk === undefined ? "" : String(chunk)].find(t => t && g.measureText(t).width <= room);
  if (!text)
    return;
  const left = Math.max(x, 0) + 4, ink = inkOn(STAGES[bar.stage].colour);
  g.fillStyle = STAGES[bar.stage].colour; // the pattern must not run through the text
  g.fillRect(left - 2, 2, g.measureText(text).width + 4, height - 4);
  g.fillStyle = ink;
  g.fillText(text, left, height / 2 + 0.5);
}

function drawBar(g, bar, x0, x1, height, fills) {
  const gap = x1 - x0 > 6 ? 1 : 0;
  g.fillStyle = fills[bar.stage];
  g.fillRect(x0, 0, x1 - x0 - gap, height);
  if (x1 - x0 >= LABEL && g.globalAlpha === 1)
    drawText(g, bar, x0, Math.min(x1, g.canvas.clientWidth) - Math.max(x0, 0), height);
}

// Adds a narrow bar to the sums of its columns of pixels.
function addColumns(columns, bar, x0, x1, width) {
  for (let x = Math.max(0, Math.floor(x0)); x < Math.min(width, x1); x++)
    columns[x * STAGES.length + bar.stage] += Math.min(x1, x + 1) - Math.max(x0, x);
}

function drawColumns(g, columns, width, height, alphaOf) {
  const tops = new Float32Array(width).fill(height);
  STAGES.forEach((stage, s) => {
    g.fillStyle = stage.colour;
    g.globalAlpha = alphaOf(s);
    for (let x = 0; x < width; x++) {
      const high = Math.min(1, columns[x * STAGES.length + s]) * height;
      if (high > 0) {
        tops[x] -= high;
        g.fillRect(x, tops[x], 1, high);
      }
    }
  });
}

// Draws a stall as a dashed frame with its number.
function drawStall(g, x0, x1, height, number) {
  if (x1 - x0 < 2)
    return;
  g.strokeStyle = g.fillStyle = colour("mark");
  g.lineWidth = 1;
  g.setLineDash([3, 2]);
  g.strokeRect(x0 + 0.5, 0.5, x1 - x0 - 1, height - 1);
  g.setLineDash([]);
  g.textAlign = "center";
  if (x1 - x0 > 10)
    g.fillText(String(number), (Math.max(x0, 0) + Math.min(x1, g.canvas.clientWidth)) / 2, height / 2 + 0.5);
  g.textAlign = "left";
}

// Draws a lane. `state` has view, fills, picked (a bar or null) and stage (a number or null).
function drawLane(canvas, lane, state, stalls) {
  const {g, width, height} = begin(canvas), x = axisOf(state.view, width);
  const columns = new Float32Array(Math.ceil(width) * STAGES.length);
  const chunk = state.picked && (state.picked.chunk || [state.picked]);
  const alphaOf = s => chunk || (state.stage !== null && state.stage !== s) ? DIMMED : 1;
  let narrow = 0;
  for (const bar of barsIn(lane, state.view)) {
    const x0 = x(bar.begin), x1 = x(bar.end);
    if (x1 - x0 < WIDE) {
      addColumns(columns, bar, x0, x1, width);
      narrow++;
      continue;
    }
    g.globalAlpha = alphaOf(bar.stage);
    drawBar(g, bar, x0, x1, height, state.fills);
  }
  if (narrow)
    drawColumns(g, columns, Math.ceil(width), height, alphaOf);
  g.globalAlpha = 1;
  stalls.forEach(stall => drawStall(g, x(stall.begin_us), x(stall.end_us), height, stall.number));
  for (const bar of chunk || [])
    if (bar.lane === lane)
      drawPicked(g, bar, x, height, state);
}

function drawPicked(g, bar, x, height, state) {
  const x0 = x(bar.begin), x1 = Math.max(x(bar.end), x0 + MINIMUM);
  drawBar(g, bar, x0, x1, height, state.fills);
  g.strokeStyle = colour("ink");
  g.lineWidth = bar === state.picked ? 2 : 1;
  g.strokeRect(x0 + g.lineWidth / 2, g.lineWidth / 2, x1 - x0 - g.lineWidth, height - g.lineWidth);
}

// ---- memory --------------------------------------------------------------------------------

// Draws the bytes in use, which last until the next sample, up to the limit or, if that is far
// away, up to the peak.
function drawMemory(canvas, memory, state) {
  const {g, width, height} = begin(canvas), x = axisOf(state.view, width), top = 8;
  const y = n => height - n / memory.scale * (height - top);
  let from = firstWhere(memory.samples, sample => sample.at >= state.view.begin);
  let now = from > 0 ? memory.samples[from - 1].bytes : memory.samples[0].bytes;
  g.beginPath();
  g.moveTo(0, y(now));
  for (; from < memory.samples.length && memory.samples[from].at <= state.view.end; from++) {
    const {at, bytes: next} = memory.samples[from];
    g.lineTo(x(at), y(now));
    g.lineTo(x(at), y(next));
    now = next;
  }
  g.lineTo(width, y(now));
  g.strokeStyle = colour("measured");
  g.lineWidth = 1.5;
  g.stroke();
  g.lineTo(width, height);
  g.lineTo(0, height);
  g.globalAlpha = 0.12;
  g.fillStyle = colour("measured");
  g.fill();
  g.globalAlpha = 1;
  if (memory.scale === memory.limit) {
    g.setLineDash([5, 3]);
    g.strokeStyle = colour("ink");
    g.lineWidth = 1;
    g.strokeRect(-1, top - 0.5, width + 2, height);
    g.setLineDash([]);
  }
}

// ---- the axis ------------------------------------------------------------------------------

// Returns 1, 2 or 5 times a power of ten, the smallest that is at least `least`.
function roundUp(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(m => m * power).find(step => step >= least * (1 - 1e-9));
}

// Draws ticks, and below them the part of the trace that the view shows.
function drawAxis(canvas, all, view) {
  const {g, width, height} = begin(canvas), x = axisOf(view, width), span = view.end - view.begin;
  const step = roundUp(span / Math.max(1, width / 110));
  g.fillStyle = g.strokeStyle = colour("quiet");
  for (let k = Math.ceil(view.begin / step); k * step <= view.end; k++) {
    const at = x(k * step), text = time(k * step, span, step);
    g.fillRect(at, height - 9, 1, 5);
    g.fillText(text, Math.min(at + 4, width - g.measureText(text).width), 9);
  }
  const share = axisOf(all, width);
  g.fillStyle = colour("rule");
  g.fillRect(0, height - 3, width, 2);
  g.fillStyle = colour("mark");
  g.fillRect(share(view.begin), height - 3, Math.max(2, share(view.end) - share(view.begin)), 2);
}
