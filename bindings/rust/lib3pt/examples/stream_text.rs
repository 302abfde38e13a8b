//! The same with a seeded sampler, printed piece by piece as soon as a character is whole.
use std::io::Write;

use lib3pt::{Config, Dataset, Decoder, Model, Optimizer, Result, Sampling, Tokenizer, Trainer};

fn learn(model: &Model, ids: &[i32]) -> Result<()> {
    let data = Dataset::from_tokens(None, ids)?;
    let mut trainer = Trainer::create(model, None)?;
    let mut optimizer = Optimizer::create(&mut trainer, None)?;
    let mut random_state = 1;
    for _ in 0..60 {
        let (tokens, targets) = data.random(&mut random_state, 4, 40)?;
        trainer.zero_gradients()?;
        trainer.accumulate(&tokens, &targets, 4, 40)?;
        optimizer.step(&mut trainer)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let config = Config::parse(
        "model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,\n\
         \x20 n_kv_heads: 3, d_ff: 96, max_seq_len: 40}\n\
         train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n",
    )?;
    let tokenizer = Tokenizer::bytes(None)?;
    let model = Model::create(None, &config, 1)?;
    learn(&model, &tokenizer.encode("Three phases turn · sum to zero · ".repeat(4))?)?;
    let prompt = "Three";
    let mut decoder = Decoder::create(&model, 0)?;
    decoder.set_sampling(Sampling { temperature: 0.5, top_k: 4, top_p: 0.9, seed: 7 })?;
    print!("{prompt}|");
    for piece in decoder.stream(&tokenizer, prompt)? {
        print!("{}|", piece?);
        let _ = std::io::stdout().flush();
    }
    println!();
    Ok(())
}
