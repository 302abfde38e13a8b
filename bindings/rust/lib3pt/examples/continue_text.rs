//! Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time.
use lib3pt::{Config, Dataset, Decoder, Model, Optimizer, Result, Tokenizer, Trainer};

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
    learn(&model, &tokenizer.encode("Three phases turn and sum to zero. ".repeat(4))?)?;
    let prompt = "Three";
    let mut decoder = Decoder::create(&model, 0)?;
    decoder.feed(&tokenizer.encode(prompt)?)?;
    let mut added = Vec::new();
    decoder.generate(29, None, &mut added)?;
    println!("{prompt}|{}", tokenizer.decode(&added)?);
    Ok(())
}
