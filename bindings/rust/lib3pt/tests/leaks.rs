//! Objects made and dropped again and again take no more memory. Alone in its process.
mod support;

use std::fs;
use std::ops::ControlFlow;

use lib3pt::{Context, Dataset, Decoder, Optimizer, Tokenizer, Trainer};
use support::{model, TOKENS};

/// KiB, where the system says it.
fn resident() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn cycle() -> lib3pt::Result<()> {
    let context = Context::builder()
        .threads(1)
        .log(|_, _| {})
        .progress(|_| ControlFlow::Continue(()))
        .build()?;
    let model = model(&context);
    let mut trainer = Trainer::create(&model, None)?;
    let mut optimizer = Optimizer::create(&mut trainer, None)?;
    let data = Dataset::from_tokens(&context, &TOKENS)?;
    let (tokens, targets) = data.random(&mut 1, 1, 4)?;
    trainer.accumulate(&tokens, &targets, 1, 4)?;
    optimizer.step(&mut trainer)?;
    let mut decoder = Decoder::create(&model, 0)?;
    decoder.feed(&TOKENS)?;
    decoder.feed(&[256]).unwrap_err();
    decoder
        .stream(&Tokenizer::bytes(&context)?, "ab")?
        .take(2)
        .try_for_each(|piece| piece.map(drop))
}

#[test]
fn leaks_none_in_thousands_of_cycles() {
    const CYCLES: usize = 4000; // the C library's heap takes or gives 1000 KiB now and then
    (0..1000).for_each(|_| cycle().unwrap());
    let Some(before) = resident() else {
        eprintln!("skipped: there is no /proc/self/status");
        return;
    };
    (0..CYCLES).for_each(|_| cycle().unwrap());
    let grown = resident().expect("as before").saturating_sub(before);
    assert!(grown < CYCLES / 2, "{grown} KiB more after {CYCLES} cycles");
}
