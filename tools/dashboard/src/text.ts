// Functions that make texts and HTML elements. Every string from a report becomes a text node and is never parsed as
// HTML.

import { type Case, colourOf, type Finding } from "./report";

export function short(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value) || Math.abs(value) >= Number.MAX_VALUE) return value > 0 ? "inf" : "-inf";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5))
    return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  return String(Number(value.toPrecision(4)));
}

type Child = Node | string | null;
type Attributes = Record<string, string | ((event: Event) => void)>;

function fill<E extends Element>(node: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "string") node.setAttribute(name, value);
    else node.addEventListener(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Creates an element; attributes that are functions become event listeners. */
export function element(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

export function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (node === null) throw new Error("the page has no element " + id);
  return node;
}

export function put(id: string, ...children: Child[]): void {
  byId(id).replaceChildren(...children.filter((child) => child !== null));
}

export function table(head: string[], rows: Child[][], name: string): HTMLElement {
  const numeric = (k: number): boolean => rows.length > 0 &&
    rows.every((row) => typeof row[k] === "string" && /^[-+0-9.e]*(inf|nan)?$/.test(row[k]));
  const kind = head.map((_, k): Attributes => (k > 0 && numeric(k) ? { class: "number" } : {}));
  const titles = head.map((text, k) => element("th", { scope: "col", ...kind[k] }, text));
  const lines = rows.map((row) => element("tr", {}, ...row.map((cell, k) => element("td", kind[k], cell))));
  // Wraps a table in an element that scrolls if the table is wider than the page. The keyboard can scroll it, too.
  return element("div", { class: "table", tabindex: "0", role: "region", "aria-label": name },
    element("table", {}, element("thead", {}, element("tr", {}, ...titles)), element("tbody", {}, ...lines)));
}

export function badge(verdict: string): HTMLElement {
  const swatch = element("span", { class: "swatch" });
  swatch.style.background = colourOf(verdict);
  return element("span", { class: "badge" }, swatch, verdict);
}

/** Quotes the text as one shell word. */
function shellWord(text: string): string {
  return /^[-\w+./:,=@%]*$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/** The command that explains a case: the requirement that it violates on purpose, else the rule that decided; empty for neither. */
export function explainLine(c: Case): string {
  const subject = c.violated_requirement || c.decided_by;
  return subject === "" ? "" : `${shellWord(c.program)} explain ${shellWord(subject)}`;
}

/** The line with the implementation of the case. */
const implementedLine = (c: Case, line: string): string => `${line} --implementation=${shellWord(c.implementation)}`;

/** The command that dumps the tensors. If the outputs are from a file, it dumps only the expected values. */
export function dumpLine(c: Case): string {
  const line = c.outputs_file === undefined ? implementedLine(c, c.command_line) : c.command_line;
  return `${shellWord(c.program)} dump ${line} --npy stages`;
}

/** The command that judges the case again: a run, or a check of the file that contains its outputs. */
export function runLine(c: Case, line: string = c.command_line): string {
  if (c.outputs_file !== undefined)
    return `${shellWord(c.program)} check ${implementedLine(c, shellWord(c.outputs_file))} --case=${c.id}`;
  const forward = c.pair === undefined ? "" : ` --forward=${shellWord(c.pair.forward)}`;
  return `${shellWord(c.program)} run ${implementedLine(c, line)}${forward}`;
}

/** In some browsers, pages opened from a file have no clipboard access: then use a selection. */
async function copy(text: string, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea") as HTMLTextAreaElement;
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1200);
}

/** The line in words that stay whole where it wraps. */
function wrapped(line: string): HTMLElement {
  const words = line.split(" ").flatMap((word, k) => [k === 0 ? "" : " ", element("span", { class: "word" }, word)]);
  return element("code", {}, ...words);
}

/** A shell command with a button that copies it. */
export function copyLine(line: string): HTMLElement {
  const button = element("button", { type: "button", class: "copy", click: () => void copy(line, button) }, "Copy");
  return element("div", { class: "replay" }, wrapped(line), button);
}

export function place(at: Finding): string {
  return (["b", "n", "s", "d"] as const).filter((k) => at[k] >= 0).map((k) => k + "=" + at[k]).join(" ") || "-";
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
