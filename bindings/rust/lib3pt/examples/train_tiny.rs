//! Trains a tiny model on a sentence that repeats, and prints its loss.
use lib3pt::{Config, Dataset, Model, Optimizer, Result, Tokenizer, Trainer};

fn main() -> Result<()> {
    let config = Config::parse(
        "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n\
         \x20 n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n\
         train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}\n",
    )?;
    let ids = Tokenizer::bytes(None)?.encode("Three phases turn and sum to zero. ".repeat(4))?;
    let data = Dataset::from_tokens(None, &ids)?;
    let model = Model::create(None, &config, 1)?;
    let mut trainer = Trainer::create(&model, None)?;
    let mut optimizer = Optimizer::create(&mut trainer, None)?;
    let mut random_state = 1;
    println!("{} parameters, {} tokens", config.parameter_count()?, ids.len());
    for step in 1..=60 {
        let (tokens, targets) = data.random(&mut random_state, 4, 32)?;
        trainer.zero_gradients()?;
        let loss = trainer.accumulate(&tokens, &targets, 4, 32)?;
        optimizer.step(&mut trainer)?;
        if step == 1 || step % 20 == 0 {
            println!("step {step}: loss {loss:.2}");
        }
    }
    Ok(())
}
