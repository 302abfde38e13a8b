"""What the example programs make of their options: numbers, ranges, those that would do nothing, and what they say of
files by their contents. Parts of check_programs.py; no check of its own.
"""
import json
import re
import shutil
import subprocess
from pathlib import Path

from check_examples import TINY
from inspected import read_tensors, write_tensors
from parts import expect

GENERATE = ["generate", "--tokenizer", "t.json", "m.safetensors", "The horn"]
HELD = ["evaluate", "m.safetensors", "--tokens", "t.u16"]
SIZES = ["inspect", "m.safetensors", "t.u16"]
LARGEST = 2**64 - 1


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refuses(tools, words, *wanted, status=1, text=None):
    """The message has all that is wanted, and every file is as it was."""
    before = contents(tools.work)
    shown = tools.run(*words, status=status, text=text)
    for part in wanted:
        expect(part in shown, f"{' '.join(words)}: no '{part}' in\n{shown}")
    after = contents(tools.work)
    changed = sorted(path.name for path in before.keys() | after.keys() if before.get(path, 0) != after.get(path, 0))
    expect(not changed, f"{' '.join(words)}: refused, and these changed: {changed}")


def numbers(tools):
    """A number may have an exponent; what is none is told both ends of what is allowed."""
    for one, other in (("0.1", "1e-1"), ("0.5", "5E-1"), ("1", "+10e-1"), ("0", "1e-400")):
        shown = [tools.run(*GENERATE, "--tokens=20", "--temperature", text) for text in (one, other)]
        expect(shown[0] == shown[1], f"--temperature {other} is not {one}")
    tools.run("train", "3pt-5m", "t.u16", *TINY, "--seconds", "1e-1", "--out", "quick")
    for text in ("-1", "1e9999", "0x1", "inf", "nan", "1,5", "5e", "", " 1"):
        refuses(tools, [*GENERATE, "--temperature", text],
                f"--temperature must be a number from 0 to 1.79e308, as 0.5 or 5e-1, not '{text}'", status=2)
    for text in ("1e9999", "-1", "0"):
        refuses(tools, ["train", "3pt-5m", "t.u16", f"--seconds={text}"],
                f"--seconds must be a number above 0, to 1.79e308, as 0.5 or 5e-1, not '{text}'", status=2)
    for text in ("0x2", "-1", "257"):
        refuses(tools, [*GENERATE, "--threads", text],
                f"--threads must be a whole number from 0 to 256, not '{text}'", status=2)
    tools.run(*GENERATE, "--tokens=1", f"--seed={LARGEST}")
    for text in (str(LARGEST + 1), "0x10", "-1", "+1", "1e3", "1.5", "", " 1"):
        refuses(tools, [*GENERATE, "--seed", text], f"--seed must be a whole number from 0 to {LARGEST}, not '{text}'",
                status=2)


