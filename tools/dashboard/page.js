"use strict";

function put(id, ...children) {
  document.getElementById(id).replaceChildren(...children);
}

function tile(value, what) {
  return element("div", {class: "tile"}, element("b", {}, value), element("span", {}, what));
}

function conclusion(summary) {
  const count = (weight) => VERDICTS.reduce((sum, [name, , w]) => sum + (w === weight ? summary.verdicts[name] || 0 : 0), 0);
  if (summary.interrupted) return ["unclear", "Stopped after " + summary.cases + " of " + summary.planned + " cases"];
  if (count(1) > 0) return ["bad", "Does not conform: " + count(1) + " of " + summary.cases + " cases"];
  if (count(2) > 0 || summary.cases === 0) return ["unclear", "Not conclusive: " + count(2) + " of " + summary.cases + " cases"];
  return ["good", "Conforms: nothing found in " + summary.cases + " cases"];
}

function showHead(report) {
  const {environment, summary} = report;
  document.title = "Assay: " + environment.implementation;
  put("implementation", environment.implementation);
  const [kind, text] = conclusion(summary);
  put("conclusion", element("span", {class: kind}, text));
  const skipped = !summary.interrupted && summary.planned > summary.cases ?
      ", " + (summary.planned - summary.cases) + " more were beyond the budget" : "";
  put("circumstances", [environment.started, short(environment.seconds) + " s", "seed " + environment.seed + skipped,
      "assay " + environment.tool_version, environment.compiler].filter((x) => x !== "").join(" \u00b7 "));
  const worst = Object.entries(summary.worst).map(([name, at]) => tile(short(number(at.ratio)), "worst error / bound of " + name));
  put("tiles", tile(String(summary.cases), "cases"), tile(String(summary.value_cases), "judged by their numbers"),
      tile(summary.requirements.accepted + " + " + summary.requirements.rejected, "requirements accepted + rejected, of " + summary.requirements.total),
      ...(summary.pairs && summary.pairs.admissible ? [tile(summary.pairs.covered + " / " + summary.pairs.admissible, "pairs of values covered")] : []),
      ...worst);
  put("footer", environment.command_line);
}

function showRequirements(requirements) {
  document.getElementById("requirements-section").hidden = requirements.total === 0;
  put("requirements-summary", "Accept side of " + requirements.accepted + " and reject side of " + requirements.rejected + " requirements exercised; " +
      (requirements.unexercised.length ? "with a side, a variant or a violation that no case exercised: " + requirements.unexercised.length + "." : "no side was left out."));
  const open = new Set(requirements.unexercised);
  put("requirements", ...requirements.requirements.map((row) => {
    const nothing = !row.has_accept && !row.has_reject;
    const kind = open.has(row.id) ? "row open" : nothing ? "row none" : "row";
    const title = nothing ? "nothing to exercise" : "accepted in " + row.accepted + " cases, rejected in " + row.rejected;
    return element("span", {class: kind, title}, row.id + (open.has(row.id) ? " !" : ""));
  }));
}

function showNumerics(numerics) {
  const dtypes = Object.keys(numerics);
  if (dtypes.length === 0) {
    put("numerics", "none recorded");
    return;
  }
  const cell = (value) => (typeof value === "number" ? short(value) : String(value));
  put("numerics", table(["field"].concat(dtypes), Object.keys(numerics[dtypes[0]]).map((field) =>
      [field].concat(dtypes.map((dtype) => cell(numerics[dtype][field]))))));
}

function showMetrics(report) {
  const names = metricNames(report.cases);
  document.getElementById("metrics-section").hidden = names.size === 0;
  if (names.size === 0) return () => {};
  const all = ["multiply-adds", ...names.keys()];
  const wanted = {"metric-x": "multiply-adds", "metric-y": all.find((n) => /utili[sz]ation/.test(n)) || all[1]};
  const redraw = () => drawMetrics(report, document.getElementById("metric-x").value, document.getElementById("metric-y").value);
  for (const [id, value] of Object.entries(wanted)) {
    const select = document.getElementById(id);
    select.append(...all.map((n) => element("option", {value: n}, names.get(n) ? n + " (" + names.get(n) + ")" : n)));
    select.value = value;
    select.addEventListener("input", redraw);
  }
  return redraw;
}

/** How a case changed, largest change first. */
function changes(both) {
  const change = (p) => (p.now.verdict !== p.before.verdict ? Infinity :
      p.now.worst > 0 && p.before.worst > 0 ? Math.abs(Math.log(p.now.worst / p.before.worst)) : 0);
  return both.map((p) => ({...p, change: change(p)})).filter((p) => p.change > 1e-9)
      .sort((a, b) => (b.change === a.change ? 0 : b.change - a.change));
}

function showComparison(report, before) {
  document.getElementById("comparison").hidden = before === null;
  if (before === null) return () => {};
  const both = pairs(report, before);
  const changed = changes(both);
  const verdicts = changed.filter((p) => p.now.verdict !== p.before.verdict).length;
  put("comparison-summary", "Compared with " + before.environment.implementation + " of " + before.environment.started + ": " +
      both.length + " cases in both, " + (report.cases.length - both.length) + " only now, " +
      (before.cases.length - both.length) + " only before. Changed verdicts: " + verdicts + "; changed worst errors: " +
      (changed.length - verdicts) + ".");
  const ratio = (c) => (c.worst < 0 ? "-" : short(c.worst));
  const step = (x, y) => (x === y ? x : x + " \u2192 " + y);
  put("changes", changed.length === 0 ? "Nothing changed." : table(["case", "verdict", "error / bound"],
      changed.slice(0, 12).map((p) => [p.now.id, step(p.before.verdict, p.now.verdict), step(ratio(p.before), ratio(p.now))])));
  return () => drawBeforeNow(both);
}

function show() {
  const report = readReport(document.getElementById("report").textContent);
  const before = readReport(document.getElementById("before").textContent);
  showHead(report);
  showRequirements(report.summary.requirements);
  showNumerics(report.environment.numerics);
  put("verdict-legend", ...VERDICTS.filter(([name]) => report.summary.verdicts[name])
      .map(([name]) => element("span", {}, badge(name), " " + report.summary.verdicts[name])));
  new CaseList(report.cases).show();
  const redraws = [showMetrics(report), showComparison(report, before), () => drawHistogram(report), () => drawWorst(report)]
      .concat(["entry_point", "dtype", "sparse_mode"].map((field) => () => drawVerdicts(report, field)));
  const redraw = () => redraws.forEach((f) => f());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  redraw();
}

show();
