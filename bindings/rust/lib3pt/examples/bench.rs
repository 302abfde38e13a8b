//! What a token costs, as bindings/conformance/overhead.c: `bench SECONDS`.
use std::time::{Duration, Instant};

use lib3pt::{Config, Context, Decoder, Model, Result};

const TOKENS: usize = 127;

fn round(decoder: &mut Decoder) -> Result<f64> {
    let start = Instant::now();
    let mut token = 0;
    for _ in 0..TOKENS {
        decoder.feed(&[token])?;
        token = decoder.sample()?;
    }
    decoder.rewind(0)?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Result<()> {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let model = Model::create(&Context::new()?, &Config::preset("3pt-5m")?, 1)?;
    let mut decoder = Decoder::create(&model, 0)?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut rounds = vec![round(&mut decoder)?];
    while Instant::now() < end {
        rounds.push(round(&mut decoder)?);
    }
    rounds.sort_by(f64::total_cmp);
    println!("{{\"tokens_per_s\": {:.1}}}", TOKENS as f64 / rounds[rounds.len() / 2]);
    Ok(())
}
