// page.js - builds the page of a trace and follows mouse and keyboard.
"use strict";

const find = id => document.getElementById(id);
const LEAST_SPAN = 0.05; // microseconds that the view shows at least
const MANY_LANES = 14;   // more lanes are drawn lower

const state = {view: null, picked: null, stage: null, fills: [], lane: 0};
let trace = null, rows = [];

// Makes an element with attributes, whose children are elements or texts.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// ---- the facts of the run --------------------------------------------------------------------

function gauge(name, share, text, main) {
  const fill = make("div", {class: "fill", style: `width:${Math.min(100, 100 * share).toFixed(2)}%`});
  return make("div", {class: main ? "gauge main" : "gauge"}, make("span", {}, name),
              make("div", {class: "rail"}, fill), make("span", {}, text));
}

// Returns a line for bytes that were copied, without a prediction if there is none.
function copied(where, measured, predicted) {
  const words = predicted > 0 ? `${bytes(measured)}, predicted ${bytes(predicted)}` : bytes(measured);
  return measured > 0 ? [make("p", {class: "pair"}, make("span", {}, where), make("span", {}, words))] : [];
}

function fillTimes(r) {
  const most = Math.max(r.total_s, r.predicted_s) || 1, known = r.predicted_s > 0;
  find("times").append(make("h2", {}, "Time of the run"),
    make("p", {class: "big"}, seconds(r.total_s), " ", make("small", {}, known
      ? `${digits(r.total_s / r.predicted_s, 3)} \u00d7 predicted` : "without a prediction")),
    gauge("measured", r.total_s / most, seconds(r.total_s), true),
    ...(known ? [gauge("predicted", r.predicted_s / most, seconds(r.predicted_s), false)] : []),
    ...copied("copied up", r.h2d_bytes, r.predicted_h2d_bytes),
    ...copied("copied down", r.d2h_bytes, r.predicted_d2h_bytes));
}

function fillBound(r) {
  find("bound").append(make("h2", {}, "Bound by"), make("p", {class: "big"}, r.bound),
    ...Object.entries(r.use).map(([name, use]) => gauge(name, use.utilisation, percent(use.utilisation), name === r.bound)));
}

function fillStalls(stalls) {
  const list = make("ol");
  stalls.forEach((stall, i) => {
    const button = make("button", {title: "Show this stall"}, make("b", {}, String(i + 1)), make("span", {}, stall.text));
    const margin = (stall.end_us - stall.begin_us) * 1.5;
    button.onclick = () => show(stall.begin_us - margin, stall.end_us + margin);
    list.append(make("li", {}, button));
  });
  find("stalls").append(make("h2", {}, "Longest stalls"),
                        stalls.length ? list : make("p", {class: "quiet"}, "There was none."));
}

function fillHead() {
  const {report: r, facts} = trace;
  const title = trace.variants.join(", ") || "A trace without a product";
  document.title = `${title} - hybrid_spmm`;
  find("title").textContent = title;
  const workers = `${facts.device}, ${counted(facts.workers, "worker")}, hybrid_spmm ${facts.version}`;
  find("machine").textContent = r.bound === undefined ? workers
    : `${counted(r.rows, "row")} in ${counted(r.chunks, "chunk")}, ` +
      `${count(r.nnz_out)} entries of the result, ${digits(r.flops / r.total_s / 1e9, 3)} GFLOP/s \u00b7 ${workers}`;
  if (r.bound === undefined) {
    find("facts").hidden = true;
    return;
  }
  fillTimes(r);
  fillBound(r);
  fillStalls(facts.stalls);
}

function fillLegend() {
  for (const s of trace.stages) {
    const stage = STAGES[s], swatch = make("canvas");
    const used = new Set(trace.lanes.flatMap(lane => lane.bars).filter(bar => bar.stage === s).map(bar => bar.name));
    const name = s === OTHER ? stage.does : [...used].join(", ");
    const button = make("button", {title: stage.does, "aria-label": `${name}: ${stage.does}`}, swatch, name);
    const light = on => { state.stage = on ? s : null; redraw(); };
    button.onmouseenter = button.onfocus = () => light(true);
    button.onmouseleave = button.onblur = () => light(false);
    find("legend").append(make("li", {}, button));
    stage.swatch = swatch;
  }
}

// ---- rows ------------------------------------------------------------------------------------

function makeRow(kind, draw, ...cells) {
  const canvas = make("canvas");
  const element = make("div", {class: `row ${kind}`}, ...cells, canvas);
  find("lanes").append(element);
  rows.push({element, canvas, draw});
  return canvas;
}

