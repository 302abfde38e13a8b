"""What goes in and comes out: kinds of arrays, numbers out of range, texts."""
import numpy as np
import pytest
from support import YAML, tiny

import lib3pt


def test_kinds_of_token_arrays():
    trainer = lib3pt.Trainer(tiny())
    expected = None
    base = np.arange(12).reshape(2, 6)
    for tokens in (base.tolist(), base, base.astype(np.uint8), base.astype(">i4"), np.asfortranarray(base),
                   np.repeat(base, 2, axis=1)[:, ::2]):
        trainer.forward(tokens)
        logits = trainer.logits()
        expected = logits if expected is None else expected
        assert logits.shape == (2, 6, 256) and (logits == expected).all()


def test_int32_arrays_are_not_copied():
    from lib3pt import _values
    tokens = np.arange(6, dtype=np.int32)
    assert _values.address(_values.ids("tokens", tokens)) == tokens.ctypes.data
    weights = np.ones(4, np.float32)
    assert _values.address(_values.floats("weights", weights)) == weights.ctypes.data


@pytest.mark.parametrize("tokens, said", [
    ([1.5], "whole numbers are allowed"), (["a"], "whole numbers are allowed"), ([1 << 40], "is allowed"),
    (np.zeros((1, 1, 1), int), "3 dimensions"), (5, None)])
def test_wrong_tokens(tokens, said):
    trainer = lib3pt.Trainer(tiny())
    if said is None:
        trainer.forward(tokens)
        return
    with pytest.raises(lib3pt.ArgumentError, match=said):
        trainer.forward(tokens)


def test_lengths_that_must_agree():
    trainer = lib3pt.Trainer(tiny())
    trainer.forward([1, 2, 3])
    with pytest.raises(lib3pt.ArgumentError, match="targets has 2 values; the last forward, 1 x 3, needs 3"):
        trainer.loss([1, 2])
    with pytest.raises(lib3pt.ArgumentError, match="targets is 1 x 2, tokens 1 x 3"):
        trainer.accumulate([1, 2, 3], [1, 2])
    with pytest.raises(lib3pt.ArgumentError, match="decoders 1"):
        lib3pt.Decoder.feed_many([lib3pt.Decoder(trainer.model)], [1, 2])
    with pytest.raises(lib3pt.ArgumentError):
        trainer.model.set_tensor("blocks.0.attn.q.weight", [1.0])


def test_names_are_text_or_bytes():
    trainer = lib3pt.Trainer(tiny())
    model, config = trainer.model, trainer.model.config
    name = model.tensors()[0].name
    array = model.get_tensor(name)
    assert (model.get_tensor(name.encode()) == array).all()
    model.set_tensor(name.encode(), array)
    assert trainer.get_gradient(name.encode()).shape == array.shape
    assert b"model.d_model" in config and "model.d_model" in config and b"model" not in config
    config.set(b"train.lr", b"0.5")
    assert config[b"train.lr"] == 0.5
    for call in (model.get_tensor, trainer.get_gradient, lambda name: model.set_tensor(name, array)):
        with pytest.raises(lib3pt.ArgumentError, match="has no (parameter|tensor)"):
            call("nope")
        with pytest.raises(TypeError, match="name is list; text or bytes are allowed"):
            call([name])


def test_numbers_that_do_not_fit():
    decoder, config = lib3pt.Decoder(tiny()), lib3pt.Config.parse(YAML)
    for call, said in ((lambda: decoder.model.theta(-1), "layer is -1"), (lambda: decoder.rewind(-1), "position is -1"),
                       (lambda: lib3pt.Model(config, 1 << 64), "seed is 18446744073709551616"),
                       (lambda: decoder.feed(1 << 31), "token is 2147483648"),
                       (lambda: lib3pt.Dataset.from_tokens([1]).random(1, 1 << 40, 1 << 20), "a window of seq 1048576 needs"),
                       (lambda: lib3pt.Dataset.from_tokens([1]).window(0, 1 << 40), "a window of seq"),
                       (lambda: lib3pt.Dataset.from_tokens([1] * 9).random(1, 1 << 40, 4), "are allowed"),
                       (lambda: decoder.model.dc_profile(0, 1 << 50), "count is")):
        with pytest.raises(lib3pt.ArgumentError, match=said):
            call()


