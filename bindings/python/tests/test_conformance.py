"""The scenarios of bindings/conformance give the same results, bit for bit, through this package."""
import os

import numpy as np
import pytest
from support import Run, f32, f64, f64s, file_of, hashed, trained, vector

import lib3pt

pytestmark = pytest.mark.skipif("LIB3PT_VECTORS" not in os.environ, reason="LIB3PT_VECTORS names no folder")


def same(results, expected):
    for key in expected:
        assert results[key] == expected[key], key
    assert set(results) == set(expected)


def go_on(decoder, count):
    made = []
    for _ in range(count):
        made.append(decoder.sample())
        decoder.feed(made[-1], logits=False)
    return made


def test_train():
    inputs, expected = vector("train")
    run = Run(inputs["training"])
    losses, norms = zip(*run.steps(inputs["training"]["steps"]))
    tensors = run.model.tensors()
    same({
        "tokens": len(run.data), "losses": f64s(losses), "norms": f64s(norms), "random_state": str(run.state),
        "step_count": str(run.optimizer.step_count), "lr": f64(run.optimizer.lr),
        "parameter_count": run.config.parameter_count, "parameters": hashed(run.model.parameters()),
        "gradients": hashed(run.trainer.gradients()), "file": file_of(run.model.save_memory()),
        "tensors": [{"name": t.name, "shape": list(t.shape), "offset": t.offset, "count": t.count} for t in tensors],
        "first_tensor": hashed(run.model.get_tensor(tensors[0].name)),
    }, expected)
    assert run.model.parameters().size == run.config.parameter_count
    assert run.model.tensor_count == len(tensors)


def test_decode(tmp_path):
    inputs, expected = vector("decode")
    run = trained(inputs["training"])
    file = tmp_path / "model.safetensors"
    run.model.save(file)
    model = lib3pt.Model.load(file, context=run.context)
    encode, prompt = run.tokenizer.encode, run.tokenizer.encode(inputs["prompt"])
    results = {"file": file_of(file.read_bytes()), "parameters": hashed(model.parameters()),
               "from_memory": hashed(lib3pt.Model.load_memory(file.read_bytes(), context=run.context).parameters())}

    decoder = lib3pt.Decoder(model)
    results["logits"] = f32(decoder.feed(prompt))
    results["greedy"] = go_on(decoder, inputs["greedy"])
    results["greedy_text"] = run.tokenizer.decode_bytes(results["greedy"]).hex()
    results["position"] = decoder.position

    how, count = inputs["sampling"], inputs["sampled"]
    decoder, copy = lib3pt.Decoder(model), lib3pt.Decoder(model)
    decoder.set_sampling(float(how["temperature"]), how["top_k"], float(how["top_p"]), int(how["seed"]))
    decoder.feed(prompt)
    decoder.copy_to(copy)
    results["sampled"], results["copied"] = go_on(decoder, count), go_on(copy, count)
    decoder.rewind(0)
    decoder.feed(prompt)
    results["resampled"] = go_on(decoder, count)
    decoder = lib3pt.Decoder(model)
    decoder.set_sampling(float(how["temperature"]), how["top_k"], float(how["top_p"]), int(how["seed"]))
    decoder.feed(prompt)
    results["generated"] = decoder.generate(count, stop=results["sampled"][7])

    results["score"] = f64s(lib3pt.Decoder(model).score(encode(inputs["score"])))
    many = [lib3pt.Decoder(model) for _ in inputs["many"]["prompts"]]
    for decoder, text in zip(many, inputs["many"]["prompts"]):
        decoder.feed(encode(text), logits=False)
    results["many"] = [hashed(row) for row in lib3pt.Decoder.feed_many(many, inputs["many"]["tokens"])]
    results["snapshots"] = [snapshot(model, name, prompt, inputs["greedy"]) for name in inputs["snapshots"]]
    same(results, expected)


def snapshot(model, name, prompt, count):
    decoder = lib3pt.Decoder(model.fold() if name == "fold" else model.convert(name))
    logits = hashed(decoder.feed(prompt, copy=False))
    return {"name": name, "logits": logits, "greedy": go_on(decoder, count)}


