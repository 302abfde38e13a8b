//! What a case of the errors works on: fresh objects.
use std::alloc::{self, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

use lib3pt::{Allocator, Config, Context, Dataset, Decoder, Model, Optimizer, Tokenizer, Trainer};

use super::values::{self, Json};

const WEIGHTS: &str = "blocks.1.attn.q.weight";
const TOKENS: [i32; 3] = [1, 2, 3];
const TARGETS: [i32; 3] = [2, 3, 4];

pub struct Stage {
    pub context: Context,
    pub config: Config,
    pub tokenizer: Tokenizer,
    pub data: Dataset,
    pub model: Model,
    pub trainer: Trainer,
    pub optimizer: Optimizer,
    pub decoder: Decoder,
    pub seed: u64,
}

impl Stage {
    pub fn new(inputs: &Json) -> lib3pt::Result<Stage> {
        let context = Context::builder().threads(values::int(inputs, "threads")).build()?;
        let config = Config::parse(values::text(inputs, "yaml"))?;
        let seed = values::parsed(inputs, "seed");
        let tokenizer = Tokenizer::bytes(&context)?;
        let ids = tokenizer.encode(values::text(inputs, "text"))?;
        let data = Dataset::from_tokens(&context, &ids)?;
        let model = Model::create(&context, &config, seed)?;
        let mut trainer = Trainer::create(&model, None)?;
        let optimizer = Optimizer::create(&mut trainer, None)?;
        let decoder = Decoder::create(&model, 0)?;
        Ok(Stage { context, config, tokenizer, data, model, trainer, optimizer, decoder, seed })
    }

    fn set_weights(&mut self, value: f32) -> lib3pt::Result<()> {
        let count = self.model.get_tensor(WEIGHTS)?.len();
        self.model.set_tensor(WEIGHTS, &vec![value; count])
    }

    fn spoil(&mut self) -> lib3pt::Result<()> {
        self.context.cancel(true)?;
        let cancelled = self.trainer.accumulate(&TOKENS, &TARGETS, 1, 3).unwrap_err();
        assert_eq!(cancelled.status(), lib3pt::Status::CANCELLED);
        self.context.cancel(false)
    }

    pub fn before(&mut self, step: &str) -> lib3pt::Result<()> {
        match step {
            "cancel" => self.context.cancel(true),
            "forward" => self.trainer.forward(&TOKENS, 1, 3),
            "loss" => self.trainer.loss(&TARGETS).map(drop),
            "backward" => self.trainer.backward(),
            "feed" => self.decoder.feed(&TOKENS[..1]).map(drop),
            "rewind" => self.decoder.rewind(1),
            "convert" => self.model.convert("int8").map(|made| self.model = made),
            "fold" => self.model.fold().map(|made| self.model = made),
            "nan" => self.set_weights(f32::NAN),
            "weights" => self.set_weights(0.0),
            "spoil" => self.spoil(),
            step => panic!("{step} is no step"),
        }
    }
}

/// Never gives more than so many bytes in all at a time.
pub struct Budget {
    most: usize,
    held: AtomicUsize,
}

impl Budget {
    pub fn new(most: usize) -> Budget {
        Budget { most, held: AtomicUsize::new(0) }
    }
}

// SAFETY: blocks are the global allocator's.
unsafe impl Allocator for Budget {
    fn allocate(&self, layout: Layout) -> *mut u8 {
        let more = |held: usize| held.checked_add(layout.size()).filter(|all| *all <= self.most);
        match self.held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more) {
            Ok(_) => unsafe { alloc::alloc(layout) },
            Err(_) => std::ptr::null_mut(),
        }
    }

    unsafe fn release(&self, memory: *mut u8, layout: Layout) {
        self.held.fetch_sub(layout.size(), Ordering::SeqCst);
        unsafe { alloc::dealloc(memory, layout) }
    }
}