def test_texts_with_nul():
    config = lib3pt.Config()
    with pytest.raises(lib3pt.ArgumentError, match="key has a NUL"):
        config.set("model.d_model\0", 48)
    with pytest.raises(lib3pt.ArgumentError, match="path has a NUL"):
        lib3pt.Config.load("a\0b")
    assert lib3pt.Tokenizer.bytes().encode("a\0b").tolist() == [97, 0, 98]


def test_long_texts_come_whole():
    text = "où " * 5000
    tokenizer = lib3pt.Tokenizer.bytes()
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text and tokenizer.decode_bytes(ids[:2]) == b"o\xc3"
    assert tokenizer.decode(ids[:2]) == "o\ufffd"
    assert tokenizer.decode_tail(ids, 0) == text
    assert len(lib3pt.Config().format()) > 512


def test_config_values_and_sections():
    config = lib3pt.Config(model={"d_model": 48, "rotation": {"mode": "residual"}}, train={"lr": 1e-5})
    assert config["model.d_model"] == 48 and config["train.lr"] == 1e-5 and config["model.rotation.mode"] == "residual"
    config["model.rotation.schedule"] = [0.1] * config["model.n_layers"]
    assert config["model.rotation.schedule"] == [0.1] * config["model.n_layers"]
    with pytest.raises(lib3pt.ConfigError):
        config["model.width"] = 1


def test_state_dicts_come_back():
    model = tiny()
    kinds = {np.float16: False, np.float32: True, np.float64: True}
    for kind, exact in kinds.items():
        tensors = {name: values.astype(kind) for name, values in model.state_dict().items()}
        again = lib3pt.Model.from_pretrained_state_dict(tensors, model.config)
        assert (again.parameters() == model.parameters()).all() == exact
        assert np.allclose(again.parameters(), model.parameters(), atol=1e-2)
    assert list(model.state_dict()) == [t.name for t in model.tensors()]
    assert all(values.shape == t.shape for values, t in zip(model.state_dict().values(), model.tensors()))
    with pytest.raises(lib3pt.FormatError):
        lib3pt.Model.from_pretrained_state_dict({"a": np.ones(3)}, model.config)
    with pytest.raises(lib3pt.ArgumentError, match="complex128"):
        lib3pt.Model.from_pretrained_state_dict({"a": np.ones(3) * 1j}, model.config)


class Tensor:
    """What a tensor of torch answers."""

    def __init__(self, values, kind):
        self.values, self.dtype = values, kind

    def detach(self):
        return self

    cpu = detach

    def float(self):
        return Tensor(self.values, "torch.float32")

    def numpy(self):
        assert str(self.dtype) != "torch.bfloat16"
        return self.values


def test_state_dicts_of_torch():
    model = tiny()
    for kind in "torch.float32", "torch.bfloat16":
        tensors = {name: Tensor(values, kind) for name, values in model.state_dict().items()}
        again = lib3pt.Model.from_pretrained_state_dict(tensors, model.config)
        assert (again.parameters() == model.parameters()).all()


def test_converted_models_have_a_state_dict():
    made = tiny().convert("int8")
    assert {t.name for t in made.tensors()} == set(made.state_dict())


def test_repr_tells_sizes():
    model = tiny()
    assert repr(model) == "<lib3pt.Model: 23,936 parameters, d_model 24, 3 phases, 2 layers, vocab 256>"
    trainer = lib3pt.Trainer(model)
    trainer.forward([[1, 2], [3, 4]])
    decoder = lib3pt.Decoder(model, 8)
    decoder.feed([1, 2], logits=False)
    assert "2 x 2 tokens" in repr(trainer) and "2 of 8 positions" in repr(decoder)
    assert "0 steps" in repr(lib3pt.Optimizer(trainer)) and "256 ids" in repr(lib3pt.Tokenizer.bytes())
    assert "3 tokens" in repr(lib3pt.Dataset.from_tokens([1, 2, 3])) and "d_model 24" in repr(model.config)
    assert "2 threads" in repr(lib3pt.Context(threads=2))


