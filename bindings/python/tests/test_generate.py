"""Decoder.generate: many tokens in one call."""
import dataclasses
import pickle
import signal

import pytest
from support import tiny

import lib3pt

PROMPT, COUNT = [5, 9, 2], 12


def prompted(model, temperature=2.0):
    decoder = lib3pt.Decoder(model)
    decoder.set_sampling(temperature, seed=5)
    decoder.feed(PROMPT)
    return decoder


def one_by_one(decoder, count=COUNT):
    made = []
    for _ in range(count):
        made.append(decoder.sample())
        decoder.feed(made[-1], logits=False)
    return made


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_it_is_sample_and_feed(temperature):
    model = tiny()
    want = one_by_one(prompted(model, temperature), COUNT + 1)
    decoder = prompted(model, temperature)
    made = decoder.generate(4) + decoder.generate(COUNT - 4)
    assert made == want[:COUNT] and all(type(token) is int for token in made)
    assert decoder.position == len(PROMPT) + COUNT and decoder.sample() == want[COUNT]


def test_it_ends_after_stop():
    model = tiny()
    want = one_by_one(prompted(model))
    for stop in set(want):
        decoder = prompted(model)
        made = decoder.generate(COUNT, stop=stop)
        assert made == want[:want.index(stop) + 1] and decoder.position == len(PROMPT) + len(made)


def test_what_is_refused():
    decoder = prompted(tiny())
    for arguments, said in (((0,), "count is 0"), ((30,), "count is 30"), ((1 << 60,), "count is"), ((-1,), "count is -1"),
                            ((1, 256), "stop is 256"), ((1, -2), "stop is -2"), ((1, 1 << 40), "stop is")):
        with pytest.raises(lib3pt.ArgumentError, match=said) as raised:
            decoder.generate(arguments[0], stop=arguments[1] if len(arguments) > 1 else None)
        assert raised.value.made == []
    for arguments in (("3",), (2.0,), (None,), (1, "5"), (1, 0.5)):
        with pytest.raises(TypeError) as mistaken:
            decoder.generate(arguments[0], stop=arguments[1] if len(arguments) > 1 else None)
        assert getattr(mistaken.value, "made") == []
    decoder.rewind(0)
    with pytest.raises(lib3pt.StateError, match="no logits") as raised:
        decoder.generate(1)
    assert raised.value.made == []
    decoder.close()
    with pytest.raises(lib3pt.StateError, match="closed") as raised:
        decoder.generate(1)
    assert raised.value.made == []


def test_each_error_has_a_list_of_its_own():
    first, second = (lib3pt.ArgumentError("no", lib3pt.Status.ARGUMENT) for _ in range(2))
    first.made.append(1)
    assert second.made == [] and pickle.loads(pickle.dumps(first)).made == [1]


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    why: str


class Closed(BaseException):
    """Has no room for an attribute, and says so in its own way."""

    __slots__ = ()

    def __setattr__(self, name, value):
        raise TypeError("nothing can be set")


@pytest.mark.parametrize("own", [Frozen("enough"), Closed("enough"), ValueError("enough")])
def test_an_exception_of_the_callers_comes_out_as_it_is(own):
    asked = []

    def progress(_share):
        if asked:
            raise own

    model = lib3pt.Model(lib3pt.Config.parse("model: {max_seq_len: 1024}"), 1, context=lib3pt.Context(progress=progress))
    decoder = prompted(model)
    asked.append(True)
    try:
        decoder.generate(1000)
    except BaseException as raised:
        caught, cause = raised, raised.__cause__
    assert caught is own and cause is None
    made = getattr(own, "made", None)
    assert made is None if type(own) in (Frozen, Closed) else len(made) == decoder.position - len(PROMPT)


def test_a_cancelled_call_goes_on_after_it():
    context = lib3pt.Context()
    model = tiny(context)
    want, decoder, made = one_by_one(prompted(model)), prompted(model), []
    while len(made) < COUNT:
        context.cancel()
        with pytest.raises(lib3pt.CancelledError) as raised:
            decoder.generate(COUNT - len(made))
        assert raised.value.made == []
        context.cancel(False)
        made += decoder.generate(1)
    assert made == want


def test_what_a_signal_interrupts_is_kept():
    """A handler that raises, at a time that the machine chooses: before, within or after the call."""
    context = lib3pt.Context()
    config = lib3pt.Config.parse("model: {vocab_size: 3000, d_model: 192, n_layers: 6, max_seq_len: 1024}")
    model = lib3pt.Model(config, 1, context=context)
    first = lib3pt.Decoder(model)
    first.feed(PROMPT)
    want = first.generate(600)
    decoder, made = lib3pt.Decoder(model), []
    decoder.feed(PROMPT)

    class Enough(Exception):
        pass

    def ring(_number, _frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            made = decoder.generate(600)
        except Enough as raised:
            made = list(getattr(raised, "made", []))  # before the call there is none
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    held = decoder.position - len(PROMPT)
    assert held in (len(made), 600)  # 600: it rang between the end of the call and the return
    if held == len(made):
        rest = decoder.generate(600 - held) if held < 600 else []
        assert made + rest == want
