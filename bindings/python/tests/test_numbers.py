"""Each whole number that a user gives is held against the C type that takes it."""
import sys

import numpy as np
import pytest
from support import YAML, tiny
from test_interface import FACTS, interface

import lib3pt

INT32, SIZE, UINT64 = (-(1 << 31), (1 << 31) - 1), (0, sys.maxsize), (0, (1 << 64) - 1)
LIMITS = {"int32_t": INT32, "size_t": SIZE, "uint64_t": UINT64}


class Stage:
    def __init__(self):
        self.model = tiny()
        self.config = self.model.config
        self.trainer, self.decoder = lib3pt.Trainer(self.model), lib3pt.Decoder(self.model)
        self.trainer.forward([1, 2, 3])
        self.decoder.feed([1], logits=False)
        self.data, self.tokenizer = lib3pt.Dataset.from_tokens(range(64)), lib3pt.Tokenizer.bytes()


# By function and argument of C; None: the library's own, which no user gives.
GIVEN = {
    "check_version major": lambda s, n: lib3pt.check_version(n, 0, 0),
    "check_version minor": lambda s, n: lib3pt.check_version(1, n, 0),
    "check_version patch": lambda s, n: lib3pt.check_version(1, 0, n),
    "status_name status": lambda s, n: lib3pt.status_name(n),
    "context_set_threads threads": lambda s, n: lib3pt.Context(threads=n),
    "context_cancel on": None, "config_preset_name index": None,
    "config_memory use": lambda s, n: s.config.memory(n),
    "model_create seed": lambda s, n: lib3pt.Model(s.config, n),
    "model_tensor_info index": lambda s, n: s.model.tensor_info(n),
    "trainer_activation point": lambda s, n: s.trainer.activation(n),
    "trainer_activation layer": lambda s, n: s.trainer.activation(0, n),
    "decoder_create max_positions": lambda s, n: lib3pt.Decoder(s.model, n),
    "decoder_rewind position": lambda s, n: s.decoder.rewind(n),
    "decoder_set_sampling top_k": lambda s, n: s.decoder.set_sampling(1, n),
    "decoder_set_sampling seed": lambda s, n: s.decoder.set_sampling(1, 0, 1, n),
    "decoder_generate stop": lambda s, n: s.decoder.generate(1, stop=n),
    "decoder_generate count": lambda s, n: s.decoder.generate(n),
    "dataset_random batch": lambda s, n: s.data.random(1, n, 4),
    "dataset_random seq": lambda s, n: s.data.random(1, 4, n),
    "dataset_window_count seq": lambda s, n: s.data.window_count(n),
    "dataset_window index": lambda s, n: s.data.window(n, 4), "dataset_window seq": lambda s, n: s.data.window(0, n),
    "evaluate seq": lambda s, n: s.model.evaluate(s.data, n),
    "evaluate max_windows": lambda s, n: s.model.evaluate(s.data, 4, n),
    "tokenizer_words vocab": lambda s, n: lib3pt.Tokenizer.words("a b", n),
    "tokenizer_bpe vocab": lambda s, n: lib3pt.Tokenizer.bpe("a b", n),
    "tokenizer_decode_tail done": lambda s, n: s.tokenizer.decode_tail([65], n),
    "tokenizer_token id": lambda s, n: s.tokenizer.token(n),
    "geometry_dc_profile first": lambda s, n: s.model.dc_profile(n, 1),
    "geometry_dc_profile count": lambda s, n: s.model.dc_profile(0, n),
    "geometry_theta layer": lambda s, n: s.model.theta(n),
    "geometry_angles layer": lambda s, n: s.model.angles(n, 0),
    "geometry_angles phase": lambda s, n: s.model.angles(0, n),
    "geometry_drift layer": lambda s, n: s.model.drift(n),
    "geometry_displacement layer": lambda s, n: s.trainer.displacement(n)}
for measured in "phase_means", "phase_rms", "phase_cosine", "dc_energy", "dc":
    GIVEN[f"geometry_{measured} point"] = lambda s, n, name=measured: getattr(s.trainer, name)(n)
    GIVEN[f"geometry_{measured} layer"] = lambda s, n, name=measured: getattr(s.trainer, name)(0, n)

ENUMS = {e["name"] for e in FACTS.enums}
TYPES = {f"{interface.short(f['name'])} {a['name']}": "int32_t" if a["base"] in ENUMS else a["base"]
         for f in FACTS.functions for a in f["arguments"]
         if a["pointers"] == 0 and (a["base"] in LIMITS or a["base"] in ENUMS)}
OF_ARRAYS = {f"{interface.short(f['name'])} {a['name']}"  # how much of one there is
             for f in FACTS.functions for a in f["arguments"] if a.get("role")}