def test_forward():
    inputs, expected = vector("forward")
    context = lib3pt.Context(threads=inputs["threads"])
    model = lib3pt.Model(lib3pt.Config.parse(inputs["yaml"]), int(inputs["seed"]), context=context)
    trainer = lib3pt.Trainer(model)
    shape = inputs["batch"], inputs["seq"]
    tokens = np.reshape(inputs["tokens"], shape)
    trainer.forward(tokens)
    logits = trainer.logits()
    assert logits.shape == (*shape, model.config["model.vocab_size"])
    results = {"logits": hashed(logits), "first_logits": f32(logits[0, 0]), "activations": []}
    for place in inputs["points"]:
        values = trainer.activation(place["point"], place["layer"])
        results["activations"].append({**place, "count": values.size, "values": hashed(values)})
    results["loss"] = f64(trainer.loss(np.reshape(inputs["targets"], shape)))
    trainer.backward()
    gradient = trainer.get_gradient(inputs["tensor"])
    results["gradients"] = hashed(trainer.gradients())
    results["gradient"] = {"count": gradient.size, "values": hashed(gradient)}

    trainer.zero_gradients()
    trainer.forward(tokens)
    d = inputs["dlogits"]
    dlogits = ((np.arange(logits.size) * d["multiplier"]) % d["modulus"] - d["offset"]) / d["divisor"]
    trainer.backward_logits(dlogits.reshape(logits.shape))
    results["dlogits"], results["gradients_of_logits"] = hashed(dlogits), hashed(trainer.gradients())
    same(results, expected)


def test_checkpoint(tmp_path):
    inputs, expected = vector("checkpoint")
    training, at = inputs["training"], inputs["at"]
    unbroken = Run(training)
    results = {"losses": f64s([loss for loss, _ in unbroken.steps(training["steps"])]),
               "parameters": hashed(unbroken.model.parameters())}
    first = Run(training)
    first.steps(at)
    file = tmp_path / "run.safetensors"
    first.trainer.save_checkpoint(first.optimizer, file, str(first.state).encode())
    fresh = Run(training, inputs["fresh_seed"])
    user = fresh.trainer.load_checkpoint(fresh.optimizer, file)
    fresh.state = int(user)
    results.update(file=file_of(file.read_bytes()), user=user.decode(), step_count=str(fresh.optimizer.step_count),
                   lr=f64(fresh.optimizer.lr))
    results["resumed_losses"] = f64s([loss for loss, _ in fresh.steps(training["steps"] - at)])
    results["resumed_parameters"] = hashed(fresh.model.parameters())
    same(results, expected)


def test_geometry():
    inputs, expected = vector("geometry")
    run = trained(inputs["training"])
    run.accumulate()
    model, trainer = run.model, run.trainer
    layers, phases = range(run.config["model.n_layers"]), range(run.config["model.n_phases"])
    drifts = [model.drift(layer) for layer in layers]
    sums = trainer.zero_sum()
    same({
        "dc_profile": f32(model.dc_profile(**inputs["profile"])),
        "theta": [f32(model.theta(layer)) for layer in layers],
        "angles": [[f32(model.angles(layer, phase)) for phase in phases] for layer in layers],
        "drift": [{key: f64(value) for key, value in drift._asdict().items()} for drift in drifts],
        "displacement": [f64(trainer.displacement(layer)) for layer in layers],
        "zero_sum": {key: f64(value) for key, value in sums._asdict().items()},
        "points": [measures(trainer, **place) for place in inputs["points"]],
    }, expected)
    assert model.dc_profile(2).size == run.config["model.max_seq_len"] - 2


def measures(trainer, point, layer):
    names = "phase_means", "phase_rms", "phase_cosine", "dc_energy"
    return {"point": point, "layer": layer, **{name: f64s(getattr(trainer, name)(point, layer)) for name in names},
            "dc": f32(trainer.dc(point, layer))}


