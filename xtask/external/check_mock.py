"""Sends request bodies to a mock server that speaks the vendors' wires, with and without streaming.

check_mock.py LLMOCK BODIES ANSWERS: starts the program LLMOCK on a free port of this machine, sends bodies of every
wire, and keeps what it answers in the folder ANSWERS for others to read. Exits 1 where a body is not taken.
"""

import collections
import http.client
import json
import math
import os
import pathlib
import socket
import subprocess
import sys
import time

A_WIRE = 40


def finite(text):
    """A number that can be written again: Python reads 1e400 as one that no JSON can hold."""
    number = float(text)
    return number if math.isfinite(number) else math.copysign(sys.float_info.max, number)


def path_of(wire, body, stream):
    model = "some-model"
    return {
        "openai.chat": "/v1/chat/completions",
        "openai.responses": "/v1/responses",
        "anthropic.messages": "/v1/messages",
        "gemini.contents": f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent"),
        "ollama.chat": "/api/chat",
        "bedrock.converse": f"/model/{model}/" + ("converse-stream" if stream else "converse"),
    }[wire]


def with_stream(wire, body, stream):
    if wire in ("gemini.contents", "bedrock.converse"):
        return body
    return {**body, "stream": stream}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def started(program, port):
    here = pathlib.Path(__file__).parent
    command = [program, "-p", str(port), "-h", "127.0.0.1", "-f", str(here / "mock_fixtures.json"), "--log-level", "silent"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 0.5).close()
            return server
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise SystemExit("the mock server does not answer")


def send(port, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer x", "x-api-key": "x"}
    connection.request("POST", path, json.dumps(body).encode("utf-8", "surrogatepass"), headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def sample(path):
    """The first bodies of every wire, spread over the sources."""
    by_wire = collections.defaultdict(list)
    for line in open(path, encoding="utf-8", errors="surrogatepass"):
        record = json.loads(line, parse_float=finite)
        by_wire[record["wire"]].append(record)
    for wire, records in by_wire.items():
        step = max(1, len(records) // A_WIRE)
        yield wire, records[::step][:A_WIRE]


def main(program, bodies, answers):
    os.makedirs(answers, exist_ok=True)
    port = free_port()
    server = started(program, port)
    refused = []
    try:
        for wire, records in sample(bodies):
            for stream in (False, True):
                taken = 0
                for index, record in enumerate(records):
                    body = with_stream(wire, record["body"], stream)
                    status, answer = send(port, path_of(wire, body, stream), body)
                    if status == 200:
                        taken += 1
                        word = "stream" if stream else "response"
                        pathlib.Path(answers, f"{wire}.{word}.{index}").write_bytes(answer)
                    else:
                        refused.append(f"{wire} {record['id']}: {status} {answer[:200]!r}")
                word = "streamed" if stream else "whole"
                print(f"{wire}: {taken} of {len(records)} bodies taken by the mock server, answered {word}")
    finally:
        server.kill()
        server.wait()
    for line in refused[:10]:
        print(f"  {line}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