def test_every_number_is_here():
    assert set(TYPES) - OF_ARRAYS <= set(GIVEN) <= set(TYPES)


@pytest.mark.parametrize("name", [name for name, call in GIVEN.items() if call])
def test_numbers_beyond_the_type(name):
    stage, (least, most), own = Stage(), LIMITS[TYPES[name]], name.split()[1]
    for number in (least - 1, most + 1, most + 2 + (1 << 40), 1 << 200):
        allowed = "it cannot be negative" if number < 0 == least else f"{least} to {most} is allowed"
        with pytest.raises(lib3pt.ArgumentError, match=f"^{own} is {number}; {allowed}$"):
            GIVEN[name](stage, number)
    for value in "1", 1.0, None:
        if value is not None or name not in ("decoder_generate stop", "geometry_dc_profile count"):
            with pytest.raises(TypeError, match=f"^{own} is {type(value).__name__}; a whole number is allowed$"):
                GIVEN[name](stage, value)


@pytest.mark.parametrize("name", [name for name, call in GIVEN.items() if call])
def test_the_ends_of_the_type_come_to_the_library(name):
    """They mean something or are refused for what they mean there, not for another number."""
    stage = Stage()
    for number in LIMITS[TYPES[name]]:
        try:
            GIVEN[name](stage, number)
        except lib3pt.Error as error:
            assert "; %d to %d is allowed" % LIMITS[TYPES[name]] not in str(error)


def test_cancel_takes_whatever_is_true():
    context = lib3pt.Context()
    for on in True, 1, 1 << 32, 1 << 70:
        context.cancel(on)
        with pytest.raises(lib3pt.CancelledError):
            tiny(context)
    context.cancel(0)
    tiny(context)


@pytest.mark.parametrize("tokens, said", [
    ([1 << 64], "tokens are 18446744073709551616 to 18446744073709551616; -2147483648 to 2147483647 is allowed"),
    ([1, 1 << 63, -1], "tokens are -1 to 9223372036854775808; "), ([1, -(1 << 70)], "tokens are -11805"),
    (np.array([1, 1 << 64], object), "tokens are 1 to 18446744073709551616; "),
    ([[1 << 64, 2], [3, 4]], "tokens are 2 to "),
    ([True], "tokens are bool; whole"), ([1, None], "tokens are object; whole numbers are allowed"),
    ([1 << 64, 1.5], "tokens are object; whole numbers"), ([1 << 63, 1.5], "tokens are float64; whole numbers"),
    ([[1, 2], [3]], "tokens have rows of different lengths; rows of one length are allowed")])
def test_ids_beyond_any_type(tokens, said):
    with pytest.raises(lib3pt.ArgumentError, match=said):
        lib3pt.Decoder(tiny()).feed(tokens)


def test_ids_in_an_array_of_objects():
    tokenizer = lib3pt.Tokenizer.bytes()
    assert tokenizer.decode(np.array([72, 105], object)) == "Hi"


def test_a_real_number_beyond_a_double():
    with pytest.raises(lib3pt.ArgumentError, match="temperature is a whole number beyond what a double holds"):
        lib3pt.Decoder(tiny()).set_sampling(10 ** 400)


def test_a_description_names_its_keys():
    config = lib3pt.Config.parse(YAML)
    keys = list(config)
    assert keys[:2] == ["model.vocab_size", "model.d_model"] and "train.lr" in keys and len(set(keys)) == len(keys)
    for schedule in "linear", [0.1, 0.2]:
        config["model.rotation.schedule"] = schedule
        assert list(config) == keys
    again = lib3pt.Config()
    for key in config:
        again[key] = config[key]
    assert again.format() == config.format()
    for key, there in (("model.d_model", True), ("model", False), ("model.rope", False), ("model.width", False),
                       ("", False), ("model.d_model\0", False), (3, False), (None, False)):
        assert (key in config) is there
    assert config.last_error == ""


def test_what_is_lent_is_a_sequence():
    decoder = lib3pt.Decoder(tiny())
    lent = decoder.feed([1, 2], copy=False)
    values = lent.copy()
    assert list(lent) == values.tolist() and values[3] in lent and np.inf not in lent
    looking = iter(lent)
    next(looking)
    decoder.rewind()
    for look in (lambda: next(looking), lambda: 1 in lent):
        with pytest.raises(lib3pt.StateError, match="lent until the next call"):
            look()


def test_surrogates():
    tokenizer, config = lib3pt.Tokenizer.bytes(), lib3pt.Config()
    for text in "\ud83d", "a\udfff":
        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            tokenizer.encode(text)
    assert tokenizer.encode("\udcff").tolist() == [255]  # os.fsdecode's, for a byte that is no text
    with pytest.raises(lib3pt.ArgumentError):
        config.get("\udcff")
