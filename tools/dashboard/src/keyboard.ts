// Keyboard shortcuts: / searches, j and k move down and up, Escape goes back, c copies the replay line of the case, ?
// shows this help.

import type { Case } from "./report";
import { change, read } from "./state";
import { byId } from "./text";

function step(list: Case[], by: number): void {
  const state = read();
  if (state.case !== "") {
    const next = list[list.findIndex((c) => c.id === state.case) + by];
    if (next !== undefined) change({ case: next.id });
    return;
  }
  const links = [...document.querySelectorAll<HTMLElement>("a.case")];
  const at = links.findIndex((link) => link === document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

function escape(search: HTMLElement): void {
  if (document.activeElement === search) search.blur();
  else if (read().case !== "") change({ case: "" });
  else change({ q: "" });
}

export function listenToKeys(list: () => Case[]): void {
  const search = byId("filter-text");
  const keys: Record<string, () => void> = {
    "/": () => { change({ case: "" }); byId("overview").hidden = false; search.focus(); },
    "j": () => step(list(), 1),
    "k": () => step(list(), -1),
    "c": () => document.querySelector<HTMLElement>("#case-page .copy")?.click(),
    "?": () => { const keyHelp = byId("keys") as HTMLDetailsElement; keyHelp.open = !keyHelp.open; },
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      escape(search);
      return;
    }
    const typing = event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    const act = keys[event.key];
    if (typing || act === undefined) return;
    event.preventDefault();
    act();
  });
}
