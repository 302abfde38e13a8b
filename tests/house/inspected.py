"""What `inspect` says of a model, beside the equations of docs/model.md in plain Python. Parts of check_examples.py; no
check of its own.

A model whose attention and feed-forward part write zeros only turns its stream, so that every measure after every block
follows from embedding, profile and angles.
"""
import csv
import io
import json
import math
import os
import random
import struct
import subprocess

from parts import expect

V, D, L, N, T, B = 20, 24, 2, 3, 6, 4
P, PAIRS = D // N, D // N // 2
MODEL = [f"model.vocab_size={V}", f"model.d_model={D}", f"model.n_layers={L}", "model.n_q_heads=3", "model.n_kv_heads=3",
         "model.d_ff=8", f"model.n_phases={N}", f"model.max_seq_len={T}", f"train.batch={B}", "train.warmup=0",
         "train.steps=1", "train.lr=0", "train.theta_lr=0"]
TOKENS = [3, 0, 19, 7, 7, 11, 2]     # T + 1: one place to begin, whatever is drawn
START = [math.pi / 4, math.pi / 2]   # (l + 1) pi / (2 L)


def close(mine, theirs, least=1e-6):
    """Numbers, or lists of them, alike within float32's rounding."""
    if isinstance(mine, list):
        return isinstance(theirs, list) and len(mine) == len(theirs) and all(map(close, mine, theirs, [least] * len(mine)))
    return abs(mine - theirs) <= least * (1 + abs(mine))


def read_tensors(path):
    """Header and float32 tensors of a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    tensors = {name: list(struct.unpack(f"<{(entry['data_offsets'][1] - entry['data_offsets'][0]) // 4}f",
                                        data[8 + size + entry["data_offsets"][0]:8 + size + entry["data_offsets"][1]]))
               for name, entry in header.items() if name != "__metadata__"}
    return data[:8 + size], header, tensors


def write_tensors(path, front, header, tensors):
    entries = sorted((entry["data_offsets"][0], name) for name, entry in header.items() if name != "__metadata__")
    path.write_bytes(front + b"".join(struct.pack(f"<{len(tensors[name])}f", *tensors[name]) for _, name in entries))


def turning_model(path):
    """Zeros where blocks write, angles of its own, and a learned profile that has moved."""
    front, header, tensors = read_tensors(path)
    draw = random.Random(7)
    for name in tensors:
        if name.endswith(("attn.o.weight", "ff.down.weight")):
            tensors[name] = [0.0] * len(tensors[name])
        if name.endswith("pr.theta"):
            tensors[name] = [value + draw.uniform(-0.5, 0.5) for value in tensors[name]]
        if name == "embedding.dc_profile":
            tensors[name] = [value * 0.5 for value in tensors[name]]
    write_tensors(path, front, header, tensors)
    return read_tensors(path)[2]


# ---- the equations ----

def mean(values):
    return sum(values) / len(values)


def norm(values):
    return math.sqrt(sum(v * v for v in values))


def turn(row, theta):
    out = []
    for pair in range(D // 2):
        angle = theta[pair % PAIRS] + 2 * math.pi / N * (pair // PAIRS)
        x, y = row[2 * pair], row[2 * pair + 1]
        out += [x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)]
    return out


def stream_of(tensors, mode):
    """The rows [T][D] at the embedding and after each block."""
    table, profile = tensors["embedding.token_emb.weight"], tensors.get("embedding.dc_profile")
    rows = []
    for place, token in enumerate(TOKENS[:T]):
        row = table[token * D:(token + 1) * D]
        r = profile[place] if profile else 1 / (place + 1)
        rows.append([x + r - mean(row) for x in row])
    points = [rows]
    for layer in range(L if mode != "none" else 0):
        turned = [turn(row, tensors[f"blocks.{layer}.pr.theta"]) for row in points[-1]]
        if mode == "residual":
            turned = [[x + y for x, y in zip(*pair)] for pair in zip(points[-1], turned)]
        points.append(turned)
    return points if mode != "none" else [rows] * (L + 1)


def phase(row, i):
    return row[i * P:(i + 1) * P]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / (norm(a) * norm(b))


def measures_of(points):
    phases = range(N)
    return {
        "phase_means": [[mean([mean(phase(row, i)) for row in rows]) for i in phases] for rows in points],
        "phase_rms": [[math.sqrt(mean([mean([x * x for x in phase(row, i)]) for row in rows])) for i in phases]
                      for rows in points],
        "dc_energy": [[sum(P * mean(phase(row, i)) ** 2 for row in rows) / sum(norm(row) ** 2 for row in rows)
                       for i in phases] for rows in points],
        "dc": [[mean(row) for row in rows] for rows in points],
        "phase_cosine": [[mean([cosine(phase(row, i), phase(row, j)) for row in rows]) for i in phases for j in phases]
                         for rows in points],
        "displacement": [mean([norm([y - x for x, y in zip(*pair)]) / norm(pair[0]) for pair in zip(*two)])
                         for two in zip(points, points[1:])],
    }


def weights_of(tensors):
    theta = [tensors[f"blocks.{layer}.pr.theta"] for layer in range(L)]
    moved = [[value - start for value in values] for values, start in zip(theta, START)]
    return {"theta": theta, "angles_start": START,
            "drift": [[start, mean(values), norm(far), max(map(abs, far))] for start, values, far in zip(START, theta, moved)],
            "angles": [[value + 2 * math.pi / N * i for i in range(N) for value in values] for values in theta]}


# ---- the parts ----

def make_models(tools):
    (tools.work / "seven.u16").write_bytes(struct.pack(f"<{T + 1}H", *TOKENS))
    for name, *changes in (("fresh",), ("turning", "model.dc.profile=learned"),
                           ("residual", "model.dc.profile=learned", "model.rotation.mode=residual"),
                           ("rope", "model.dc.profile=none", "model.rotation.mode=none", "model.n_phases=1")):
        tools.run("train", "3pt-5m", "seven.u16", *MODEL, *changes, "--out", f"{name}.safetensors")


def geometry_of(tools, model, *words):
    text = tools.run("inspect", f"{model}.safetensors", *words, "--format", "json")
    return json.loads(text, parse_constant=lambda word: expect(False, f"inspect writes {word}, which is no JSON"))


def fresh_model(tools):
    """The paper's structure: N mean r(p), no drift, the horn, and a stream with equal phases at the start."""
    got = geometry_of(tools, "fresh", "seven.u16")
    horn = [1 / (p + 1) for p in range(T)]
    expect(close([N * mean(horn)] * 2, got["zero_sum"]), f"the residual is not N mean r(p): {got['zero_sum']}")
    expect(close(horn, got["dc_profile"]) and close(horn, got["dc"][0]), "the profile is not the horn")
    expect(close([[start, start, 0, 0] for start in START], got["drift"]), f"a fresh model has drifted: {got['drift']}")
    expect(got["dc_profile_start"] is None, "a fixed profile has a start")
    expect(got["config"]["model.d_model"] == D and got["config"]["model.rotation.mode"] == "replace"
           and got["config"]["train.ignore_index"] == -1 and got["config"]["model.attention.phase_aligned"] is True,
           f"the description is {got['config']}")
    expect(got["batch"] == B and got["seq"] == T and got["tokens"] == "seven.u16", "batch and seq are not the description's")
    expect(len(got["phase_means"]) == L + 1 and len(got["phase_means"][0]) == N, "the means are not of L + 1 points")


