// page_data.js - reads the trace that the page contains, and words for its figures.
"use strict";

// Stages with their colours (Okabe and Ito, distinct for colour-blind readers) and patterns.
// The last one stands for all others, such as reading and writing files.
const STAGES = [
  {names: ["load"], colour: "#F0E442", pattern: "dots", does: "load B or X"},
  {names: ["prepare", "tile"], colour: "#E69F00", pattern: "rising", does: "pack a chunk"},
  {names: ["h2d"], colour: "#56B4E9", pattern: "upright", does: "copy to the device"},
  {names: ["multiply", "accumulate"], colour: "#009E73", pattern: "none", does: "compute"},
  {names: ["compress", "finish"], colour: "#0072B2", pattern: "level", does: "sort and compress"},
  {names: ["d2h"], colour: "#CC79A7", pattern: "cross", does: "copy to the host"},
  {names: ["place"], colour: "#D55E00", pattern: "falling", does: "store the result"},
  {names: [], colour: "#8E979F", pattern: "none", does: "other steps"},
];
const OTHER = STAGES.length - 1;

// The beginnings of the names of lanes that serve a resource.
const SERVES = {
  "cores": /^cpu/, "host memory": /^cpu/, "bus up": /^(h2d|load)/, "bus down": /^d2h/, "device": /^run/,
};

// ---- words -------------------------------------------------------------------------------

const digits = (value, n) => value.toFixed(Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(value) || 1))));

// Returns seconds with three digits, such as "12.3 ms".
function seconds(s) {
  const [scale, unit] = s >= 1 ? [1, "s"] : s >= 1e-3 ? [1e3, "ms"] : [1e6, "\u00b5s"];
  return `${digits(s * scale, 3)} ${unit}`;
}

// Returns a time of the trace in microseconds as text, in the unit that suits a time span, so
// that times which differ by `step` have different texts.
function time(us, span, step) {
  const [scale, unit] = span >= 2e6 ? [1e6, "s"] : span >= 200 ? [1e3, "ms"] : [1, "\u00b5s"];
  const places = Math.min(6, Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9)));
  return `${(us / scale).toFixed(places)} ${unit}`;
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; n >= 1024 && unit < units.length - 1; unit++)
    n /= 1024;
  return `${unit ? n.toFixed(1) : n} ${units[unit]}`;
}

const count = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
const percent = share => `${(100 * share).toFixed(1)}\u202f%`;

// ---- the trace ---------------------------------------------------------------------------

const stageOf = name => {
  const found = STAGES.findIndex(stage => stage.names.includes(name));
  return found < 0 ? OTHER : found;
};

// Returns the bars of the trace by lane. A lane's bars do not overlap and are sorted by time.
function readLanes(events, facts, bound) {
  const run = facts.end_us - facts.begin_us;
  const lanes = facts.lanes.map(lane => ({
    tid: lane.tid, name: lane.name, bars: [], busy: run > 0 ? lane.busy_us / run : 0,
    bound: Boolean(SERVES[bound] && SERVES[bound].test(lane.name)),
  }));
  const byTid = new Map(lanes.map(lane => [lane.tid, lane]));
  for (const e of events) {
    const lane = e.ph === "X" && byTid.get(e.tid);
    if (lane)
      lane.bars.push({lane, name: e.name, stage: stageOf(e.name), begin: e.ts, end: e.ts + e.dur, args: e.args});
  }
  for (const lane of lanes)
    lane.bars.sort((a, b) => a.begin - b.begin || a.end - b.end);
  return lanes;
}

// Returns the bars of each chunk, by pass and number.
function readChunks(lanes) {
  const chunks = new Map();
  for (const bar of lanes.flatMap(lane => lane.bars)) {
    if (bar.args.chunk === undefined)
      continue;
    const key = `${bar.args.pass}.${bar.args.chunk}`;
    if (!chunks.has(key))
      chunks.set(key, []);
    chunks.get(key).push(bar);
    bar.chunk = chunks.get(key);
  }
  return chunks;
}

// Returns the memories that the run used, each with the samples of its counter.
function readMemory(events, facts) {
  const memories = facts.memory.map(m => ({name: m.name, limit: m.limit_bytes, peak: m.peak_bytes, samples: []}));
  const byName = new Map(memories.map(memory => [memory.name, memory]));
  for (const e of events) {
    const memory = e.ph === "C" && byName.get(e.name);
    if (memory)
      memory.samples.push({at: e.ts, bytes: e.args.bytes});
  }
  for (const memory of memories)
    memory.samples.sort((a, b) => a.at - b.at);
  return memories.filter(memory => memory.samples.some(sample => sample.bytes > 0));
}

function readTrace(text) {
  const {otherData: report, traceEvents: events} = JSON.parse(text);
  const facts = report.timeline;
  const lanes = readLanes(events, facts, report.bound);
  const bars = lanes.flatMap(lane => lane.bars);
  const end = bars.reduce((most, bar) => Math.max(most, bar.end), facts.end_us);
  const run = facts.end_us > facts.begin_us ? {begin: facts.begin_us, end: facts.end_us} : {begin: 0, end};
  return {
    report, facts, lanes, run, chunks: readChunks(lanes), memories: readMemory(events, facts),
    all: {begin: 0, end: Math.max(end, 1)}, stages: [...new Set(bars.map(bar => bar.stage))].sort(),
    variants: [...new Set(bars.map(bar => bar.args.variant))].filter(Boolean),
  };
}

// ---- facts of a bar ----------------------------------------------------------------------

// Returns the stage of the same chunk that ended last before the bar begins.
function stageBefore(bar) {
  return (bar.chunk || []).filter(other => other.end <= bar.begin && other !== bar)
    .reduce((last, other) => !last || other.end > last.end ? other : last, null);
}

// Returns the facts of a bar as pairs of a name and a text.
function factsOf(bar) {
  const {args} = bar, s = (bar.end - bar.begin) * 1e-6, facts = [];
  facts.push(["lane", bar.lane.name]);
  const exactly = us => time(us, 1e3, Math.max(s * 1e6 / 100, 0.001));
  facts.push(["time", `${seconds(s)}, from ${exactly(bar.begin)} to ${exactly(bar.end)}`]);
  const before = stageBefore(bar);
  if (before)
    facts.push(["waited", `${seconds((bar.begin - before.end) * 1e-6)} after ${before.name} on ${before.lane.name}`]);
  if (args.chunk !== undefined)
    facts.push(["rows", `${count(args.rows)}, from row ${count(args.first_row)} on`]);
  if (args.bytes > 0)
    facts.push(["moved", `${bytes(args.bytes)}, ${(args.bytes / s / 1e9).toFixed(2)} GB/s`]);
  if (args.flops > 0)
    facts.push(["computed", `${count(args.flops)} flops, ${(args.flops / s / 1e9).toFixed(2)} GFLOP/s`]);
  if (args.variant)
    facts.push(["variant", args.variant]);
  facts.push(["bound by", args.bound]);
  return facts;
}

function titleOf(bar) {
  const {chunk, pass} = bar.args;
  return bar.name + (chunk === undefined ? "" : ` of chunk ${chunk}`) + (pass > 0 ? `, pass ${pass}` : "");
}
