// Shows the injected faults: which judging method (track) detects each fault, after how many cases and seconds, and
// which faults the tolerance rules of other projects detect.

import { scaleLog } from "d3-scale";

import { unpackText } from "../report";
import { change, read } from "../state";
import { byId, copyLine, element, plural, put, short, svg, table } from "../text";

/** A row of the table, see tools/kills_schema.md. */
interface Bug {
  operator: string;
  name: string;
  bug: string;
  healthy: boolean;
  as_expected: boolean;
  cases: number;
  failed: number;
  cases_to_kill: number;
  seconds_to_kill: number;
  tracks: Record<string, { cases: number; failed: number }>;
  replay: string;
}

export interface Kills {
  cases: number;
  threads: number;
  seconds: number;
  interrupted: boolean;
  rows: Bug[];
  yardsticks: { rule: string; faults_detected: number; faults_judged: number; correct_rejected: number; correct_judged: number }[];
}

export async function unpackKills(): Promise<Kills | undefined> {
  const packed = byId("kills-data").textContent!.trim();
  return packed === "" ? undefined : JSON.parse(await unpackText(packed)) as Kills;
}

const PART = 12;
let shown = PART;

type Order = (a: Bug, b: Bug) => number;
/** A fault that no case noticed sorts as the slowest. */
const late = (bug: Bug, value: number): number => (bug.cases_to_kill === 0 ? Infinity : value);
const byNumber = (of: (bug: Bug) => number): Order => (a, b) => (of(a) === of(b) ? 0 : of(b) - of(a));
const ORDERS: Record<string, [string, Order]> = {
  cases: ["most cases to kill first", byNumber((bug) => late(bug, bug.cases_to_kill))],
  seconds: ["most seconds to kill first", byNumber((bug) => late(bug, bug.seconds_to_kill))],
  name: ["by name", (a, b) => a.name.localeCompare(b.name, "en", { numeric: true })],
};

/** Words, each of which must occur; `cases=3-4`: a range of cases to kill; `track=bound`: the track that detects it. */
function matches(bug: Bug, query: string): boolean {
  const text = (bug.operator + " " + bug.name + " " + bug.bug).toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => {
    const range = /^cases=(\d+)-(\d+)$/.exec(word);
    if (range !== null) return bug.cases_to_kill >= Number(range[1]) && bug.cases_to_kill <= Number(range[2]);
    if (word.startsWith("track=")) return !bug.healthy && (bug.tracks[word.slice(6)]?.failed ?? 0) > 0;
    if (word === "untold") return !bug.as_expected;
    return text.includes(word);
  });
}

const words = (): string[] => read().bugs.split(/\s+/).filter((word) => word !== "");
const toggleWord = (word: string): void =>
  change({ bugs: (words().includes(word) ? words().filter((w) => w !== word) : [...words(), word]).join(" ") });

function filterButton(word: string, text: string, more = ""): HTMLElement {
  return element("button", { type: "button", class: "only", "aria-label": `${text}${more}, filter`, "aria-pressed": String(words().includes(word)),
    click: () => toggleWord(word) }, text);
}

const tracksOf = (bugs: Bug[]): string[] => [...new Set(bugs.flatMap((bug) => Object.keys(bug.tracks)))].sort();

function summary(kills: Kills): HTMLElement {
  const [injected, healthy] = [kills.rows.filter((bug) => !bug.healthy), kills.rows.filter((bug) => bug.healthy)];
  const shareText = (bugs: Bug[]): string => `${bugs.filter((bug) => bug.as_expected).length} of ${bugs.length}`;
  const bad = kills.rows.filter((bug) => !bug.as_expected).length;
  return element("p", {},
    element("strong", { class: bad > 0 ? "bad" : "good" }, `${shareText(injected)} injected faults caught, ${shareText(healthy)} healthy variants conform`),
    ` (${plural(kills.cases, "case")}, ${short(kills.seconds)} s on ${plural(kills.threads, "thread")})` +
    (kills.interrupted ? ". Interrupted: not every case was judged." : "."),
    bad > 0 ? filterButton("untold", `Show ${bad} with a wrong verdict`) : null);
}

/** Each column doubles the one before it: 1, 2, 3 to 4, 5 to 8 ... cases. */
function stepsToKill(bugs: Bug[]): Map<string, number> {
  const most = Math.max(1, ...bugs.map((bug) => bug.cases_to_kill));
  const steps = new Map<string, number>();
  for (let first = 1, last = 1; first <= most; first = last + 1, last *= 2)
    steps.set(`${first}-${last}`, bugs.filter((bug) => bug.cases_to_kill >= first && bug.cases_to_kill <= last).length);
  return steps;
}

