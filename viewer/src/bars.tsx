// The bars at the top and the bottom, and what stands above a page when something has to be said.

import { type ComponentChildren, type VNode } from "preact";
import { signal } from "@preact/signals";
import { Brand, Icon } from "./icons";
import { ago } from "./text";
import { command, connection, notice, now, story } from "./state";

export function theme(): void {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
}

export function TopBar({ place, children }: { place?: string; children?: ComponentChildren }): VNode {
  return (
    <header class="top">
      <a class="brand" href="#/" aria-label="turnkeep, all sessions"><Brand /><span>turnkeep</span></a>
      {place && <nav class="crumb" aria-label="Place"><span class="first dim">/</span><a class="first" href="#/">Sessions</a><span class="first">/</span><b>{place}</b></nav>}
      <span class="sp" />
      {children}
      <Connected />
      <button class="btn quiet icon" aria-label="Change the theme" onClick={theme}><Icon name="theme" small={false} /></button>
    </header>
  );
}

function Connected(): VNode | null {
  const state = connection.value;
  if (state.state === "idle") return null;
  if (state.state === "loading") return <span class="conn" role="status"><i class="dot" />loading</span>;
  if (state.state === "static") return <span class="conn"><i class="dot" />a copy</span>;
  const seq = story.value.last?.seq;
  const place = seq ? `, seq ${seq}` : "";
  if (state.state === "lost") return <span class="conn" role="status"><i class="dot" />last heard {ago(new Date(state.since).toISOString(), now.value) || "now"} ago{place}</span>;
  return <span class="conn"><i class="live" />live{place}</span>;
}

const copied = signal(false);

export async function copyCommand(): Promise<void> {
  await navigator.clipboard.writeText(command.value.text);
  copied.value = true;
  setTimeout(() => (copied.value = false), 1200);
}

export function CommandBar({ children }: { children?: ComponentChildren }): VNode {
  return (
    <footer class="cmd"><span class="p">$</span><output aria-label="The same in a terminal">{command.value.text}</output><span class="why">{command.value.why}</span>{children}
      <button class="btn" onClick={copyCommand}><Icon name="copy" />{copied.value ? "Copied" : "Copy"} <kbd>C</kbd></button></footer>
  );
}

export function Strip(): VNode | null {
  const said = notice.value;
  if (!said) return null;
  return <div class={`strip ${said.tone ?? ""}`} role="alert"><span>{said.text}</span><button class="btn" onClick={() => (notice.value = undefined)}>Close</button></div>;
}
