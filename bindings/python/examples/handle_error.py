"""A wrong description, a file that is not there, a token that the model has not: what each says."""
import lib3pt

RIGHT = "model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 48, max_seq_len: 8}\n"


def show(error: lib3pt.Error) -> None:
    print(f"{error.status_name}: {error}")


try:
    lib3pt.Config.parse("model: {d_model: 25}\n")
except lib3pt.ConfigError as error:
    show(error)
try:
    lib3pt.Model.load("no-such-folder/model.safetensors")
except lib3pt.FileError as error:  # an OSError too
    show(error)
model = lib3pt.Model(lib3pt.Config.parse(RIGHT), seed=1)
try:
    lib3pt.Decoder(model).feed(256)
except lib3pt.ArgumentError as error:
    show(error)