function picture(bugs: Bug[]): SVGElement {
  const steps = [...stepsToKill(bugs)];
  const width = 560, row = 24, left = 106, height = steps.length * row + 6;
  const most = Math.max(2, ...steps.map(([, count]) => count));
  const x = scaleLog([0.7, most], [left, width - 52]);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Injected faults by cases to kill" });
  steps.forEach(([step, count], k) => {
    const [first, last] = step.split("-");
    const says = `${first === last ? first : `${first} to ${last}`} case${last === "1" ? "" : "s"}`;
    drawn.append(svg("text", { x: String(left - 8), y: String(k * row + 17), "text-anchor": "end" }, says));
    if (count === 0) return;
    const bar = svg("rect", { class: "cell", x: String(left), y: String(k * row + 4), width: String(x(count) - left), height: "17",
      role: "button", tabindex: "0", "aria-label": `${plural(count, "bug")} after ${says}, filter`,
      "aria-pressed": String(words().includes("cases=" + step)), click: () => toggleWord("cases=" + step),
      keydown: (event) => {
        const { key } = event as KeyboardEvent;
        if (key !== "Enter" && key !== " ") return;
        event.preventDefault();
        toggleWord("cases=" + step);
      } });
    drawn.append(bar, svg("text", { x: String(x(count) + 6), y: String(k * row + 17) }, String(count)));
  });
  return drawn;
}

const share = (count: number, all: number): string => (all === 0 ? "-" : `${count} of ${all}`);

function yardsticks(kills: Kills): HTMLElement | null {
  const asked = kills.yardsticks.filter((rule) => rule.faults_judged + rule.correct_judged > 0);
  if (asked.length === 0) return null;
  return element("figure", {}, element("figcaption", {}, "The verdicts of other rules on the same runs with ordinary numbers"),
    table(["rule", "injected faults noticed", "healthy variants failed"], asked.map((rule) =>
      [rule.rule, share(rule.faults_detected, rule.faults_judged), share(rule.correct_rejected, rule.correct_judged)]), "Rules of other stacks"));
}

/** A description of the change, and the first case that fails, if any. */
function about(bug: Bug): HTMLElement {
  return element("div", {}, element("strong", {}, bug.name), bug.healthy ? " (healthy)" : "",
    element("div", { class: "quiet" }, bug.operator), element("div", { class: "quiet" }, bug.bug),
    bug.replay === "" ? null : element("details", {}, element("summary", {}, "First case that fails"), copyLine(`assay run ${bug.replay} --implementation=mutant-${bug.name}`)));
}

function line(bug: Bug, tracks: string[]): (Node | string)[] {
  const of = (track: string): string => {
    const count = bug.tracks[track];
    return count === undefined ? "-" : `${count.failed} of ${count.cases}`;
  };
  const killed = bug.cases_to_kill > 0;
  const never = bug.healthy ? "-" : "never";
  return [about(bug), ...tracks.map(of), killed ? String(bug.cases_to_kill) : never,
    killed ? short(bug.seconds_to_kill) : "-"];
}

function list(kills: Kills): void {
  const { bugs } = read();
  const order = (byId("kills-sort") as HTMLSelectElement).value;
  const all = kills.rows.filter((bug) => matches(bug, bugs)).sort((ORDERS[order] ?? ORDERS["cases"]!)[1]);
  const tracks = tracksOf(kills.rows);
  put("kills-count", `${all.length} of ${kills.rows.length}`);
  put("kills", table(["mutant", ...tracks, "cases to kill", "seconds to kill"], all.slice(0, shown).map((bug) => line(bug, tracks)), "Kill table"));
  byId("kills-more").hidden = all.length <= shown;
}

/** Draws the section; called again whenever the URL changes. */
export function showKills(kills: Kills | undefined): void {
  byId("kills-section").hidden = kills === undefined;
  if (kills === undefined) return;
  const injected = kills.rows.filter((bug) => !bug.healthy);
  put("kills-summary", summary(kills));
  put("kills-tracks", ...tracksOf(injected).map((track) => {
    const judged = injected.filter((bug) => bug.tracks[track] !== undefined);
    const noticed = judged.filter((bug) => bug.tracks[track]!.failed > 0).length;
    return filterButton("track=" + track, `${track}: ${noticed} of ${judged.length}`, " faults noticed");
  }));
  put("kills-picture", picture(injected));
  put("kills-yardsticks", yardsticks(kills));
  const search = byId("kills-text") as HTMLInputElement;
  if (document.activeElement !== search) search.value = read().bugs;
  list(kills);
}

export function prepareKills(kills: Kills | undefined): void {
  if (kills === undefined) return;
  const search = byId("kills-text") as HTMLInputElement;
  const sort = byId("kills-sort") as HTMLSelectElement;
  sort.replaceChildren(...Object.entries(ORDERS).map(([value, [text]]) => element("option", { value }, text)));
  search.addEventListener("input", () => { shown = PART; change({ bugs: search.value.trim() }, true); });
  sort.addEventListener("input", () => list(kills));
  byId("kills-more").addEventListener("click", () => { shown += 4 * PART; list(kills); });
}
