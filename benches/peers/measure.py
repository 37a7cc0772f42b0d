#!/usr/bin/env python3
"""measure.py SYSTEM ROOT TURNS LENGTHS WINDOW FULL: one system, as JSON lines.

A session is grown to each of LENGTHS; then WINDOW appends, a full load, the last 20 messages and a fork are timed.
Bytes are those of a session that was appended turn by turn; systems that store everything again at each turn are only
grown that way up to FULL turns."""
import json
import os
import shutil
import sys
import time

from adapters import ALL, LgPut

WHOLE_STATE = LgPut


def size(root):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(root) for f in fs)


def clocked(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return (time.process_time() - cpu) * 1e6, (time.perf_counter() - wall) * 1e6


def tenth(times):
    return sorted(times)[len(times) // 10]


def grown(kind, root, turns, full):
    """Bytes of a session that was appended turn by turn, or nothing where that is not done."""
    if issubclass(kind, WHOLE_STATE) and (hasattr(kind, "setup") or len(turns) > full):
        return None
    shutil.rmtree(root, ignore_errors=True)
    system = kind(root)
    if issubclass(kind, WHOLE_STATE):
        system.create("s")
        for turn in turns:
            system.append("s", system.prep(turn))
    else:
        system.seed("s", [system.prep(turn) for turn in turns])
    system.close()
    return size(root)


def measure(name, root, turns, length, window, full):
    kind = ALL[name]
    raw = sum(len(json.dumps(turn, separators=(",", ":"))) + 1 for turn in turns[:length])
    row = {"system": name, "turns": length, "raw": raw, "bytes": grown(kind, root, turns[:length], full)}
    shutil.rmtree(root, ignore_errors=True)
    system = kind(root)
    if hasattr(system, "setup"):
        system.setup()
    session = f"s{time.time()}"
    system.seed(session, [system.prep(turn) for turn in turns[:length]])
    system.resume(session)
    times = [clocked(lambda turn=turn: system.append(session, turn)) for turn in map(system.prep, turns[length:length + window])]
    row["append_cpu"] = sum(cpu for cpu, _ in times) / len(times)
    row["append_wall"] = tenth([wall for _, wall in times])
    times = [clocked(lambda: system.load(session)) for _ in range(10)]
    row["load_cpu"] = min(cpu for cpu, _ in times)
    row["load_wall"] = tenth([wall for _, wall in times])
    if system.tail:
        row["tail_wall"] = tenth([clocked(lambda: system.tail(session, 20))[1] for _ in range(20)])
    if system.fork:
        row["fork_wall"] = tenth([clocked(lambda n=n: system.fork(session, f"fork{n}-{time.time()}"))[1] for n in range(5)])
    system.close()
    shutil.rmtree(root, ignore_errors=True)
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    name, root, file, lengths, window, full = sys.argv[1:]
    lengths, window = [int(length) for length in lengths.split(",")], int(window)
    with open(file, encoding="utf-8") as lines:
        turns = [json.loads(line) for line in lines]
    for length in lengths:
        measure(name, root, turns, length, window, int(full))
