// The trade-off: accuracy against the chosen metric, at all levels of bias.

// Colors; `scale` has those of the levels of bias.
const LIGHT = {
  ...{ ink: "#1b1b1b", soft: "#5a5a5a", paper: "#ffffff", grid: "#e8e8e8", usable: "rgba(0,102,75,.07)" },
  scale: ["#7db4d8", "#6a5fb0", "#7a0030"].map((color, i) => [i / 2, color]),
};
const DARK = {
  ...{ ink: "#ececec", soft: "#ababab", paper: "#161616", grid: "#2c2c2c", usable: "rgba(76,201,163,.10)" },
  scale: ["#4f8fc4", "#b79cf0", "#ffb08a"].map((color, i) => [i / 2, color]),
};
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const LONGEST_NAME = 26;
// How far below the best accuracy the picture reaches, in parts of the span of usable techniques.
const REACH = 2.5;
const MARGIN = { l: 56, r: 62, t: 8, b: 44 };

// The plotting library reads some tags and entities in texts: names are neither.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
function inShort(text) {
  const signs = [...text];
  return signs.length > LONGEST_NAME ? `${signs.slice(0, LONGEST_NAME - 1).join("")}…` : text;
}

const hasPoint = (row) => row.number.mean !== null && row.accurate.mean !== null;

function hover(now, level, row) {
  const lines = [
    `${titleOf(now.metric)} ${number(row.number.mean)} ${interval(row.number)}`,
    `${titleOf(ACCURACY)} ${number(row.accurate.mean)} ${interval(row.accurate)}`,
    [row.verdictWord?.label, ...row.texts].filter(Boolean).join("; "),
  ];
  return [`<b>${plain(row.title)}</b>, ${plain(levelText(level))}`, ...lines.map(plain)].join("<br>");
}

// Ends of an axis that holds all values and shows no difference too large.
function span(values) {
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(0.08 * (high - low), (0.04 - (high - low)) / 2, 0.004);
  return [low - room, high + room];
}