def long_tokens(tools):
    """A token's text may be any length, and all of it is printed."""
    size = int(re.search(r"vocab_size: (\d+)", tools.run("describe", "m.safetensors"))[1])
    vocab = {"The": 0, **{f"{'x' * 5000}{i}": i for i in range(1, size)}}
    (tools.work / "long.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None, "decoder": None, "model": {"type": "WordLevel", "vocab": vocab, "unk_token": "none"}}))
    words = tools.run("generate", "--tokenizer=long.json", "--tokens=5", "m.safetensors", "The").split()
    expect(len(words) == 6 and all(re.fullmatch(r"The|x{5000}\d+", word) for word in words),
           f"words of {[len(word) for word in words]} bytes")
    (tools.work / "long.json").unlink()


def ranges(tools):
    """What is out of range is a wrong call that names the option, not a key or an argument of the library."""
    tools.run(*GENERATE, "--tokens=1", "--top-p=1", "--top-k=2147483647")
    tools.run(*HELD, "--seq=16")
    tools.run(*SIZES, "--seq=16", "--batch=1")
    many = ["--vocab", "2147483648", "text"]
    for words, wanted in (
            ([*GENERATE, "--top-k", "99999999999"], "--top-k must be a whole number from 0 to 2147483647, not '99999999999'"),
            ([*GENERATE, "--tokens", str(LARGEST)], f"--tokens must be a whole number from 0 to 2147483647, not '{LARGEST}'"),
            ([*GENERATE, "--top-p", "2"], "--top-p must be a number from 0 to 1, as 0.5 or 5e-1, not '2'"),
            ([*GENERATE, "--threads", "257"], "--threads must be a whole number from 0 to 256, not '257'"),
            ([*GENERATE, "--weights", "f16"], "--weights must be f32, bf16 or int8, not 'f16'"),
            ([*HELD, "--weights=int4"], "--weights must be f32, bf16 or int8, not 'int4'"),
            ([*HELD, "--seq", "17"], "--seq must be a whole number from 0 to 16 (model.max_seq_len), not 17"),
            ([*SIZES, "--seq=500"], "--seq must be a whole number from 0 to 16 (model.max_seq_len), not 500"),
            ([*SIZES, "--batch=99999999999"], "--batch: train.batch is "),
            (["tokenize", "--vocab", "255", "text"], "--vocab must be a whole number from 256 to 2147483647 for bpe, not 255"),
            (["tokenize", "--kind=words", *many], "--vocab must be a whole number from 1 to 2147483647, not 2147483648")):
        refuses(tools, words, wanted, status=2)


def idle_options(tools):
    """An option that would do nothing is refused."""
    made = ["tokenize", "--tokenizer", "t.json", "--out", "idle", "text"]
    for words, option, why in (
            ([*made, "--save", "X"], "--save", "with --tokenizer"), ([*made, "--vocab=300"], "--vocab", "with --tokenizer"),
            ([*made, "--kind", "bpe"], "--kind", "with --tokenizer"), ([*made, "--force"], "--force", "with --tokenizer"),
            (["tokenize", "--kind", "bytes", "--vocab=300", "text"], "--vocab", "with --kind bytes"),
            ([*HELD, "--tokenizer", "t.json"], "--tokenizer", "with --tokens"),
            (["describe", "--presets", "--sizes"], "--sizes", "with --presets"),
            (["inspect", "m.safetensors", "--format=csv", "--ascii"], "--ascii", "with csv and json"),
            (["inspect", "m.safetensors", "--seq=4"], "--seq", "without TOKENS"),
            (["inspect", "m.safetensors", "--batch", "0"], "--batch", "without TOKENS")):
        refuses(tools, words, f"{option} has no effect {why}", status=2)
    refuses(tools, ["describe", "--presets", "3pt-5m"], "no DESCRIPTION goes with it", status=2)


def empty_texts(tools):
    """A text of nothing replaces nothing, and is named."""
    (tools.work / "empty").touch()
    (tools.work / "blank").write_text(" \n")
    for words, name in ((["empty"], "empty"), (["empty", "empty"], "the 2 texts joined"), (["-"], "standard input")):
        refuses(tools, ["tokenize", "--tokenizer", "t.json", "--out", "t", *words], f"tokenize: {name}: the text is empty")
    refuses(tools, ["tokenize", "--force", "--save", "t.json", "--out", "t", "empty"], "tokenize: empty: the text is empty")
    refuses(tools, ["tokenize", "--kind=words", "--save=w.json", "--out", "t", "blank"], "makes no token of it")
    for name, shown in (("empty", "empty"), ("-", "standard input")):
        refuses(tools, ["evaluate", "m.safetensors", "--tokenizer", "t.json", "--text", name],
                f"evaluate: {shown}: the dataset has 0 tokens; a window of seq 16 needs 17")


def larger_tokenizer(tools):
    """A tokenizer with more tokens than the model is another model's; one with fewer may be its own."""
    tools.run("tokenize", "--vocab", "290", "--save", "more.json", "--out", "more", "text")
    tools.run("tokenize", "--vocab", "260", "--save", "fewer.json", "--out", "fewer", "text")
    for words in (["generate", "m.safetensors", "x"], ["evaluate", "m.safetensors", "--text", "text"]):
        refuses(tools, [*words, "--tokenizer", "more.json"],
                f"{words[0]}: more.json: has 290 tokens, and the model's vocab_size is 270")
    tools.run("evaluate", "m.safetensors", "--text", "text", "--tokenizer", "fewer.json")


def by_contents(tools):
    """Names decide nothing: a file is what is in it."""
    (tools.work / "empty.safetensors").touch()
    (tools.work / "wild.safetensors").write_bytes(bytes(range(128, 256)) * 8)
    (tools.work / "short.safetensors").write_bytes((tools.work / "m.safetensors").read_bytes()[:1000])
    for name, copy in (("text", "text.safetensors"), ("t.json", "t.bin"), ("m.safetensors", "m.json"), ("my.yaml", "my.u16")):
        shutil.copy(tools.work / name, tools.work / copy)
    usual = tools.run("evaluate", "m.safetensors", "--text", "text", "--tokenizer", "t.json")
    expect(tools.run("evaluate", "m.json", "--text", "text.safetensors", "--tokenizer", "t.bin") == usual,
           "model, text and tokenizer under other names give other figures")
    expect(tools.run("describe", "my.u16") == tools.run("describe", "m.json"), "a description under another name is read")
    text = ["evaluate", "m.safetensors", "--tokenizer", "t.json", "--text"]
    for words, *wanted in (
            ([*GENERATE[:1], "empty.safetensors", "x"], "empty.safetensors: ", "looks like an empty file"),
            ([*GENERATE[:1], "wild.safetensors", "x"], "wild.safetensors: ", "a safetensors file is wanted"),
            (["generate", "m.safetensors", "x", "--tokenizer", "empty.safetensors"], "empty.safetensors: ",
             "a tokenizer.json is wanted, this looks like an empty file"),
            (["generate", "m.safetensors", "x", "--tokenizer", "wild.safetensors"], "wild.safetensors: byte 0 is not UTF-8"),
            ([*text, "empty.safetensors"], "empty.safetensors: the dataset has 0 tokens"),
            ([*text, "wild.safetensors"], "wild.safetensors: text is not UTF-8 at byte 0"),
            (["tokenize", "--tokenizer", "t.json", "text", "wild.safetensors"], "wild.safetensors: text is not UTF-8 at byte 0"),
            (["describe", "empty.safetensors"], "empty.safetensors: is empty; a description"),
            (["describe", "wild.safetensors"], "wild.safetensors: byte 0 is not UTF-8"),
            (["describe", "short.safetensors"], "short.safetensors: ")):
        refuses(tools, words, *wanted)


def without_description(path, bare):
    """A model file as other programs write it: tensors alone."""
    front, header, tensors = read_tensors(path)
    del header["__metadata__"]
    text = json.dumps(header).encode()
    write_tensors(bare, len(text).to_bytes(8, "little") + text, header, tensors)


def described(tools):
    """A file without a description is read by --config, which must fit, as a description that is there must."""
    without_description(tools.work / "m.safetensors", tools.work / "bare")
    (tools.work / "other.yaml").write_text(tools.run("describe", "my.yaml", "model.d_ff=64"))
    uses = (["describe", "MODEL"], ["evaluate", "--tokens", "t.u16", "MODEL"], ["inspect", "--format=csv", "MODEL"],
            ["generate", "--tokenizer", "t.json", "--tokens", "20", "MODEL", "The horn"])
    for tool, *words in uses:
        rest, whole = ([name if word == "MODEL" else word for word in words] for name in ("bare", "m.safetensors"))
        refuses(tools, [tool, *rest], f"{tool}: bare: the file holds no description", "; give one with --config\n")
        own = tools.run(tool, *whole)
        for config in ("my.yaml", "m.safetensors"):
            expect(tools.run(tool, "--config", config, *rest) == own, f"{tool} --config {config}: another model")
        refuses(tools, [tool, "--config", "3pt-5m", *rest], f"{tool}: bare: ")
        refuses(tools, [tool, "--config", "absent", *rest], "absent: there is no such file, nor is it one of the presets")
        refuses(tools, [tool, "--config", "other.yaml", *whole], "m.safetensors: model.d_ff is 64")
    refuses(tools, ["describe", "--config", "my.yaml", "my.yaml"], "a safetensors file is wanted")


def uneven_model(path, uneven):
    """In each group of 64 weights one is so large that the others are lost as whole numbers of 8 bits."""
    front, header, tensors = read_tensors(path)
    for name, entry in header.items():
        if name != "__metadata__" and len(entry["shape"]) == 2:
            width = entry["shape"][1]
            tensors[name] = [value * (100 if i % width == 0 else 1) for i, value in enumerate(tensors[name])]
    write_tensors(uneven, front, header, tensors)


def weights(tools):
    """Weights of fewer bits give other figures: near ones where the weights are even."""
    uneven_model(tools.work / "m.safetensors", tools.work / "uneven")
    shown = {}
    for name in ("m.safetensors", "uneven"):
        for form in ("f32", "bf16", "int8"):
            shown[name, form] = tools.run("evaluate", name, "--tokens", "t.u16", "--weights", form)
        expect(shown[name, "f32"] == tools.run("evaluate", name, "--tokens", "t.u16"), "f32 is not the default of evaluate")
    loss = {key: float(re.search(r"loss +([\d.]+)", text)[1]) for key, text in shown.items()}
    for form in ("bf16", "int8"):
        expect(abs(loss["m.safetensors", form] - loss["m.safetensors", "f32"]) < 0.02, f"{form}: the loss is {loss}")
    expect(abs(loss["uneven", "int8"] - loss["uneven", "f32"]) > 0.005, f"--weights int8 changes nothing: {loss}")
    drawn = ["generate", "--temperature=1", "--tokenizer=t.json", "--tokens=40", "uneven", "The horn"]
    texts = {form: tools.run(*drawn, "--weights", form) for form in ("f32", "bf16", "int8")}
    expect(texts["f32"] == tools.run(*drawn), "f32 is not the default of generate")
    expect(texts["int8"] != texts["f32"], f"generate --weights int8 changes nothing: {texts}")


def closed(tools, redirections, *words):
    return subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", tools.folder / words[0], *words[1:]],
                          cwd=tools.work, capture_output=True, text=True)


