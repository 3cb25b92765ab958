// The URL contains the state of the page (#q=...&sort=...&case=...), so that a link shows the same view.

import { toggle } from "./query";

export interface State {
  q: string;
  sort: string;
  case: string;
  /** Words that filter the list of injected faults. */
  bugs: string;
}

export const DEFAULT_SORT = "urgency";

export function read(): State {
  const hash = new URLSearchParams(location.hash.slice(1));
  return { q: hash.get("q") ?? "", sort: hash.get("sort") ?? DEFAULT_SORT, case: hash.get("case") ?? "",
    bugs: hash.get("bugs") ?? "" };
}

/** The URL of a state, without values that are at their defaults. */
export function address(state: State): string {
  const hash = new URLSearchParams();
  if (state.case !== "") hash.set("case", state.case);
  if (state.q !== "") hash.set("q", state.q);
  if (state.sort !== DEFAULT_SORT) hash.set("sort", state.sort);
  if (state.bugs !== "") hash.set("bugs", state.bugs);
  return "#" + hash.toString();
}

let listener: () => void = () => undefined;

export function onChange(changed: () => void): void {
  listener = changed;
  addEventListener("hashchange", changed);
}

/** Typing replaces the current history entry; a click adds one. */
export function change(part: Partial<State>, replace = false): void {
  const next = address({ ...read(), ...part });
  if (next === location.hash || (next === "#" && location.hash === "")) return;
  if (!replace) {
    location.hash = next;
    return;
  }
  history.replaceState(null, "", next);
  listener();
}

export const toggleTerms = (terms: string[]): void => change({ q: toggle(read().q, terms), case: "" });