// Everything of the picture, for a width and height in pixels.
function pictureOf(now, look, width, height) {
  const { levels } = now;
  const points = levels.flatMap((level) => rowsAt(now, level).filter(hasPoint).map((row) => ({ level, row })));
  const chosen = points.filter(({ level }) => level === now.at);
  const before = new Map(chosen.filter(({ row }) => row.isBaseline).map(({ row }) => [row.technique, row]));
  const beforeOf = (row) => before.get(row.against) ?? [...before.values()][0];
  const l = levels.indexOf(now.at);
  const floor = now.answers?.levels[l].floor ?? null;
  const own = now.answers?.metric === now.metric;
  const ideal = own ? 0 : (metrics.get(now.metric)?.ideal ?? null);
  // Marks of other levels that are of no use may lie outside: they would squeeze the rest.
  const inside = points.filter(({ level, row }) => level === now.at || row.usable);
  const x = span([...inside.map(({ row }) => row.number.mean), ...(own ? [0] : [])]);
  // A technique far less accurate than all usable ones stands at the lower edge.
  const best = Math.max(...inside.map(({ row }) => row.accurate.mean));
  const usable = inside.filter(({ row }) => row.usable).map(({ row }) => row.accurate.mean);
  const edge = best - REACH * (best - Math.min(floor ?? best, ...usable));
  const isBelow = (row) => row.accurate.mean < edge && usable.length > 0;
  const up = (row) => (isBelow(row) ? edge : row.accurate.mean);
  const y = span(inside.map(({ row }) => up(row)));
  const faint = (row) => now.technique !== null && row.technique !== now.technique && !row.isBaseline;
  const trace = (shown, size, symbol, opacity) => ({
    x: shown.map(({ row }) => row.number.mean),
    y: shown.map(({ row }) => up(row)),
    customdata: shown.map(({ row, level }) => [row.technique, level]),
    mode: "markers",
    marker: {
      size,
      symbol: shown.map(({ row }) => symbol(row)),
      opacity: shown.map(({ row }) => (faint(row) ? 0.25 : 1) * opacity),
      color: shown.map(({ level }) => levels.indexOf(level)),
      colorscale: look.scale,
      cmin: 0,
      cmax: Math.max(1, levels.length - 1),
      line: { width: shown.map(({ row }) => (row.usable ? 0.7 : 2)), color: look.paper },
    },
    hoverinfo: "text",
    hovertext: shown.map(({ level, row }) => hover(now, level, row)),
  });
  const symbol = (row) => {
    return (isBelow(row) ? "triangle-down" : row.isBaseline ? "square" : row.knows === BLIND ? "circle" : "diamond") + (row.usable ? "" : "-open");
  };
  const paths = [...before.keys()].map((name) => points.filter(({ row }) => row.technique === name));
  // Doing nothing comes last, so that nothing covers it.
  const last = [...chosen].reverse();
  const main = trace(last, last.map(({ row }) => (row.isBaseline ? 14 : 11)), symbol, 1);
  if (levels.length > 1) {
    main.marker.colorbar = {
      ...{ title: { text: words.level }, thickness: 10, len: 0.9, x: 1.01, xpad: 0, outlinewidth: 0 },
      tickvals: levels.map((_, i) => i),
      ticktext: levels.map(String),
    };
  }
  const { frontier } = now.scenario;
  const curve = now.metric === "discrimination" && frontier.find(({ level }) => level === now.at);
  const lineOf = (x, y, dash) => {
    return { x, y, mode: "lines", line: { color: look.soft, width: 1, dash }, hoverinfo: "skip" };
  };
  const data = [
    // Doing nothing, from level to level; and what thresholds by group on untreated scores reach.
    ...paths.map((path) => {
      return lineOf(path.map(({ row }) => row.number.mean), path.map(({ row }) => row.accurate.mean), "dot");
    }),
    ...(curve ? [lineOf(curve.discrimination, curve.accuracy, "dash")] : []),
    trace(points.filter(({ level }) => level !== now.at), 6, symbol, 0.45),
    main,
  ];
  const shapes = [];
  if (floor !== null && floor < y[1]) {
    const area = { xref: "paper", x0: 0, x1: 1, y0: Math.max(floor, y[0]), y1: y[1], line: { width: 0 } };
    shapes.push({ type: "rect", layer: "below", fillcolor: look.usable, ...area });
  }
  if (ideal !== null && x[0] <= ideal && ideal <= x[1]) {
    const along = { x0: ideal, x1: ideal, yref: "paper", y0: 0, y1: 1 };
    shapes.push({ type: "line", layer: "below", line: { color: look.soft, width: 1.5, dash: "dot" }, ...along });
  }
  const to = (value, range, length) => ((value - range[0]) / (range[1] - range[0])) * length;
  const [w, h] = [width - MARGIN.l - MARGIN.r, height - MARGIN.t - MARGIN.b];
  const placed = chosen.map(({ row }) => {
    return { row, up: up(row), x: to(row.number.mean, x, w), y: h - to(up(row), y, h) };
  });
  const after = before.size ? chosen.filter(({ row }) => !row.isBaseline) : [];
  const arrows = after.map(({ row }) => ({
    ...{ x: row.number.mean, y: up(row) },
    ...{ ax: beforeOf(row).number.mean, ay: beforeOf(row).accurate.mean, axref: "x", ayref: "y" },
    ...{ text: "", showarrow: true, arrowhead: 2, arrowsize: 0.8, arrowcolor: look.soft },
    ...{ standoff: 7, startstandoff: 8 },
    arrowwidth: row.technique === now.technique ? 2.2 : 1,
    opacity: faint(row) ? 0.15 : row.usable ? 0.75 : 0.3,
  }));
  const axis = (metric, range) => ({
    title: { text: plain(titleOf(metric)), standoff: 6 },
    range,
    ...{ gridcolor: look.grid, linecolor: look.soft, tickcolor: look.soft },
    ...{ zeroline: false, showline: true, ticks: "outside" },
  });
  const layout = {
    width,
    height,
    xaxis: axis(now.metric, x),
    yaxis: axis(ACCURACY, y),
    shapes,
    annotations: [...arrows, ...namesOf(placed, w, h, look, faint)],
    showlegend: false,
    margin: MARGIN,
    font: { family: FONT, size: 12, color: look.ink },
    paper_bgcolor: look.paper,
    plot_bgcolor: look.paper,
    hovermode: "closest",
    hoverlabel: { align: "left", bgcolor: look.paper, bordercolor: look.soft, font: { color: look.ink } },
    // A finger that moves over the picture scrolls the page.
    dragmode: false,
  };
  return { data, layout };
}

