// Foreign text, made safe to show, and numbers as people read them.

const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc]/;
const HIDDEN_ALL = new RegExp(HIDDEN, "g");

/** Text in pieces: visible runs, and characters that are not drawn or reorder text, by name. */
export function pieces(text: string): (string | { name: string })[] {
  if (!HIDDEN.test(text)) return [text];
  const parts: (string | { name: string })[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN_ALL)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push({ name: "U+" + match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

export function plain(text: string): string {
  return text.replace(HIDDEN_ALL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function oneLine(text: string, limit = 160): string {
  const line = plain(text).replace(/\s+/g, " ").trim();
  return [...line].length > limit ? [...line].slice(0, limit - 1).join("") + "…" : line;
}

export function count(value: number | undefined): string {
  const n = value ?? 0;
  if (n < 1000) return String(n);
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** Money is never rounded to nothing. */
export function money(value: string | number | undefined): string {
  const n = Number(value ?? 0);
  if (!n) return "$0";
  const digits = n >= 1 ? 2 : Math.min(12, Math.max(4, 1 - Math.floor(Math.log10(Math.abs(n)))));
  return "$" + n.toFixed(digits);
}

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  return n < 1024 * 1024 ? `${(n / 1024).toFixed(1)} kB` : `${(n / 1024 / 1024).toFixed(1)} MB`;
}

export function seconds(value: number): string {
  if (value < 0.01) return `${(value * 1000).toFixed(1)} ms`;
  if (value < 10) return `${value.toFixed(2)} s`;
  if (value < 60) return `${value.toFixed(1)} s`;
  const whole = Math.round(value);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60];
  return hours ? `${hours} h ${minutes} m` : `${minutes} m ${rest ? `${String(rest).padStart(2, "0")} s` : ""}`.trim();
}

export const millis = (time?: string): number => (time ? Date.parse(time) : NaN);

export function between(from?: string, to?: string): number | undefined {
  const length = (millis(to) - millis(from)) / 1000;
  return Number.isFinite(length) ? Math.max(0, length) : undefined;
}

export function clock(time?: string, fine = false): string {
  const at = millis(time);
  if (Number.isNaN(at)) return "";
  const text = new Date(at).toISOString();
  return fine ? text.slice(11, 23) : text.slice(11, 19);
}

export function ago(time: string | undefined, now: number): string {
  const length = (now - millis(time)) / 1000;
  if (!Number.isFinite(length)) return "";
  if (length < 45) return "now";
  if (length < 3600) return `${Math.round(length / 60)} m`;
  if (length < 86400) return `${Math.round(length / 3600)} h`;
  return length < 86400 * 14 ? `${Math.round(length / 86400)} d` : new Date(millis(time)).toISOString().slice(0, 10);
}

export const shortId = (id: string): string => (/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(id) ? id.slice(0, 8) : oneLine(id, 24));

export function plural(n: number, one: string, many = one + "s"): string {
  return `${n} ${n === 1 ? one : many}`;
}

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
export const inWords = (n: number): string => WORDS[n] ?? String(n);