def test_tokenizer(tmp_path):
    inputs, expected = vector("tokenizer")
    special = lib3pt.Tokenizer.parse(inputs["special"]["json"])
    text = inputs["special"]["text"]
    same({"tokenizers": [tokenizer_of(how, inputs, tmp_path) for how in inputs["tokenizers"]],
          "special": {"vocab_size": special.vocab_size, "ids": special.encode(text).tolist(),
                      "text_ids": special.encode_text(text).tolist(),
                      "decoded": special.decode(special.encode(text))}}, expected)


def tokenizer_of(how, inputs, folder):
    make = {"bytes": lib3pt.Tokenizer.bytes, "words": lambda: lib3pt.Tokenizer.words(inputs["text"], how["vocab"]),
            "bpe": lambda: lib3pt.Tokenizer.bpe(inputs["text"], how["vocab"])}
    made, file = make[how["kind"]](), folder / "tokenizer.json"
    made.save(file)
    parsed, loaded = lib3pt.Tokenizer.parse(made.format()), lib3pt.Tokenizer.load(file)
    tokens = [made.token(id) for id in how["ids"]]
    assert [made.id(token) for token in tokens] == how["ids"]
    return {"kind": how["kind"], "vocab_size": made.vocab_size, "format": file_of(made.format().encode()),
            "tokens": tokens, "samples": [sample_of(made, text) for text in inputs["samples"]],
            "parsed": [parsed.encode(text).tolist() for text in inputs["samples"]],
            "saved": file_of(file.read_bytes()), "loaded": [loaded.encode(text).tolist() for text in inputs["samples"]]}


def sample_of(tokenizer, text):
    ids = tokenizer.encode(text).tolist()
    return {"ids": ids, "text_ids": tokenizer.encode_text(text).tolist(), "decoded": tokenizer.decode(ids),
            "pieces": [tokenizer.decode_tail_bytes(ids[:k], k - 1).hex() for k in range(1, len(ids) + 1)]}


def test_config(tmp_path):
    inputs, expected = vector("config")
    config = lib3pt.Config.parse(inputs["yaml"])
    for change in inputs["set"]:
        config.set(**change)
    file = tmp_path / "model.yaml"
    file.write_text(config.format(), encoding="utf-8")
    broken = config.copy()
    broken[inputs["break"]["key"]] = inputs["break"]["value"]
    with pytest.raises(lib3pt.ConfigError) as failed:
        broken.check()
    config.check()
    same({
        "presets": [preset_of(name) for name in lib3pt.Config.preset_names()], "format": config.format(),
        "get": [config.get(key) for key in inputs["get"]], "parsed": lib3pt.Config.parse(config.format()).format(),
        "loaded": lib3pt.Config.load(file).format(), "check": 0,
        "broken": {"status": failed.value.status, "message": str(failed.value)}, "unbroken": 0}, expected)


def preset_of(name):
    config = lib3pt.Config.preset(name)
    return {"name": name, "parameter_count": config.parameter_count, "inference": config.memory(),
            "training": config.memory(lib3pt.MemoryUse.TRAINING)}


def test_evaluate(tmp_path):
    inputs, expected = vector("evaluate")
    run = trained(inputs["training"])
    ids, seq, file = run.tokenizer.encode(inputs["text"]), inputs["seq"], tmp_path / "text.u16"
    file.write_bytes(ids.astype("<u2").tobytes())
    held = lib3pt.Dataset.from_tokens(ids, context=run.context)
    stored = lib3pt.Dataset.open(file, context=run.context)
    window = held.window(inputs["window"], seq)
    same({"count": len(held), "window_count": held.window_count(seq),
          "window": {key: values.tolist() for key, values in window._asdict().items()},
          "evaluations": evaluations(run.model, held, inputs), "from_file": evaluations(run.model, stored, inputs)},
         expected)


def evaluations(model, data, inputs):
    made = [model.evaluate(data, inputs["seq"], most) for most in inputs["max_windows"]]
    return [{"loss": f64(e.loss), "perplexity": f64(e.perplexity), "tokens": str(e.tokens)} for e in made]
