"use strict";

// Text of the page. Every string of a report becomes a text node, never markup.

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

function table(head, rows) {
  const numeric = (k) => rows.length > 0 && rows.every((row) => /^[-+0-9.e]*(inf|nan)?$/.test(row[k]));
  const kind = head.map((_, k) => (k > 0 && numeric(k) ? {class: "number"} : {}));
  return element("div", {class: "table"}, element("table", {},
      element("thead", {}, element("tr", {}, ...head.map((text, k) => element("th", Object.assign({scope: "col"}, kind[k]), text)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text, k) => element("td", kind[k], text)))))));
}

function badge(verdict) {
  return element("span", {}, element("span", {class: "swatch", style: "background:" + COLOUR[verdict]}), verdict);
}

/** The text as one word of a shell. */
function shellWord(text) {
  return /^[-\w+.\/:,=@%]*$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

function replayLine(c) {
  const line = c.program + " run " + c.command_line + " --implementation=" + shellWord(c.implementation);
  const button = element("button", {type: "button", onclick: () => copy(line, button)}, "Copy");
  return element("div", {class: "replay"}, element("code", {}, line), button);
}

/** Pages opened from a file have no clipboard of their own in every browser: fall back to a selection. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", {});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1200);
}

function place(at) {
  return ["b", "n", "s", "d"].filter((k) => at[k] >= 0).map((k) => k + "=" + at[k]).join(" ") || "-";
}

function percent(x) {
  return (100 * number(x)).toFixed(0) + "%";
}

/** What the letters of the controls stand for. */
const CONTROLS = "Controls: would the judge have noticed zeros (Z), the negated gradient (N), a missing last row (L), a factor of 1.02 (S), " +
    "one row of zeros (W)? + noticed, in every head, - missed in one, . only zeros are due.";

/** Of how many rows every element was judged, of how many the sums of their tiles, and in how many zeros would pass. */
function rowsText(t) {
  const sums = t.rows_summed > 0 ? ", sums of " + t.rows_summed : "";
  const blind = t.rows_blind > 0 ? ", zeros would pass in " + t.rows_blind : "";
  return t.rows_judged + " of " + t.rows_total + sums + blind;
}

function tensorTable(c) {
  const rows = c.tensors.map((t) => [
    t.name, rowsText(t), short(number(t.worst)), place(t.worst_at),
    short(number(t.rms)) + " / " + short(number(t.rms_limit)), short(number(t.bias)), t.controls,
    Object.entries(t.terms).sort((a, b) => number(b[1]) - number(a[1])).slice(0, 4).map(([n, s]) => n + " " + percent(s)).join(", "),
  ]);
  return table(["tensor", "rows judged", "worst error/bound", "at", "R / R_max", "bias", "controls", "bound consists of"], rows);
}

/** The smallest failing neighbour that was found, if it is smaller than the case. */
function neighbour(c) {
  if (c.shrunk === null || c.shrunk.shrunk === c.command_line) return null;
  const end = c.shrunk.end === "smallest" ? "no smaller one fails" : "the search ended early: " + c.shrunk.end;
  return element("div", {},
      element("p", {class: "quiet"}, "Shrunk in " + c.shrunk.runs + " runs (" + end + "), " + c.shrunk.verdict + ":"),
      replayLine({program: c.program, command_line: c.shrunk.shrunk, implementation: c.implementation}));
}

/** Which rule decided the verdict, and by what it saw; nothing in reports of earlier versions. */
function reason(c) {
  return c.evidence ? element("p", {class: "reason"}, "Decided by " + c.decided_by + ": " + c.evidence) : null;
}

function caseDetails(c) {
  const findings = c.findings.map((f) => element("li", {}, f.rule + (f.tensor ? " " + f.tensor : "") + ": " + f.text));
  return element("div", {class: "inside"},
      reason(c),
      replayLine(c),
      neighbour(c),
      c.note ? element("p", {class: "quiet"}, "Note: " + c.note) : null,
      findings.length ? element("ul", {class: "findings"}, ...findings) : null,
      c.tensors.length ? tensorTable(c) : null,
      c.tensors.some((t) => t.controls) ? element("p", {class: "quiet"}, CONTROLS) : null,
      element("p", {class: "quiet"}, "case " + c.id + ", " + short(number(c.seconds_implementation)) + " s in the implementation, " +
          short(number(c.seconds_total)) + " s in all" +
          c.metrics.map((m) => ", " + m.name + " " + short(number(m.value)) + " " + m.unit).join("")));
}

function caseEntry(c) {
  const node = element("details", {class: "case"}, element("summary", {}, badge(c.verdict),
      element("span", {class: "rule", title: c.evidence || ""}, c.evidence ? c.decided_by : ""),
      element("span", {class: "ratio"}, c.worst < 0 ? "" : short(c.worst)),
      element("code", {class: "line", title: c.command_line}, c.command_line)));
  // The inside is built when it is first opened: a report can hold thousands of cases.
  node.addEventListener("toggle", () => { if (node.open && node.children.length === 1) node.append(caseDetails(c)); });
  return node;
}

/** The list of cases with its filters. */
class CaseList {
  constructor(cases) {
    const urgency = (c) => (WEIGHT[c.verdict] === 1 ? 2 : WEIGHT[c.verdict] === 2 ? 1 : 0);
    this.cases = [...cases].sort((a, b) => urgency(b) - urgency(a) || b.worst - a.worst);
    this.shown = 15;
    for (const id of ["filter-text", "filter-verdict"])
      document.getElementById(id).addEventListener("input", () => { this.shown = 15; this.show(); });
    document.getElementById("more").addEventListener("click", () => { this.shown += 50; this.show(); });
    const present = VERDICTS.filter(([name]) => cases.some((c) => c.verdict === name));
    document.getElementById("filter-verdict").append(...present.map(([name]) => element("option", {value: name}, name)));
  }

  show() {
    const text = document.getElementById("filter-text").value.toLowerCase();
    const verdict = document.getElementById("filter-verdict").value;
    const matching = this.cases.filter((c) => (verdict === "" || c.verdict === verdict) &&
        [c.id, c.command_line, c.note, c.decided_by].join(" ").toLowerCase().includes(text));
    document.getElementById("cases").replaceChildren(...matching.slice(0, this.shown).map(caseEntry));
    document.getElementById("filter-count").textContent = Math.min(this.shown, matching.length) + " of " + matching.length + " shown";
    document.getElementById("more").hidden = matching.length <= this.shown;
  }
}