def test_profile_as_a_tensor():
    model = tiny()
    values = np.linspace(1, 0, 32, dtype=np.float32)
    model.set_tensor("embedding.dc_profile", values)
    assert (model.get_tensor("embedding.dc_profile") == values).all() and (model.dc_profile() == values).all()


def test_branches():
    decoder = lib3pt.Decoder(tiny())
    decoder.feed([1, 2, 3])
    branch = decoder.copy()
    assert branch.position == 3 and (branch.feed(4) == decoder.feed(4)).all()


def test_the_rate():
    optimizer = lib3pt.Optimizer(lib3pt.Trainer(tiny()))
    scheduled = optimizer.lr
    optimizer.lr = 0.25
    assert optimizer.lr == 0.25
    optimizer.lr = None
    assert optimizer.lr == scheduled


WRONG_KINDS = {
    "model of a number": lambda m: lib3pt.Model(5, 1), "model of a text": lambda m: lib3pt.Model(YAML, 1),
    "model of a model": lambda m: lib3pt.Model(m, 1), "load": lambda m: lib3pt.Model.load("x", 7),
    "trainer of nothing": lambda m: lib3pt.Trainer(None), "trainer of a config": lambda m: lib3pt.Trainer(m.config),
    "trainer's config": lambda m: lib3pt.Trainer(m, 5), "optimizer": lambda m: lib3pt.Optimizer(m),
    "decoder": lambda m: lib3pt.Decoder(m.config), "copy_to": lambda m: lib3pt.Decoder(m).copy_to(9),
    "feed_many": lambda m: lib3pt.Decoder.feed_many([m], [1]), "evaluate": lambda m: m.evaluate(5, 4),
    "evaluate itself": lambda m: m.evaluate(m, 4), "checkpoint": lambda m: lib3pt.Trainer(m).save_checkpoint(5, "x"),
    "context": lambda m: lib3pt.Model(m.config, 1, context={}),
    "dataset's": lambda m: lib3pt.Dataset.open("x", context=m),
    "tokenizer's": lambda m: lib3pt.Tokenizer.bytes(context=5), "fold": lambda m: lib3pt.Model.fold(m.config),
    "log": lambda m: lib3pt.Context(log="x"), "progress": lambda m: lib3pt.Context(progress=5),
    "allocator": lambda m: lib3pt.Context(allocator=5)}


@pytest.mark.parametrize("name", WRONG_KINDS)
def test_objects_of_a_wrong_kind(name):
    with pytest.raises((TypeError, AttributeError) if name == "fold" else TypeError, match="wanted here|attribute"):
        WRONG_KINDS[name](tiny())


def test_a_class_of_ones_own():
    class Mine(lib3pt.Model):
        pass

    class More(Mine):
        pass

    model = More(lib3pt.Config.parse(YAML), 1)
    assert lib3pt.Decoder(model).feed([1]).shape == (256,)


WRONG_VALUES = {
    "text": lambda m: lib3pt.Tokenizer.bytes().encode(10), "yaml": lambda m: lib3pt.Config.parse(7),
    "name": lambda m: m.get_tensor(5), "key": lambda m: m.config.get(3),
    "temperature": lambda m: lib3pt.Decoder(m).set_sampling("1"),
    "top_p": lambda m: lib3pt.Decoder(m).set_sampling(1, 0, "1"),
    "lr": lambda m: setattr(lib3pt.Optimizer(lib3pt.Trainer(m)), "lr", "1"),
    "user": lambda m: lib3pt.Trainer(m).save_checkpoint(lib3pt.Optimizer(lib3pt.Trainer(m)), "x", "text"),
    "value": lambda m: m.config.set("train.batch", object()),
    "position": lambda m: lib3pt.Decoder(m).rewind(1.5), "max_positions": lambda m: lib3pt.Decoder(m, None),
    "top_k": lambda m: lib3pt.Decoder(m).set_sampling(1, "3"), "seed": lambda m: lib3pt.Model(m.config, 1.0),
    "point": lambda m: lib3pt.Trainer(m).activation("0", 0), "threads": lambda m: lib3pt.Context(threads=1.0)}


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_values_of_a_wrong_kind(name):
    with pytest.raises(TypeError, match=f"{name} (is|are|,)"):
        WRONG_VALUES[name](tiny())


