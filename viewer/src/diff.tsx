// Two sessions side by side, aligned by what was said.

import { type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { type Story, newStory, tell } from "./story";
import { CommandBar, Strip, TopBar } from "./bars";
import { Visible } from "./visible";
import { count, money, oneLine, shortId } from "./text";
import { offer, quoted } from "./state";

export type Pair = [string | undefined, string | undefined];

/** Aligns two lists: equal items face each other, others stand alone or face what replaced them. */
export function aligned(left: string[], right: string[]): Pair[] {
  const [n, m] = [left.length, right.length];
  let start = 0;
  while (start < n && start < m && left[start] === right[start]) start++;
  let end = 0;
  while (end < n - start && end < m - start && left[n - 1 - end] === right[m - 1 - end]) end++;
  const middle = common(left.slice(start, n - end), right.slice(start, m - end));
  const same = (items: string[]): Pair[] => items.map((item) => [item, item]);
  return [...same(left.slice(0, start)), ...middle, ...same(left.slice(n - end))];
}

/** The longest common subsequence; sessions that differ in too much are only put side by side. */
function common(left: string[], right: string[]): Pair[] {
  const [n, m] = [left.length, right.length];
  if (n * m > 4_000_000) return Array.from({ length: Math.max(n, m) }, (_, index): Pair => [left[index], right[index]]);
  const table = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) table[i][j] = left[i] === right[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < n || j < m) {
    if (i < n && j < m && left[i] === right[j]) pairs.push([left[i++], right[j++]]);
    else if (j >= m || (i < n && table[i + 1][j] >= table[i][j + 1])) pairs.push([left[i++], undefined]);
    else pairs.push([undefined, right[j++]]);
  }
  return pairs;
}

function lines(story: Story): string[] {
  return story.turns.flatMap((turn) => turn.blocks.map(({ block }) => {
    const said = block.text ?? block.arguments ?? (block.parts ?? []).map((part: any) => part.text ?? JSON.stringify(part.json ?? "")).join("\n");
    return `${block.author}${block.name ? ` ${block.name}` : ""}: ${said}`;
  }));
}

async function load(id: string): Promise<Story> {
  const story = newStory(id);
  await api.journal(id, 0, (entries) => entries.forEach((entry) => void tell(story, entry)));
  return story;
}

export function DiffPage({ left, right }: { left: string; right: string }): VNode {
  const [pair, setPair] = useState<[Story, Story] | undefined>(undefined);
  useEffect(() => {
    offer(`diff ${quoted(left)} ${quoted(right)}`, "compare");
    Promise.all([load(left), load(right)]).then(setPair);
  }, [left, right]);
  const rows = pair ? aligned(lines(pair[0]), lines(pair[1])) : [];
  return (
    <>
      <TopBar place="Compare" /><Strip />
      <main class="conv" id="conv" tabIndex={-1}><div class="df">
        {[left, right].map((id, index) => <div class="h"><a href={`#/s/${encodeURIComponent(id)}`}>{oneLine(pair?.[index].session.title ?? shortId(id), 80)}</a><small>{pair && facts(pair[index])}</small></div>)}
        {rows.map(([one, other]) => {
          const kind = one === other ? "" : "ch";
          return <><div class={one === undefined ? "no" : kind}><Visible text={(one ?? "").slice(0, 4000)} /></div><div class={other === undefined ? "no" : kind}><Visible text={(other ?? "").slice(0, 4000)} /></div></>;
        })}
      </div></main>
      <CommandBar />
    </>
  );
}

const facts = (story: Story): string => `${story.turns.length} turns · ${count(story.session.usage.input)} in · ${count(story.session.usage.output)} out · ${money(story.session.usage.cost)}`;
