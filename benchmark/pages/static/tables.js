// The sentence, the table of techniques and levels of bias, and the table of the chosen level.

// The name of a technique, with its role if it has one.
const nameOf = ({ short, role }) => [
  make("bdi", {}, short),
  ...(words.role[role] ? [make("span", { class: "role" }, ` (${words.role[role].label})`)] : []),
];
const unseen = (text) => make("span", { class: "unseen" }, text);
const signOf = ({ sign }) => (sign ? [make("span", { class: "sign", "aria-hidden": "true" }, sign), " "] : []);

// Lines of a table, with a heading before those of techniques that are told something else.
function underHeadings(rows, lines, columns) {
  return lines.flatMap((line, i) => {
    const { knows } = rows[i];
    if (knows === BLIND || (i && knows === rows[i - 1].knows)) return [line];
    return [make("tr", { class: "state" }, make("th", { scope: "rowgroup", colspan: columns }, `told ${knows}`)), line];
  });
}

function drawTables(now) {
  const l = now.levels.indexOf(now.at);
  // These are the only texts that are HTML: Python made them from Markdown.
  $("sentence").innerHTML = now.said?.[l].sentence ?? "";
  $("notes").innerHTML = words.notes[state.scenario];
  $("level-notes").innerHTML = now.said?.[l].notes ?? "";
  drawMatrix(now);
  drawLevel(now);
}

// ------------------------------------------------------------------- techniques and levels of bias

function drawMatrix(now) {
  const columns = now.levels.map((level) => new Map(rowsAt(now, level).map((row) => [row.technique, row])));
  // One order for all levels: what helps at most of them comes first.
  const shown = new Map(columns.flatMap((rows) => [...rows]));
  const keys = new Map([...shown.keys()].map((name) => [name, placeOf(columns.map((rows) => rows.get(name)))]));
  const order = [...shown.keys()].sort((a, b) => {
    const differs = keys.get(a).findIndex((key, i) => key !== keys.get(b)[i]);
    return differs < 0 ? 0 : keys.get(a)[differs] - keys.get(b)[differs];
  });
  $("matrix-title").textContent = `${titleOf(now.metric)}, by technique and ${words.level}`;
  const head = now.levels.map((level, l) => {
    const cell = make("th", { scope: "col", class: level === now.at && "chosen", "data-at": level }, levelText(level));
    if (now.said?.[l].reason) cell.append(make("span", { class: "reason" }, now.said[l].reason));
    return cell;
  });
  $("matrix").tHead.rows[0].replaceChildren(make("th", { scope: "col" }, "Technique"), ...head);
  const rows = order.map((technique) => {
    const picked = technique === now.technique;
    const first = make("th", { scope: "row", "data-technique": technique }, ...nameOf(shown.get(technique)));
    const cells = now.levels.map((level, l) => {
      const row = columns[l].get(technique);
      if (!row) return make("td", {}, "–");
      const muted = now.said?.[l].reason ? " muted" : "";
      const looks = `${row.kind}${muted}${level === now.at ? " chosen" : ""}${row.best?.length ? " best" : ""}`;
      const title = [row.word?.label, ...row.texts].filter(Boolean).join("; ");
      const texts = [...signOf(row.word ?? {}), number(row.number.mean), unseen(` ${title}`)];
      return make("td", { class: looks, title, "data-at": level, "data-technique": technique }, ...texts);
    });
    return make("tr", { class: picked ? "picked" : null }, first, ...cells);
  });
  const all = order.map((technique) => shown.get(technique));
  $("matrix").tBodies[0].replaceChildren(...underHeadings(all, rows, now.levels.length + 1));
  const own = now.answers?.metric === now.metric;
  const signs = Object.entries(own ? words.verdict : words.shown).map(([key, { sign, label, meaning }]) => {
    const looks = own ? key : `shown-${key.replace(".", "none")}`;
    return make("span", { class: `key ${looks}`, title: meaning ?? null }, `${sign} ${label}`);
  });
  $("keys").replaceChildren(...signs.flatMap((key) => [key, " "]));
}

// Roles first, then by what they are told, then by the number of levels where it helps or is promising, then by mean distance to the goal.
function placeOf(cells) {
  const rows = cells.filter(Boolean);
  const count = (verdict) => rows.filter((row) => row.verdict === verdict).length;
  const left = rows.map(({ distance, number }) => Math.abs(distance ?? number.mean ?? Infinity));
  const isRole = rows.some((row) => row.isBaseline || (row.role && row.role !== "technique"));
  const told = isRole ? -1 : STATES.indexOf(rows[0].knows);
  return [told, -count("helps"), -count("promising"), left.reduce((a, b) => a + b, 0) / left.length];
}

// A click chooses a level and a technique, and lets go of a technique that is chosen.
function choose({ dataset }, now) {
  const { at = String(now.at), technique = now.technique } = dataset;
  const again = technique === now.technique && at === String(now.at) && "technique" in dataset;
  change({ at, technique: again ? "" : technique });
}

// ---------------------------------------------------------------------------- the chosen level

function drawLevel(now) {
  const rows = rowsAt(now, now.at);
  const other = now.answers && ![now.answers.metric, ACCURACY].includes(now.metric);
  const measure = now.answers ? words.goal[now.goal].measure : titleOf(now.metric);
  $("level-title").textContent = `All techniques at ${levelText(now.at)}`;
  const change = "change [95 %]";
  const more = other ? [titleOf(now.metric), change] : [];
  const head = ["Technique", measure, change, ...more, "accuracy", change, "accepts: deprived", "favored", "verdict"];
  $("level").tHead.rows[0].replaceChildren(...head.map((text) => make("th", { scope: "col" }, text)));
  const both = (value, changed) => {
    const cell = make("td");
    if (changed && changed.mean !== null) {
      cell.append(`${signed(changed.mean)} `, make("span", { class: "soft" }, interval(changed, signed)));
    }
    return [make("td", {}, number(value.mean)), cell];
  };
  const lines = rows.map((row) => {
    const { isBaseline, accepted, verdictWord } = row;
    const label = [verdictWord?.label, row.texts.join("; ")].filter(Boolean).join(": ");
    const looks = [isBaseline && "baseline", row.technique === now.technique && "picked"];
    return make(
      "tr",
      { class: looks.filter(Boolean).join(" ") || null },
      make("th", { scope: "row" }, ...nameOf(row)),
      ...both(row.value ?? row.number, isBaseline ? null : (row.change ?? row.numberChange)),
      ...(other ? both(row.number, isBaseline ? null : row.numberChange) : []),
      ...both(row.accurate, isBaseline ? null : row.accuracy_change),
      make("td", {}, share(accepted?.deprived ?? null)),
      make("td", {}, share(accepted?.favored ?? null)),
      make("td", { class: `word ${row.verdict ?? ""}` }, ...signOf(verdictWord ?? {}), label),
    );
  });
  const body = underHeadings(rows, lines, head.length);
  const constant = now.answers?.levels[now.levels.indexOf(now.at)].constant;
  if (constant) {
    const { accepts, accuracy } = constant;
    const { label } = words.constant[accepts === 0 ? "nobody" : accepts === 1 ? "everybody" : "some"];
    const cells = [number(accuracy), "", share(accepts), share(accepts), ""].map((text) => make("td", {}, text));
    const title = make("th", { scope: "row", colspan: String(3 + more.length) }, label);
    body.push(make("tr", { class: "constant" }, title, ...cells));
  }
  $("level").tBodies[0].replaceChildren(...body);
}
