//! What a model's phases look like: profile, angles, and the sum of the phase means.
use lib3pt::{Config, Model, Result, Trainer};

fn main() -> Result<()> {
    let config = Config::parse(
        "model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,\n\
         \x20 n_kv_heads: 3, d_ff: 48, max_seq_len: 32}\n\
         train: {batch: 1}\n",
    )?;
    let model = Model::create(None, &config, 1)?;
    let profile = model.dc_profile(0, 4)?;
    println!("profile {:.3} {:.3} {:.3} {:.3}", profile[0], profile[1], profile[2], profile[3]);
    for layer in 0..2 {
        for phase in 0..3 {
            let degrees = f64::from(model.angles(layer, phase)?[0]).to_degrees();
            println!("layer {layer}, phase {phase}: {degrees:.1} degrees");
        }
    }
    let mut trainer = Trainer::create(&model, None)?;
    trainer.forward(&(0..32).collect::<Vec<i32>>(), 1, 32)?;
    let sum = trainer.zero_sum()?;
    println!("sum of the phase means {:.4}, by the profile {:.4}", sum.measured, sum.analytic);
    Ok(())
}
