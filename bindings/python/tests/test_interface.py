"""Nothing of interface/3pt.json is missing: in the raw layer, and in what users call."""
import enum
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import lib3pt
from lib3pt import _call, _declarations, _library

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE.parent))
interface = pytest.importorskip("interface")
FACTS = interface.read()

# Where each function is reached: a name of lib3pt, or a method. Functions that destroy: close.
FRIENDLY = {
    "version": "version", "check_version": "check_version", "build_info": "build_info", "status_name": "status_name",
    "error_message": "error_message", "error_of": "Model.last_error", "context_create": "Context.__init__",
    "context_set_threads": "Context.threads", "context_threads": "Context.threads",
    "context_set_allocator": "Context.set_allocator", "context_set_log": "Context.set_log",
    "context_set_progress": "Context.set_progress", "context_cancel": "Context.cancel",
    "config_create": "Config.__init__", "config_preset": "Config.preset", "config_preset_name": "Config.preset_names",
    "config_load": "Config.load", "config_parse": "Config.parse", "config_copy": "Config.copy",
    "config_set": "Config.set", "config_get": "Config.get", "config_format": "Config.format",
    "config_check": "Config.check", "config_parameter_count": "Config.parameter_count",
    "config_memory": "Config.memory",
    "model_create": "Model.__init__", "model_load": "Model.load", "model_load_memory": "Model.load_memory",
    "model_save": "Model.save", "model_save_memory": "Model.save_memory", "model_config": "Model.config",
    "model_fold": "Model.fold", "model_convert": "Model.convert", "model_tensor_count": "Model.tensor_count",
    "model_tensor_info": "Model.tensor_info", "model_get_tensor": "Model.get_tensor",
    "model_set_tensor": "Model.set_tensor", "model_parameters": "Model.parameters", "evaluate": "Model.evaluate",
    "trainer_create": "Trainer.__init__", "trainer_forward": "Trainer.forward", "trainer_logits": "Trainer.logits",
    "trainer_loss": "Trainer.loss", "trainer_backward": "Trainer.backward",
    "trainer_backward_logits": "Trainer.backward_logits", "trainer_accumulate": "Trainer.accumulate",
    "trainer_zero_gradients": "Trainer.zero_gradients", "trainer_gradients": "Trainer.gradients",
    "trainer_get_gradient": "Trainer.get_gradient", "trainer_activation": "Trainer.activation",
    "checkpoint_save": "Trainer.save_checkpoint", "checkpoint_load": "Trainer.load_checkpoint",
    "optimizer_create": "Optimizer.__init__", "optimizer_step": "Optimizer.step", "optimizer_set_lr": "Optimizer.lr",
    "optimizer_lr": "Optimizer.lr", "optimizer_step_count": "Optimizer.step_count",
    "decoder_create": "Decoder.__init__", "decoder_copy": "Decoder.copy_to", "decoder_feed": "Decoder.feed",
    "decoder_feed_many": "Decoder.feed_many", "decoder_score": "Decoder.score", "decoder_rewind": "Decoder.rewind",
    "decoder_position": "Decoder.position", "decoder_set_sampling": "Decoder.set_sampling",
    "decoder_sample": "Decoder.sample", "decoder_generate": "Decoder.generate",
    "dataset_open": "Dataset.open", "dataset_from_tokens": "Dataset.from_tokens",
    "dataset_count": "Dataset.__len__", "dataset_random": "Dataset.random",
    "dataset_window_count": "Dataset.window_count", "dataset_window": "Dataset.window",
    "tokenizer_bytes": "Tokenizer.bytes", "tokenizer_words": "Tokenizer.words", "tokenizer_bpe": "Tokenizer.bpe",
    "tokenizer_load": "Tokenizer.load", "tokenizer_parse": "Tokenizer.parse", "tokenizer_save": "Tokenizer.save",
    "tokenizer_format": "Tokenizer.format", "tokenizer_vocab_size": "Tokenizer.vocab_size",
    "tokenizer_encode": "Tokenizer.encode", "tokenizer_encode_text": "Tokenizer.encode_text",
    "tokenizer_decode": "Tokenizer.decode_bytes", "tokenizer_decode_tail": "Tokenizer.decode_tail_bytes",
    "tokenizer_id": "Tokenizer.id", "tokenizer_token": "Tokenizer.token", "geometry_dc_profile": "Model.dc_profile",
    "geometry_theta": "Model.theta", "geometry_angles": "Model.angles", "geometry_drift": "Model.drift",
    "geometry_phase_means": "Trainer.phase_means", "geometry_phase_rms": "Trainer.phase_rms",
    "geometry_phase_cosine": "Trainer.phase_cosine", "geometry_dc_energy": "Trainer.dc_energy",
    "geometry_dc": "Trainer.dc", "geometry_zero_sum": "Trainer.zero_sum",
    "geometry_displacement": "Trainer.displacement",
}
HELPERS = {"config_parse": "_config", "tokenizer_encode": "_data", "tokenizer_encode_text": "_data"}