def test_shapes_that_are_wrong_with_the_right_count():
    model = tiny()
    trainer, info = lib3pt.Trainer(model), next(t for t in model.tensors() if len(set(t.shape)) == 2)
    kept = model.get_tensor(info.name)
    with pytest.raises(lib3pt.ArgumentError, match="one row"):
        model.set_tensor(info.name, kept.T)
    model.set_tensor(info.name, kept.reshape(-1))
    model.set_tensor(info.name, kept)
    trainer.forward([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(lib3pt.ArgumentError, match="one row"):
        trainer.loss([[1, 2], [3, 4], [5, 6]])
    trainer.loss([1, 2, 3, 4, 5, 6])
    with pytest.raises(lib3pt.ArgumentError, match="one row"):
        trainer.backward_logits(np.zeros((3, 2, 256)))


@pytest.mark.parametrize("kind", [complex, "U3", object])
def test_weights_that_are_no_numbers(kind):
    model = tiny()
    with pytest.raises(lib3pt.ArgumentError, match="numbers are allowed"):
        model.set_tensor("blocks.0.attn.q.weight", np.ones((24, 24)).astype(kind))


def test_numbers_of_numpy_in_a_description():
    config = lib3pt.Config(model={"d_model": np.int32(48)}, train={"lr": np.float64(0.25)})
    config["train.batch"] = np.int64(4)
    assert (config["model.d_model"], config["train.lr"], config["train.batch"]) == (48, 0.25, 4)


def test_ids_in_one_row_where_rows_have_no_meaning():
    model, tokenizer = tiny(), lib3pt.Tokenizer.bytes()
    decoder, square = lib3pt.Decoder(model), [[1, 2], [3, 4]]
    for call in (decoder.feed, decoder.score, lib3pt.Dataset.from_tokens, tokenizer.decode, tokenizer.decode_bytes,
                 lambda ids: tokenizer.decode_tail(ids, 1), lambda ids: lib3pt.Decoder.feed_many([decoder] * 4, ids)):
        with pytest.raises(lib3pt.ArgumentError, match="has 2 dimensions; ids in one row are allowed"):
            call(square)
    assert decoder.feed(np.int64(7)).shape == (256,)
    made = lib3pt.Decoder.feed_many((lib3pt.Decoder(model) for _ in range(2)), [1, 2])
    assert made.shape == (2, 256)


@pytest.mark.filterwarnings("error")
def test_numbers_that_float32_does_not_hold():
    model = tiny()
    name, shape = model.tensors()[0].name, model.tensors()[0].shape
    before = model.get_tensor(name)
    for value in 1e300, -1e300:
        values = np.zeros(shape)
        values[1, 2] = value
        with pytest.raises(lib3pt.ArgumentError, match=r"^values have -?1e\+300; -3.4e38 to 3.4e38 is allowed"):
            model.set_tensor(name, values)
    assert (model.get_tensor(name) == before).all()
    model.set_tensor(name, np.full(shape, np.inf))  # what was infinite before stays so
    assert np.isinf(model.get_tensor(name)).all()
    with pytest.raises(lib3pt.ArgumentError, match="values have rows of different lengths"):
        model.set_tensor(name, [[1.0], [1.0, 2.0]])


def test_what_is_no_argument_at_all():
    config = lib3pt.Config.parse(YAML)
    for call, said in ((lambda: lib3pt.Model.load_memory(None), "data is NoneType; bytes are allowed"),
                       (lambda: lib3pt.Model.load_memory("text"), "data is str; bytes are allowed"),
                       (lambda: lib3pt.Model.from_pretrained_state_dict(None, config),
                        "state_dict is NoneType; a mapping of names to tensors is allowed"),
                       (lambda: lib3pt.Decoder.feed_many(None, [1]), "decoders is NoneType; decoders are allowed"),
                       (lambda: lib3pt.Trainer(config), "a Model is wanted here, not Config"),
                       (lambda: lib3pt.Trainer(tiny()).save_checkpoint(config, "f"), "an Optimizer is wanted here")):
        with pytest.raises(TypeError, match="^" + said):
            call()
