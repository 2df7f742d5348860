"use strict";
// The two linked figures.

const LIGHT = { ink: "#1b1b1b", soft: "#5a5a5a", paper: "#ffffff", grid: "#e4e4e4", constant: "#a02020", colors: {} };
// The dark ones of the palette, each with as much contrast to dark paper as it has to white.
const DARK = {
  ink: "#ececec",
  soft: "#ababab",
  paper: "#161616",
  grid: "#333333",
  constant: "#ff8a80",
  colors: { "#000000": "#f2f2f2", "#0072B2": "#4ba3dd", "#882255": "#d9749f", "#332288": "#9388e0" },
};

const MOST_BANDS = 20;
// How far a line may be from all points, in parts of their span.
const [IDEAL_REACH, CONSTANT_REACH] = [0.35, 0.5];
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// As Python rounds: exact halves go to the even digit.
function fixed(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const scaled = value * 10 ** digits;
  const isHalf = Math.abs((value * 2 ** (digits + 1)) % 2) === 1;
  const shown = isHalf ? (2 * Math.round(scaled / 2)) / 10 ** digits : value;
  return shown.toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
}
const range = (low, high) => (Number.isFinite(low) ? `${fixed(low)} to ${fixed(high)}` : "–");
// As many decimals as show on which side of the level of significance it lies.
function pText(p) {
  if (Number.isNaN(p)) return "not tested";
  if (p < 0.001 && run.alpha >= 0.001) return "< 0.001";
  const side = (text) => Math.sign(Number(text) - run.alpha);
  let digits = 3;
  while (digits < 16 && side(p.toFixed(digits)) !== side(p)) digits += 1;
  return p.toFixed(digits);
}

// The plotting library reads some tags and entities in texts: names are neither.
const plain = (name) => name.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const colorOf = (technique, look) => look.colors[technique.color] ?? technique.color;