function makeLane(lane, index) {
  const stalls = trace.facts.stalls.map((stall, i) => ({...stall, number: i + 1})).filter(stall => stall.tid === lane.tid);
  const canvas = makeRow(lane.bound ? "lane bound" : "lane", c => drawLane(c, lane, state, stalls),
    make("span", {class: "name", title: lane.bound ? `${lane.name} serves the resource that bounds the run` : lane.name}, lane.name),
    make("span", {class: "busy"}, percent(lane.busy)));
  canvas.tabIndex = index === 0 ? 0 : -1;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", `${lane.name}, ${lane.bars.length} bars, ${percent(lane.busy)} busy; arrow keys show bars`);
  lane.canvas = canvas;
  canvas.onpointermove = event => { hover(lane, event); };
  canvas.onpointerleave = () => { find("hair").hidden = true; if (!drag) pick(null); };
  canvas.onfocus = () => { state.lane = index; if (canvas.matches(":focus-visible")) pickNear(lane); };
  canvas.onblur = () => pick(null);
  canvas.ondblclick = () => { if (state.picked) showBar(state.picked); };
}

function makeMemory(memory) {
  memory.scale = memory.limit > 0 && memory.peak * 4 >= memory.limit ? memory.limit : memory.peak * 1.1 || 1;
  const limit = memory.limit === 0 ? "no limit" : `limit ${bytes(memory.limit)}, ` +
    (memory.scale === memory.limit ? "dashed" : "off scale");
  makeRow("memory", canvas => drawMemory(canvas, memory, state),
    make("span", {class: "name"}, memory.name, make("small", {}, `peak ${bytes(memory.peak)}`), make("small", {}, limit)))
    .setAttribute("aria-label", `${memory.name}: peak ${bytes(memory.peak)}, ${limit}`);
}

// Draws all rows before the browser shows the next picture, however often it is called.
function redraw() {
  if (!redraw.due)
    redraw.due = requestAnimationFrame(() => {
      redraw.due = 0;
      rows.forEach(row => row.draw(row.canvas));
    });
}

// Draws all again, also after the colours of the page have changed.
function restart() {
  state.fills = STAGES.map(fillOf);
  for (const s of trace.stages) {
    const {g, width, height} = begin(STAGES[s].swatch);
    g.fillStyle = state.fills[s];
    g.fillRect(0, 0, width, height);
  }
  redraw();
}

// ---- the view --------------------------------------------------------------------------------

// Shows a time span, moved and cut so that it lies within the trace.
function show(from, to) {
  const {all} = trace, margin = (all.end - all.begin) * 0.01;
  const span = Math.min(Math.max(to - from, LEAST_SPAN), all.end - all.begin + 2 * margin);
  const middle = (from + to) / 2;
  const left = Math.min(Math.max(middle - span / 2, all.begin - margin), all.end + margin - span);
  state.view = {begin: left, end: left + span};
  redraw();
}

function zoom(factor, at = (state.view.begin + state.view.end) / 2) {
  const {begin: from, end: to} = state.view;
  show(at - (at - from) * factor, at + (to - at) * factor);
}

function pan(share) {
  const by = share * (state.view.end - state.view.begin);
  show(state.view.begin + by, state.view.end + by);
}

function showRun() {
  const {begin: from, end: to} = trace.run, margin = (to - from) * 0.01;
  show(from - margin, to + margin);
}

function showBar(bar) {
  const margin = (bar.end - bar.begin) * 0.5 + LEAST_SPAN;
  show(bar.begin - margin, bar.end + margin);
}

// ---- the bar that is pointed at ----------------------------------------------------------------

