//! Training, as several scenarios need it.
use lib3pt::{Config, Context, Dataset, Model, Optimizer, Tokenizer, Trainer};

use super::values::{self, Json};

pub struct Run {
    pub context: Context,
    pub config: Config,
    pub tokenizer: Tokenizer,
    pub data: Dataset,
    pub model: Model,
    pub trainer: Trainer,
    pub optimizer: Optimizer,
    pub random_state: u64,
    pub steps: usize,
    batch: usize,
    seq: usize,
}

impl Run {
    pub fn start(training: &Json, seed: u64) -> lib3pt::Result<Run> {
        let context = Context::builder().threads(values::int(training, "threads")).build()?;
        let tokenizer = Tokenizer::bytes(&context)?;
        let ids = tokenizer.encode(values::text(training, "text"))?;
        let config = Config::parse(values::text(training, "yaml"))?;
        let model = Model::create(&context, &config, seed)?;
        let mut trainer = Trainer::create(&model, None)?;
        let optimizer = Optimizer::create(&mut trainer, None)?;
        Ok(Run {
            data: Dataset::from_tokens(&context, &ids)?,
            context,
            config,
            tokenizer,
            model,
            trainer,
            optimizer,
            random_state: values::parsed(training, "random_state"),
            steps: values::size(training, "steps"),
            batch: values::size(training, "batch"),
            seq: values::size(training, "seq"),
        })
    }

    /// With all its steps done.
    pub fn whole(training: &Json) -> lib3pt::Result<Run> {
        let mut run = Run::start(training, values::parsed(training, "seed"))?;
        run.train(run.steps)?;
        Ok(run)
    }

    pub fn accumulate(&mut self) -> lib3pt::Result<f64> {
        let Run { batch, seq, .. } = *self;
        let (tokens, targets) = self.data.random(&mut self.random_state, batch, seq)?;
        self.trainer.zero_gradients()?;
        self.trainer.accumulate(&tokens, &targets, batch, seq)
    }

    /// Losses and norms.
    pub fn train(&mut self, steps: usize) -> lib3pt::Result<(Vec<f64>, Vec<f64>)> {
        let pairs =
            (0..steps).map(|_| Ok((self.accumulate()?, self.optimizer.step(&mut self.trainer)?)));
        let pairs = pairs.collect::<lib3pt::Result<Vec<_>>>()?;
        Ok(pairs.into_iter().unzip())
    }

    pub fn parameters(&self) -> lib3pt::Result<Json> {
        Ok(values::floats(&self.model.parameters()?))
    }
}
