//! What a token costs, as bindings/conformance/overhead.c: `bench SECONDS`.
use std::time::{Duration, Instant};

use lib3pt::{Config, Context, Decoder, Model, Result};

const TOKENS: usize = 127;

/// A token a call.
fn step_by_step(decoder: &mut Decoder) -> Result<f64> {
    let start = Instant::now();
    let mut token = 0;
    for _ in 0..TOKENS {
        decoder.feed(&[token])?;
        token = decoder.sample()?;
    }
    decoder.rewind(0)?;
    Ok(start.elapsed().as_secs_f64())
}

/// As many are fed, in one call but for the first.
fn in_one_call(decoder: &mut Decoder) -> Result<f64> {
    let start = Instant::now();
    decoder.feed(&[0])?;
    decoder.generate(TOKENS - 1, None, &mut Vec::new())?;
    decoder.rewind(0)?;
    Ok(start.elapsed().as_secs_f64())
}

/// Tokens a second, of the median round.
fn speed(
    round: fn(&mut Decoder) -> Result<f64>,
    decoder: &mut Decoder,
    seconds: f64,
) -> Result<f64> {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut rounds = vec![round(decoder)?];
    while Instant::now() < end {
        rounds.push(round(decoder)?);
    }
    rounds.sort_by(f64::total_cmp);
    Ok(TOKENS as f64 / rounds[rounds.len() / 2])
}

fn main() -> Result<()> {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let model = Model::create(&Context::new()?, &Config::preset("3pt-5m")?, 1)?;
    let mut decoder = Decoder::create(&model, 0)?;
    let tokens = speed(step_by_step, &mut decoder, seconds / 2.0)?;
    let generated = speed(in_one_call, &mut decoder, seconds / 2.0)?;
    println!("{{\"tokens_per_s\": {tokens:.1}, \"generated_per_s\": {generated:.1}}}");
    Ok(())
}