function placeTip(x, y) {
  const tip = find("tip"), margin = 14;
  const left = x + margin + tip.offsetWidth < window.innerWidth ? x + margin : Math.max(4, x - margin - tip.offsetWidth);
  const top = y + margin + tip.offsetHeight < window.innerHeight ? y + margin : Math.max(4, y - margin - tip.offsetHeight);
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

// Shows the facts of a bar at a place of the window, or hides them.
function pick(bar, x = 0, y = 0) {
  const tip = find("tip");
  if (state.picked !== bar) {
    state.picked = bar;
    tip.hidden = !bar;
    if (bar)
      tip.replaceChildren(make("h3", {}, titleOf(bar)), make("dl", {},
        ...factsOf(bar).flatMap(([name, text]) => [make("dt", {}, name), make("dd", {}, text)])));
    redraw();
  }
  if (bar)
    placeTip(x, y);
}

const timeAt = (canvas, clientX) => {
  const box = canvas.getBoundingClientRect();
  return state.view.begin + (clientX - box.left) / box.width * (state.view.end - state.view.begin);
};

// Returns the bar at a time; a bar may be missed by `slack` microseconds.
function barAt(lane, at, slack) {
  const i = firstWhere(lane.bars, bar => bar.end >= at);
  const near = [lane.bars[i], lane.bars[i - 1]].filter(bar => bar && bar.begin - slack <= at && at <= bar.end + slack);
  return near[0] || null;
}

let drag = null; // where a drag began, and the view then

function hover(lane, event) {
  const {canvas} = lane, box = canvas.getBoundingClientRect();
  const hair = find("hair");
  hair.hidden = false;
  hair.style.left = `${event.clientX - find("lanes").getBoundingClientRect().left}px`;
  if (drag)
    return;
  const slack = 2 / box.width * (state.view.end - state.view.begin);
  pick(barAt(lane, timeAt(canvas, event.clientX), slack), event.clientX, event.clientY);
}

// Picks a bar by keyboard: brings it into view and shows its facts below it. Without a bar, as
// in an empty lane, nothing remains picked.
function pickByKey(bar) {
  if (!bar)
    return pick(null);
  const {canvas} = bar.lane, span = state.view.end - state.view.begin;
  if (bar.end < state.view.begin || bar.begin > state.view.end)
    show(bar.begin - span / 3, bar.begin + span * 2 / 3);
  const box = canvas.getBoundingClientRect();
  const middle = (Math.max(bar.begin, state.view.begin) + Math.min(bar.end, state.view.end)) / 2;
  pick(bar, box.left + axisOf(state.view, box.width)(middle), box.bottom - 8);
}

// Picks the lane's bar that is nearest to the bar picked last, or to the begin of the view.
function pickNear(lane, at = state.view.begin) {
  pickByKey(lane.bars[Math.min(firstWhere(lane.bars, bar => bar.end > at), lane.bars.length - 1)]);
}

// ---- keyboard and mouse ------------------------------------------------------------------------

function nextBar(by) {
  const {bars} = trace.lanes[state.lane];
  const i = state.picked ? bars.indexOf(state.picked) + by : 0;
  pickByKey(bars[Math.min(Math.max(i, 0), bars.length - 1)]);
}

function nextLane(by) {
  const lane = trace.lanes[state.lane + by];
  const at = state.picked ? state.picked.begin : undefined;
  if (!lane)
    return;
  trace.lanes[state.lane].canvas.tabIndex = -1;
  lane.canvas.tabIndex = 0;
  lane.canvas.focus();
  pickNear(lane, at);
}

const keyAt = () => state.picked ? (state.picked.begin + state.picked.end) / 2 : undefined;
const KEYS = {
  "+": () => zoom(0.5, keyAt()), "=": () => zoom(0.5, keyAt()), "-": () => zoom(2, keyAt()),
  "0": showRun, "a": () => show(trace.all.begin, trace.all.end), "Escape": () => pick(null),
  "Shift ArrowLeft": () => pan(-0.2), "Shift ArrowRight": () => pan(0.2),
};
const LANE_KEYS = {
  "ArrowLeft": () => nextBar(-1), "ArrowRight": () => nextBar(1), "ArrowUp": () => nextLane(-1),
  "ArrowDown": () => nextLane(1), "Enter": () => { if (state.picked) showBar(state.picked); },
  "Home": () => pickByKey(trace.lanes[state.lane].bars[0]), "End": () => pickByKey(trace.lanes[state.lane].bars.at(-1)),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  const name = (event.shiftKey && event.key.startsWith("Arrow") ? "Shift " : "") +
               (event.key.length === 1 ? event.key.toLowerCase() : event.key);
  const inLane = trace.lanes.some(lane => lane.canvas === document.activeElement);
  const act = KEYS[name] || (inLane && LANE_KEYS[name]);
  if (!act)
    return;
  act();
  event.preventDefault();
}

function onWheel(event) {
  const canvas = event.target;
  if (!(canvas instanceof HTMLCanvasElement))
    return;
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (event.ctrlKey || event.metaKey)
    zoom(2 ** (event.deltaY / 250), timeAt(canvas, event.clientX));
  else if (Math.abs(sideways) > 0 && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)))
    pan(sideways / canvas.clientWidth);
  else
    return; // the wheel alone scrolls the page
  event.preventDefault();
}

function onDrag(event) {
  const canvas = event.target;
  if (!(canvas instanceof HTMLCanvasElement) || event.button !== 0)
    return;
  drag = {x: event.clientX, view: state.view, width: canvas.clientWidth};
  canvas.classList.add("pan");
  const move = now => {
    const by = (drag.x - now.clientX) / drag.width * (drag.view.end - drag.view.begin);
    if (now.clientX !== drag.x)
      pick(null);
    show(drag.view.begin + by, drag.view.end + by);
  };
  const end = () => {
    drag = null;
    canvas.classList.remove("pan");
    window.removeEventListener("pointermove", move);
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end, {once: true});
}

function start() {
  trace = readTrace(find("trace").textContent);
  fillHead();
  fillLegend();
  find("lanes").classList.toggle("many", trace.lanes.length > MANY_LANES);
  makeRow("axis", canvas => drawAxis(canvas, trace.all, state.view), make("span"), make("span", {class: "busy"}, "busy"));
  trace.lanes.forEach(makeLane);
  trace.memories.forEach(makeMemory);
  find("lanes").append(make("div", {id: "hair", hidden: ""}));
  showRun();
  restart();
  find("in").onclick = () => zoom(0.5);
  find("out").onclick = () => zoom(2);
  find("run").onclick = KEYS["0"];
  find("all").onclick = KEYS.a;
  document.addEventListener("keydown", onKey);
  find("lanes").addEventListener("wheel", onWheel, {passive: false});
  find("lanes").addEventListener("pointerdown", onDrag);
  new ResizeObserver(redraw).observe(find("lanes"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", restart);
}

if (find("trace").textContent.trim())
  start();
else
  find("title").textContent = "This page contains no trace: 'hybrid_spmm trace' writes one that does.";
