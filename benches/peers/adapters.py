"""One small adapter per system. Turning a turn into the system's own values (prep) is never timed; serialising and
writing are. All sessions of an adapter live under `root`."""
import asyncio
import json
import os
import shutil
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

PG = os.environ.get("TURNKEEP_PEERS_POSTGRES", "")

class Base:
    durable = "fsync"          # what the product does per turn in its default configuration
    def __init__(self, root): self.root = Path(root); self.root.mkdir(parents=True, exist_ok=True); self.open()
    def open(self): pass
    def close(self): pass
    def prep(self, t): return t                      # neutral turn -> native
    def create(self, sid): pass
    def append(self, sid, t): raise NotImplementedError
    def seed(self, sid, ts):
        self.create(sid)
        for t in ts: self.append(sid, t)
    def resume(self, sid): pass                      # make this process ready to append to an existing session
    tail = fork = list = None                        # optional: tail(sid,k), fork(sid,new), list()->count


@dataclass(slots=True)
class Call:
    id: str
    name: str
    arguments: str

@dataclass(slots=True)
class Message:
    """What the others' messages are, at its cheapest: a value with named fields."""
    role: str
    content: str
    calls: list
    call: str | None

def typed(m):
    calls = [Call(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in m.get("tool_calls", ())]
    return Message(m["role"], m["content"], calls, m.get("tool_call_id"))

class JsonRewrite(Base):
    durable = "none, not atomic"
    def open(self): self.h = {}
    def p(self, sid): return self.root / f"{sid}.json"
    def create(self, sid): self.h[sid] = []
    def resume(self, sid): self.h[sid] = json.loads(self.p(sid).read_text())
    def append(self, sid, t):
        self.h[sid] += t["messages"]
        with open(self.p(sid), "w") as f: json.dump(self.h[sid], f)
    def seed(self, sid, ts):
        self.h[sid] = [m for t in ts[:-1] for m in t["messages"]]; self.append(sid, ts[-1])
    def load(self, sid):
        with open(self.p(sid)) as f: return len([typed(m) for m in json.load(f)])
    def fork(self, sid, new): shutil.copyfile(self.p(sid), self.p(new))

# ---------- LangGraph --------------------------------------------------------------------------
def to_lc(t):
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    u = t["usage"]; out = []
    for i, m in enumerate(t["messages"]):
        mid = f"m{t['turn']}-{i}"
        if m["role"] == "user": out.append(HumanMessage(m["content"], id=mid))
        elif m["role"] == "assistant":
            out.append(AIMessage(m["content"], id=mid, tool_calls=[{"name": c["function"]["name"], "args": json.loads(c["function"]["arguments"]), "id": c["id"]} for c in m["tool_calls"]],
                       usage_metadata={"input_tokens": u["prompt_tokens"], "output_tokens": u["completion_tokens"], "total_tokens": u["total_tokens"]}))
        else: out.append(ToolMessage(m["content"], id=mid, tool_call_id=m["tool_call_id"]))
    return out

class LgPut(Base):
    """saver.put of the whole add_messages state, one checkpoint per turn."""
    def open(self):
        from langgraph.checkpoint.sqlite import SqliteSaver
        self.c = sqlite3.connect(self.root / "lg.db", check_same_thread=False); self.s = SqliteSaver(self.c); self.s.setup(); self.h, self.cfg, self.v = {}, {}, {}
    def close(self): self.c.close()
    def prep(self, t): return to_lc(t)
    def create(self, sid): self.h[sid], self.v[sid] = [], 0; self.cfg[sid] = {"configurable": {"thread_id": sid, "checkpoint_ns": ""}}
    def base(self, sid): return {"configurable": {"thread_id": sid, "checkpoint_ns": ""}}
    def resume(self, sid):
        t = self.s.get_tuple(self.base(sid)); self.h[sid] = t.checkpoint["channel_values"]["messages"]; self.cfg[sid] = t.config; self.v[sid] = int(str(t.checkpoint["channel_versions"]["messages"]).split(".")[0])
    def append(self, sid, t):
        from langgraph.checkpoint.base import empty_checkpoint
        self.h[sid] = self.h[sid] + t; self.v[sid] += 1; v = f"{self.v[sid]:032}.0"
        ck = {**empty_checkpoint(), "channel_values": {"messages": self.h[sid]}, "channel_versions": {"messages": v}}
        self.cfg[sid] = self.s.put(self.cfg[sid], ck, {"source": "loop", "step": self.v[sid], "parents": {}}, {"messages": v})
    def seed(self, sid, ts): self.create(sid); self.h[sid] = [m for t in ts[:-1] for m in t]; self.append(sid, ts[-1])
    def load(self, sid): return len(self.s.get_tuple(self.base(sid)).checkpoint["channel_values"]["messages"])
    def fork(self, sid, new):       # new thread from the latest checkpoint (copy_thread is not implemented by the saver)
        t = self.s.get_tuple(self.base(sid)); self.s.put(self.base(new), t.checkpoint, t.metadata, t.checkpoint["channel_versions"])
    def list(self): return sum(1 for _ in self.s.list(None))

class LgPgPut(LgPut):
    def open(self):
        import psycopg
        from psycopg.rows import dict_row
        from langgraph.checkpoint.postgres import PostgresSaver
        self.c = psycopg.connect(PG, autocommit=True, prepare_threshold=0, row_factory=dict_row); self.s = PostgresSaver(self.c); self.h, self.cfg, self.v = {}, {}, {}
    def setup(self): self.s.setup()

# ---------- OpenAI Agents SDK ------------------------------------------------------------------
class Async(Base):
    def __init__(self, root): self.loop = asyncio.new_event_loop(); super().__init__(root)
    def run(self, coro): return self.loop.run_until_complete(coro)

class OpenAISqlite(Async):
    def open(self): self.ss = {}
    def make(self, sid):
        from agents import SQLiteSession
        return SQLiteSession(sid, self.root / "oa.db")
    def close(self):
        for s in self.ss.values(): getattr(s, "underlying_session", s).close()
    def s(self, sid):
        if sid not in self.ss: self.ss[sid] = self.make(sid)
        return self.ss[sid]
    def create(self, sid): self.s(sid)
    def resume(self, sid): self.s(sid)
    def prep(self, t):
        out = []
        for m in t["messages"]:
            if m["role"] == "user": out.append({"role": "user", "content": m["content"]})
            elif m["role"] == "assistant":
                out.append({"type": "message", "role": "assistant", "id": f"msg_{t['turn']}", "status": "completed", "content": [{"type": "output_text", "text": m["content"], "annotations": []}]})
                out += [{"type": "function_call", "call_id": c["id"], **c["function"]} for c in m["tool_calls"]]
            else: out.append({"type": "function_call_output", "call_id": m["tool_call_id"], "output": m["content"]})
        return out
    def append(self, sid, t): self.run(self.s(sid).add_items(t))
    def seed(self, sid, ts): self.run(self.s(sid).add_items([i for t in ts for i in t]))
    def load(self, sid): return len(self.run(self.s(sid).get_items()))
    def tail(self, sid, k): return len(self.run(self.s(sid).get_items(limit=k)))

# ---------- Google ADK -------------------------------------------------------------------------
class AdkDb(Async):
    def open(self):
        from google.adk.sessions import DatabaseSessionService
        self.svc = DatabaseSessionService(f"sqlite+aiosqlite:///{self.root}/adk.db"); self.ss = {}
    def close(self): self.run(self.svc.close())
    def prep(self, t):
        from google.adk.events import Event
        from google.genai import types as T
        out, names, resp = [], {}, []
        for m in t["messages"]:
            if m["role"] == "user": out.append(Event(author="user", invocation_id=f"i{t['turn']}", content=T.Content(role="user", parts=[T.Part(text=m["content"])])))
            elif m["role"] == "assistant":
                for c in m["tool_calls"]: names[c["id"]] = c["function"]["name"]
                out.append(Event(author="agent", invocation_id=f"i{t['turn']}", usage_metadata=T.GenerateContentResponseUsageMetadata(prompt_token_count=t["usage"]["prompt_tokens"], candidates_token_count=t["usage"]["completion_tokens"]),
                    content=T.Content(role="model", parts=[T.Part(text=m["content"])] + [T.Part(function_call=T.FunctionCall(id=c["id"], name=c["function"]["name"], args=json.loads(c["function"]["arguments"]))) for c in m["tool_calls"]])))
            else: resp.append(T.Part(function_response=T.FunctionResponse(id=m["tool_call_id"], name=names[m["tool_call_id"]], response={"result": m["content"]})))
        return out + [Event(author="agent", invocation_id=f"i{t['turn']}", content=T.Content(role="user", parts=resp))]
    def create(self, sid): self.ss[sid] = self.run(self.svc.create_session(app_name="a", user_id="u", session_id=sid))
    def get(self, sid, k=None):
        from google.adk.sessions.base_session_service import GetSessionConfig
        return self.run(self.svc.get_session(app_name="a", user_id="u", session_id=sid, config=GetSessionConfig(num_recent_events=k) if k else None))
    def resume(self, sid): self.ss[sid] = self.get(sid)
    def append(self, sid, t):
        for e in t:
            e.timestamp = time.time(); self.run(self.svc.append_event(self.ss[sid], e))
    def seed(self, sid, ts):                  # bulk, with the product's own row mapping
        self.create(sid); t0 = time.time() - 1e5; ev = [e for t in ts for e in t]
        for i, e in enumerate(ev): e.timestamp = t0 + i
        async def go():
            S = self.svc._get_schema_classes()
            async with self.svc._rollback_on_exception_session() as s:
                s.add_all([S.StorageEvent.from_event(self.ss[sid], e) for e in ev]); await s.commit()
        self.run(go())
    def load(self, sid): return len(self.get(sid).events)
    def tail(self, sid, k): return len(self.get(sid, k).events)
    def list(self): return len(self.run(self.svc.list_sessions(app_name="a", user_id="u")).sessions)

class AdkSqlite(AdkDb):
    def open(self):
        from google.adk.sessions.sqlite_session_service import SqliteSessionService
        self.svc = SqliteSessionService(str(self.root / "adk.db")); self.ss = {}
    def seed(self, sid, ts):
        self.create(sid); t0 = time.time() - 1e5; c = sqlite3.connect(self.root / "adk.db")
        c.executemany("insert into events(id,app_name,user_id,session_id,invocation_id,timestamp,event_data) values(?,?,?,?,?,?,?)",
                      [(e.id, "a", "u", sid, e.invocation_id, t0 + i, e.model_dump_json(exclude_none=True)) for i, e in enumerate(e for t in ts for e in t)])
        c.commit(); c.close()


ALL = {
    "json_rewrite": JsonRewrite,
    "langgraph_sqlite": LgPut,
    "langgraph_postgres": LgPgPut,
    "openai_sqlite": OpenAISqlite,
    "adk_database": AdkDb,
    "adk_sqlite": AdkSqlite,
}