def turning_models(tools):
    for name in ("turning", "residual"):
        tensors = turning_model(tools.work / f"{name}.safetensors")
        profile = tensors["embedding.dc_profile"]
        wanted = {**weights_of(tensors), **measures_of(stream_of(tensors, name)), "dc_profile": profile,
                  "dc_profile_start": [1 / (p + 1) for p in range(T)], "zero_sum": [N * mean(profile)] * 2}
        got = geometry_of(tools, name, "seven.u16")
        for measure, values in wanted.items():
            expect(close(values, got[measure], 2e-6), f"{name}: {measure} is {got[measure]}, by the equations {values}")
        equal = close(got["phase_rms"][0], got["phase_rms"][L])
        expect(equal == (name == "turning"), f"{name}: the phases' norms {'are not' if not equal else 'are'} kept")
    short = geometry_of(tools, "turning", "seven.u16", "--seq", "3", "--batch", "2")
    expect(len(short["dc"][0]) == 3 and short["batch"] == 2, "--seq and --batch are not obeyed")
    expect(geometry_of(tools, "turning")["phase_means"] is None, "phases were measured without tokens")


def rope_only(tools):
    got = geometry_of(tools, "rope", "seven.u16")
    for measure in ("dc_profile", "theta", "drift", "angles", "angles_start", "displacement"):
        expect(got[measure] is None, f"a model without angles and profile has {measure}: {got[measure]}")
    expect(got["zero_sum"][1] is None and got["zero_sum"][0] is not None, f"its residual is {got['zero_sum']}")
    shown = " ".join(tools.run("inspect", "rope.safetensors", "seven.u16").split())
    for sentence in ("There is no DC profile", "There are no angles", "There is one phase"):
        expect(sentence in shown, f"inspect does not say: {sentence}")