function faded(color, opacity) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${opacity})`;
}

// A cell in words, as lines.
function linesOf(row) {
  const lines = [
    `${row.technique.title}, ${levelText(row.beta)}`,
    `${row.metric.title}: ${fixed(row.mean)} (${range(row.low, row.high)})`,
    `n = ${row.n}${row.missing ? `, ${row.missing} missing` : ""}`,
  ];
  if (row.metric.name === ACCURACY && !Number.isNaN(row.accepted[0])) {
    lines.push(`accepts ${row.accepts} of all, of the deprived, of the favored`);
  }
  if (row.sign) lines.push(`${row.sign} ${row.why}`);
  if (!row.isBaseline) {
    lines.push(`against ${row.baseline.title}: ${fixed(row.difference)}, p = ${pText(row.p)} ${row.verdict}`);
  }
  return lines;
}

function hover(rows) {
  const [first, ...lines] = [...linesOf(rows[0]), ...rows.slice(1).flatMap((row) => linesOf(row).slice(1))];
  return [`<b>${plain(first)}</b>`, ...lines.map(plain)].join("<br>");
}

function lookOf(technique, view, look) {
  const other = view.highlight !== null && technique.name !== view.highlight;
  const picked = technique.name === view.highlight;
  return { color: colorOf(technique, look), opacity: other ? 0.13 : 1, width: picked ? 3 : 1.5, picked };
}

const isDegenerate = (row) => row.sign === run.degenerate;

// Of marks: hollow where the technique is degenerate.
const symbolsOf = (technique, rows) => rows.map((row) => technique.symbol + (isDegenerate(row) ? "-open" : ""));

// The entry of the legend that says so.
function hollowTrace(view, look) {
  const x = [null];
  const marker = { symbol: "circle-open", color: look.soft, size: 9, line: { width: 2 } };
  const name = `${run.degenerate} hollow: nearly the same answer for all, or for each group`;
  return view.all.some(isDegenerate) ? [{ x, y: x, name, marker, mode: "markers", hoverinfo: "skip" }] : [];
}

function errorBars(rows, color) {
  return {
    type: "data",
    symmetric: false,
    array: rows.map((row) => row.high - row.mean || 0),
    arrayminus: rows.map((row) => row.mean - row.low || 0),
    thickness: 1,
    width: 0,
    color,
  };
}

function tradeoffTraces(view, look) {
  return view.techniques.map((technique) => {
    const { color, opacity, width, picked } = lookOf(technique, view, look);
    const rows = view.all.filter((row) => row.technique === technique);
    const [across, up] = [view.x, view.y].map((metric) => rows.filter((row) => row.metric === metric));
    return {
      meta: technique.name,
      name: plain(technique.title),
      x: across.map((row) => row.mean),
      y: up.map((row) => row.mean),
      error_x: errorBars(across, color),
      error_y: errorBars(up, color),
      mode: "lines+markers",
      line: { color: faded(color, 0.4), width: Math.max(1, width - 0.5), dash: technique.dash },
      marker: {
        color,
        symbol: symbolsOf(technique, across),
        size: across.map((row) => 6 + (7 * row.beta) / run.level.limit + (isDegenerate(row) ? 3 : 0)),
        opacity: 1,
        line: { color: look.paper, width: across.map((row) => (isDegenerate(row) ? 2 : 0.7)) },
      },
      opacity,
      zorder: picked ? 1 : 0,
      hoverinfo: "text",
      hovertext: across.map((row, i) => hover([...new Set([row, up[i]])])),
    };
  });
}

// Unprocessing frontiers, one for each level of bias, and the answer by lot.
function yardstickTraces(view, look) {
  const { random, frontier } = view.scenario;
  if (view.x.name !== DISCRIMINATION || view.y.name !== ACCURACY || !frontier.length) return [];
  const more = { hoverinfo: "skip", zorder: -1 };
  const lines = frontier.map(({ x, y }, i) => ({
    x,
    y,
    mode: "lines",
    line: { color: look.soft, width: 1, dash: "dash" },
    name: `unprocessing frontier, one for each ${run.level.one}`,
    showlegend: i === 0,
    ...more,
  }));
  if (random === null || !isNear(random, view.y, view, CONSTANT_REACH)) return lines;
  const marker = { symbol: "cross-thin", size: 9, line: { color: look.constant, width: 1.5 } };
  const name = `${run.random.toLowerCase()}: accuracy ${fixed(random, 3)}`;
  return [...lines, { x: [0], y: [random], mode: "markers", marker, name, ...more }];
}

function curveTraces(view, look) {
  const bands = [];
  const lines = [];
  for (const technique of view.techniques) {
    const { color, opacity, width, picked } = lookOf(technique, view, look);
    const rows = view.all.filter((row) => row.technique === technique && row.metric === view.over);
    const whole = rows.filter((row) => Number.isFinite(row.low));
    if (picked || (view.highlight === null && view.techniques.length <= MOST_BANDS)) {
      const back = [...whole].reverse();
      bands.push({
        meta: technique.name,
        x: [...whole, ...back].map((row) => row.beta),
        y: [...whole.map((row) => row.high), ...back.map((row) => row.low)],
        fill: "toself",
        fillcolor: faded(color, picked ? 0.25 : 0.13),
        line: { width: 0 },
        mode: "lines",
        hoverinfo: "skip",
        showlegend: false,
      });
    }
    lines.push({
      meta: technique.name,
      name: plain(technique.title),
      x: rows.map((row) => row.beta),
      y: rows.map((row) => row.mean),
      mode: "lines+markers",
      line: { color, width, dash: technique.dash },
      marker: {
        color,
        symbol: symbolsOf(technique, rows),
        size: picked ? 9 : 7,
        line: { width: rows.map((row) => (isDegenerate(row) ? 2 : 0)) },
      },
      opacity,
      zorder: picked ? 1 : 0,
      hoverinfo: "text",
      hovertext: rows.map((row) => hover([row])),
    });
  }
  return [...bands, ...lines];
}

// A line far from all points would only squeeze them.
function isNear(level, metric, view, reach) {
  const means = view.all.filter((row) => row.metric === metric && row.n > 0).map((row) => row.mean);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const room = reach * (high - low);
  return low - room <= level && level <= high + room;
}

function lineAt(axis, level, line, more = {}) {
  const along = axis === "x" ? "y" : "x";
  return {
    type: "line",
    layer: "below",
    [`${axis}0`]: level,
    [`${axis}1`]: level,
    [`${along}0`]: 0,
    [`${along}1`]: 1,
    [`${along}ref`]: "paper",
    line,
    ...more,
  };
}

// The ideal, and the accuracy of the best constant answer.
function linesAcross(axis, metric, view, look) {
  const lines = [];
  const { constant } = view.scenario;
  if (metric.ideal !== null && metric.direction !== "none" && isNear(metric.ideal, metric, view, IDEAL_REACH)) {
    lines.push(lineAt(axis, metric.ideal, { color: look.soft, width: 1.5, dash: "dot" }));
  }
  if (constant && metric.name === ACCURACY && isNear(constant.accuracy, metric, view, CONSTANT_REACH)) {
    const name = `${constant.words}: accuracy ${fixed(constant.accuracy, 3)}`;
    const line = { color: look.constant, width: 1.5, dash: "dashdot" };
    lines.push(lineAt(axis, constant.accuracy, line, { name, showlegend: true }));
  }
  return lines;
}

function layoutOf(across, up, shapes, look) {
  const axis = (title) => ({
    title: { text: plain(title), standoff: 8 },
    gridcolor: look.grid,
    linecolor: look.soft,
    zeroline: false,
    showline: true,
    ticks: "outside",
    tickcolor: look.soft,
  });
  return {
    xaxis: axis(across),
    yaxis: axis(up),
    shapes,
    showlegend: true,
    legend: { orientation: "h", x: 0, y: 1, yanchor: "bottom", font: { size: 11 } },
    autosize: true,
    margin: { l: 64, r: 12, t: 10, b: 46 },
    font: { family: FONT, size: 12, color: look.ink },
    paper_bgcolor: look.paper,
    plot_bgcolor: look.paper,
    hovermode: "closest",
    hoverlabel: { align: "left", bgcolor: look.paper, bordercolor: look.soft, font: { color: look.ink, size: 12 } },
    // A finger that moves over a figure scrolls the page.
    dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
  };
}

const FIGURES = {
  tradeoff: (view, look) => ({
    data: [...yardstickTraces(view, look), ...tradeoffTraces(view, look), ...hollowTrace(view, look)],
    layout: layoutOf(
      view.x.title,
      view.y.title,
      [...linesAcross("x", view.x, view, look), ...linesAcross("y", view.y, view, look)],
      look,
    ),
  }),
  curves: (view, look) => ({
    data: [...curveTraces(view, look), ...hollowTrace(view, look)],
    layout: layoutOf(run.level.axis, view.over.title, linesAcross("y", view.over, view, look), look),
  }),
};

// Drawings that wait until their figure comes into view.
const waiting = new Map();
const onScreen = new IntersectionObserver((entries) => {
  entries.filter((entry) => entry.isIntersecting).forEach(({ target }) => waiting.get(target.id)?.());
});

const isInView = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom >= 0 && top <= innerHeight;
};

function drawFigure(name, view, look, onPick) {
  const element = document.getElementById(name);
  const draw = () => {
    waiting.delete(name);
    const { data, layout } = FIGURES[name](view, look);
    // The techniques' marks are explained beside the figures and in the tables.
    const shown = data.map((trace) => (trace.meta ? { ...trace, showlegend: false } : trace));
    const isNew = !element.on;
    Plotly.react(element, shown, layout, { displayModeBar: false, responsive: true });
    if (isNew) element.on("plotly_click", ({ points }) => onPick(points[0].data.meta));
  };
  waiting.set(name, draw);
  onScreen.observe(element);
  if (isInView(element)) draw();
}

const drawFigures = (...shown) => Object.keys(FIGURES).forEach((name) => drawFigure(name, ...shown));

// A figure for a file: on white paper, with a legend, as wide as two columns.
function saveFigure(name, format, view) {
  const { data, layout } = FIGURES[name](view, LIGHT);
  const most = 18;
  const drawn = {
    data,
    layout: {
      ...layout,
      title: { text: plain(view.title), font: { size: 14 }, x: 0.02, xanchor: "left" },
      margin: { l: 60, r: 20, t: 44, b: 50 },
      showlegend: true,
      legend: { font: { size: view.techniques.length > most ? 9 : 11 }, itemsizing: "constant" },
    },
  };
  const height = Math.max(520, 90 + 17 * view.techniques.length);
  const filename = [run.name, view.file, name].join("_").replace(/[^\w.-]+/g, "_");
  return Plotly.downloadImage(drawn, { format, filename, width: 960, height, scale: format === "png" ? 3 : 1 });
}