// Names beside their marks, where they overlap neither marks nor other names: best first.
function namesOf(placed, width, height, look, faint) {
  const pen = make("canvas").getContext("2d");
  pen.font = `11px ${FONT}`;
  const taken = placed.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  const apart = (a, b) => a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
  const isFree = (box) =>
    box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height && taken.every((other) => apart(box, other));
  const start = placed.find(({ row }) => row.isBaseline);
  const chosen = ({ row }) => row.best?.length ?? 0;
  const order = placed.filter(({ row }) => !faint(row)).sort((a, b) => chosen(b) - chosen(a));
  return order.flatMap(({ row, up, x, y }) => {
    const text = inShort(row.title);
    const half = pen.measureText(text).width / 2 + 2;
    // Away from the arrow first.
    const side = start && x < start.x ? -1 : 1;
    const beside = [[side * (half + 9), 0], [-side * (half + 9), 0], [0, -15], [0, 15]];
    // Only a technique to take may have its name farther off.
    const heights = row.best?.length ? [-12, 12, -26, 26] : [-12, 12];
    const corners = heights.flatMap((dy) => [[side * (half + 5), dy], [-side * (half + 5), dy]]);
    const boxes = [...beside, ...corners].map(([dx, dy]) => {
      return { dx, dy, box: [x + dx - half, y + dy - 7, x + dx + half, y + dy + 7] };
    });
    const place = boxes.find(({ box }) => isFree(box));
    if (!place) return [];
    taken.push(place.box);
    const font = { size: 11, color: row.usable ? look.ink : look.soft };
    const at = { x: row.number.mean, y: up, xshift: place.dx, yshift: -place.dy };
    return [{ ...at, text: plain(text), showarrow: false, font }];
  });
}

// Accuracy stands on one axis already: then the goal's metric is on the other.
const withAcross = (now) => (now.metric === ACCURACY ? { ...now, metric: now.usual.metric } : now);

function drawPicture(chosen) {
  const [element, now] = [$("picture"), withAcross(chosen)];
  if (!element.clientWidth) return;
  $("picture-title").textContent = `${titleOf(now.metric)} and accuracy, ${levelText(now.at)}`;
  const look = darkColors.matches ? DARK : LIGHT;
  const { data, layout } = pictureOf(now, look, element.clientWidth, element.clientHeight);
  const isNew = !element.on;
  const filename = `${facts.run.name}_${now.scenario.file}_${now.metric}_${now.at}`;
  const toImageButtonOptions = { format: "svg", filename };
  Plotly.react(element, data, layout, { displaylogo: false, modeBarButtons: [["toImage"]], toImageButtonOptions });
  if (!isNew) return;
  element.on("plotly_click", ({ points }) => {
    const [technique, at] = points[0].customdata ?? [];
    if (technique) change({ technique: technique === state.technique ? "" : technique, at: String(at) });
  });
}

fromFragment(location.hash.slice(1));
listen();
draw();
addEventListener("DOMContentLoaded", () => {
  // It follows its place: a window that grows.
  new ResizeObserver(() => drawPicture(current())).observe($("picture"));
  drawPicture(current());
  document.documentElement.dataset.ready = "";
});
