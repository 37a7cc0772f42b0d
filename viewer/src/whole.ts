// Texts that were shortened on their way, fetched when someone asks for them.

import { api } from "./api";
import { type Fields } from "./fold";
import { route, story } from "./state";

/** The whole text at a path of a record. */
export async function whole(seq: number, path: string): Promise<string> {
  const here = route.value;
  const entry = here.page === "session" ? await api.record(here.id, seq) : story.value.entries.find((one) => one.seq === seq);
  const found = path.split(".").reduce<any>((node: Fields | undefined, key) => node?.[key], entry?.event ?? entry);
  return typeof found === "string" ? found : JSON.stringify(found, null, 2);
}