def source_of(name):
    """Of a function, method, property or its setter."""
    thing = lib3pt
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part)
    if isinstance(thing, property):
        return "".join(inspect.getsource(f) for f in (thing.fget, thing.fset) if f)
    return inspect.getsource(getattr(thing, "__func__", thing))


def test_declarations_are_as_generated():
    run = subprocess.run([sys.executable, HERE / "generate.py"], capture_output=True, text=True)
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


def test_functions_are_declared_and_bound():
    assert [f.name for f in _declarations.FUNCTIONS] == FACTS.names()
    lib3pt.version()
    assert set(_library.functions) == set(FACTS.names())
    for function in FACTS.functions:
        assert len(_library.functions[function["name"]].raw.argtypes) == len(function["arguments"])


def test_enums_and_structs_are_declared():
    for fact in FACTS.enums:
        declared = getattr(lib3pt, interface.pascal(fact["name"]))
        assert issubclass(declared, enum.IntEnum)
        assert [m.value for m in declared] == [value for _, value, _ in interface.values(fact)]
        assert all(name.endswith("_" + m.name) for m, (name, _, _) in zip(declared, interface.values(fact)))
    for fact in FACTS.structs:
        fields = [name for name, *_ in getattr(_declarations, fact["name"])._fields_]
        assert fields == [field["name"] for field in fact["fields"]]


@pytest.mark.parametrize("function", FACTS.functions, ids=lambda f: f["name"])
def test_reachable(function):
    if function["destroys"]:
        made = [f for f in _declarations.FUNCTIONS if f.destroy == function["name"]]
        assert made and issubclass(getattr(lib3pt, interface.pascal(function["destroys"])), _call.Handle)
        return
    short = interface.short(function["name"])
    source = source_of(FRIENDLY[short])
    if short.startswith("geometry_") and "_measured" in source:
        assert f'"{short[9:]}"' in source
    elif short in HELPERS and "tpt_" not in source:
        assert f'"tpt_{short}"' in inspect.getsource(getattr(lib3pt, HELPERS[short]))
    else:
        assert re.search(rf'"tpt_{short}"', source)


def test_all_names_are_there_and_typed():
    assert all(hasattr(lib3pt, name) for name in lib3pt.__all__)
    assert (pathlib.Path(lib3pt.__file__).parent / "py.typed").exists()
    assert ".".join(map(str, _declarations.VERSION)) == lib3pt.__version__ == FACTS.version


def test_statuses_have_exceptions():
    from lib3pt._errors import KINDS, error
    assert set(KINDS) == set(lib3pt.Status) - {lib3pt.Status.OK}
    unknown = error(77, "a later version's")
    assert type(unknown) is lib3pt.Error and unknown.status == 77


def test_users_functions_have_docstrings():
    for name in lib3pt.__all__:
        thing = getattr(lib3pt, name)
        if inspect.isclass(thing) and issubclass(thing, (_call.Handle, lib3pt.Error)) or inspect.isfunction(thing):
            assert thing.__doc__, name
