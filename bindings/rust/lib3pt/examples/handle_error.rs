//! A wrong description, a file that is not there, a token that the model has not: what each says.
use lib3pt::{Config, Decoder, Model, Result};

fn show<T>(result: Result<T>) {
    if let Err(error) = result {
        println!("{}: {}", error.status(), error.message());
    }
}

fn main() -> Result<()> {
    show(Config::parse("model: {d_model: 25}\n"));
    show(Model::load(None, "no-such-folder/model.safetensors", None));
    let config = Config::parse(
        "model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,\n\
         \x20 n_kv_heads: 3, d_ff: 48, max_seq_len: 8}\n",
    )?;
    let model = Model::create(None, &config, 1)?;
    show(Decoder::create(&model, 0)?.feed(&[256]));
    Ok(())
}