def flat(got):
    """The JSON of inspect as the lines of its CSV: measure, point, layer, phase, index, value."""
    by = {"drift": ("start", "mean", "l2", "max"), "zero_sum": ("measured", "analytic")}
    for name in ("dc_profile", "dc_profile_start"):
        yield from ((name, "", "", "", str(p), value) for p, value in enumerate(got[name] or ()))
    yield from ((f"zero_sum_{part}", "", "", "", "", value) for part, value in zip(by["zero_sum"], got["zero_sum"] or ()))
    for name in ("angles_start", "displacement"):
        yield from ((name, "", str(layer), "", "", value) for layer, value in enumerate(got[name] or ()))
    for layer, row in enumerate(got["drift"] or ()):
        yield from ((f"drift_{part}", "", str(layer), "", "", value) for part, value in zip(by["drift"], row))
    for layer, row in enumerate(got["theta"] or ()):
        yield from (("theta", "", str(layer), "", str(k), value) for k, value in enumerate(row))
    for layer, row in enumerate(got["angles"] or ()):
        yield from (("angles", "", str(layer), str(k // PAIRS), str(k % PAIRS), value) for k, value in enumerate(row))
    for name in ("phase_means", "phase_rms", "dc_energy", "dc", "phase_cosine"):
        phases = len((got["phase_means"] or [[]])[0])
        for point, row in enumerate(got[name] or ()):
            place = ("block", str(point - 1)) if point else ("embedding", "")
            for k, value in enumerate(row):
                column = ("", str(k)) if name == "dc" else (str(k // phases), str(k % phases)) \
                    if name == "phase_cosine" else (str(k), "")
                yield (name, *place, *column, value)


def long_table(tools):
    """The CSV has what the JSON has, number by number."""
    for words in (("fresh",), ("turning", "seven.u16"), ("rope", "seven.u16")):
        text = tools.run("inspect", f"{words[0]}.safetensors", *words[1:], "--format=csv")
        rows = list(csv.reader(io.StringIO(text)))
        expect(rows[0] == ["measure", "point", "layer", "phase", "index", "value"], f"the CSV begins with {rows[0]}")
        got = sorted((*row[:5], float(row[5]) if row[5] else None) for row in rows[1:])
        expect(got == sorted(flat(geometry_of(tools, *words))), f"{words}: CSV and JSON do not say the same")


def odd_models(tools):
    """Names that are no JSON text, and weights that are no numbers."""
    for name in (b'q"\\\n\xff.safetensors', "phäse.safetensors".encode()):
        path = os.fsencode(tools.work) + b"/" + name
        with open(path, "wb") as file:
            file.write((tools.work / "fresh.safetensors").read_bytes())
        got = subprocess.run([tools.folder / "inspect", name, "--format=json"], cwd=tools.work, capture_output=True)
        expect(json.loads(got.stdout.decode())["model"] == name.decode("utf-8", "replace").replace("\ufffd", "?"),
               f"the model {name} is called {got.stdout[:60]}")
    front, header, tensors = read_tensors(tools.work / "turning.safetensors")
    tensors["blocks.0.pr.theta"][1] = tensors["embedding.token_emb.weight"][3 * D] = math.nan
    write_tensors(tools.work / "wild.safetensors", front, header, tensors)
    got = geometry_of(tools, "wild", "seven.u16")
    expect([value is None for value in got["theta"][0]] == [False, True, False, False], f"angles are {got['theta'][0]}")
    expect(got["phase_means"][0][0] is None and got["dc"][0][0] is None and close(0.25, got["dc"][0][1]),
           f"means at the embedding are {got['phase_means'][0]}")
    rows = csv.DictReader(io.StringIO(tools.run("inspect", "wild.safetensors", "--format=csv")))
    expect([row["index"] for row in rows if row["measure"] == "theta" and not row["value"]] == ["1"],
           "a number that is none is in the CSV")
    expect("?" in tools.run("inspect", "wild.safetensors", "seven.u16"), "a number that is none is drawn")


def shown_at(tools, columns, *words, locale="C.UTF-8", **more):
    env = {**{key: value for key, value in os.environ.items() if key not in ("LC_CTYPE", "LANG", "TERM")},
           "LC_ALL": locale, "COLUMNS": str(columns), **more}
    got = subprocess.run([tools.folder / "inspect", "turning.safetensors", "seven.u16", *words], cwd=tools.work, env=env,
                         capture_output=True)
    expect(got.returncode == 0 and not got.stderr, f"inspect on {columns} columns: {got.stderr}")
    return got.stdout.decode()


def on_terminals(tools):
    for columns in (24, 40, 80, 200):
        shown = shown_at(tools, columns)
        longest = max(map(len, shown.splitlines()))
        expect(longest < columns, f"{columns} columns: a line of {longest}")
        expect("█" in shown and "▁" in shown, f"{columns} columns: nothing is drawn")
        for word in ("theta", "phase 2", "block 1", "1 and 2", "p 5"):
            expect(word in shown, f"{columns} columns: no {word}")
    for words, more in ((("--ascii",), {}), ((), {"locale": "C"}), ((), {"TERM": "dumb"})):
        shown = shown_at(tools, 80, *words, **more)
        expect(shown.isascii() and "#" in shown and "@" in shown, f"inspect {words} {more} does not draw with letters")
        drawn = shown_at(tools, 80)
        numbers = [[word for word in text.split() if word.replace(".", "").isdigit()] for text in (shown, drawn)]
        expect(numbers[0] == numbers[1], "with letters it says other numbers")


PARTS = (make_models, fresh_model, turning_models, rope_only, long_table, odd_models, on_terminals)