def closed_files(tools):
    """Without standard output there is nobody to tell; without the others no file is written over."""
    for words in (["describe", "3pt-5m"], HELD, GENERATE, ["inspect", "m.safetensors"], ["embed_in_host"],
                  ["tokenize", "--tokenizer=t.json", "--out=closed", "text"], ["generate", "--help"]):
        got = closed(tools, ">&-", *words)
        expect(got.returncode == 1 and f"{words[0]}: the output could not be written: standard output is closed\n"
               in got.stderr, f"{words} without standard output: {got.returncode} {got.stderr}")
    got = closed(tools, "<&-", *GENERATE[:-1])
    expect(got.returncode == 1 and "standard input: cannot be read" in got.stderr, f"no standard input: {got.stderr}")
    got = closed(tools, "<&- 2>&-", "train", "3pt-5m", "t.u16", *TINY, "train.steps=8", "--out=closed", "--log=closed.csv")
    lines = (tools.work / "closed.csv").read_text().splitlines()
    expect(got.returncode == 0 and len(lines) == 9 and len({line.count(",") for line in lines}) == 1,
           f"a log without standard error: {got.returncode} {lines}")


def whole_phrase(tools):
    shown = tools.run("embed_in_host", "--steps", "200")
    expect(shown.endswith("\nThree phases turn and sum to zero.\n"), f"embed_in_host --steps 200 ends {shown[-60:]!r}")


def pages_of_programs(tools):
    """A page is installed where its program is."""
    paths = json.loads((tools.folder.parent / "meson-info/intro-installed.json").read_text()).values()
    programs = {Path(path).name for path in paths if Path(path).parent.name == "bin"}
    pages = {Path(path).stem for path in paths if Path(path).parent.name == "man1"}
    manual = any(Path(path).parent.name == "man7" for path in paths)
    expect(pages == (programs if manual else set()), f"programs {sorted(programs)}, their pages {sorted(pages)}")


PARTS = (numbers, long_tokens, ranges, idle_options, empty_texts, larger_tokenizer, by_contents, described, weights,
         closed_files, whole_phrase, pages_of_programs)
