//! AdamW: moments, schedule, step count.
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::config::{self, Config};
use crate::error::{Error, Result};
use crate::handle::{self, common, Owned};
use crate::trainer::Trainer;

/// AdamW of one trainer, which it keeps alive. As it counts as one handle with its trainer, a step
/// takes both.
#[doc(alias = "tpt_optimizer_destroy")]
pub struct Optimizer {
    raw: Owned<sys::tpt_optimizer>,
}

common!(Optimizer, tpt_optimizer, raw);

impl Optimizer {
    /// Its moments are 0, its step count 0. `config` may be `None`: the trainer's; else its
    /// training part holds, and its model part must equal the model's.
    #[doc(alias = "tpt_optimizer_create")]
    pub fn create(trainer: &mut Trainer, config: Option<&Config>) -> Result<Optimizer> {
        let _inside = trainer.working()?;
        // SAFETY: live handles, exclusive.
        let mut raw = handle::make(&trainer.raw.shared, |at| unsafe {
            sys::tpt_optimizer_create(trainer.as_ptr(), config::of(config), at)
        })?;
        raw.family = Some(trainer.family.clone());
        Ok(Optimizer { raw })
    }

    /// One step with the trainer's gradients, which stay; gives their norm before clipping. It
    /// ends the forward of every trainer of the model.
    #[doc(alias = "tpt_optimizer_step")]
    pub fn step(&mut self, trainer: &mut Trainer) -> Result<f64> {
        trainer.check_own(self)?;
        let _inside = trainer.writing()?;
        let mut norm = 0.0;
        // SAFETY: a live handle, exclusive with its trainer; nobody reads the weights meanwhile.
        handle::call(|| unsafe { sys::tpt_optimizer_step(self.as_ptr(), &mut norm) })?;
        Ok(norm)
    }

    fn family(&self) -> &crate::gate::Gate {
        self.raw.family.as_deref().expect("set by create")
    }

    /// Instead of the schedule, until set to NaN: 0 to 1e6.
    #[doc(alias = "tpt_optimizer_set_lr")]
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        let _inside = (self.raw.shared.gate.read()?, self.family().write()?);
        // SAFETY: a live handle, exclusive by `&mut` and the gate.
        handle::call(|| unsafe { sys::tpt_optimizer_set_lr(self.as_ptr(), lr) })
    }

    /// The rate of the next step.
    #[doc(alias = "tpt_optimizer_lr")]
    pub fn lr(&self) -> Result<f64> {
        let _inside = (self.raw.shared.gate.read()?, self.family().read()?);
        let mut lr = 0.0;
        // SAFETY: a live handle; const; here and below.
        handle::call(|| unsafe { sys::tpt_optimizer_lr(self.as_ptr(), &mut lr) })?;
        Ok(lr)
    }

    /// Steps done, those before a checkpoint among them.
    #[doc(alias = "tpt_optimizer_step_count")]
    pub fn step_count(&self) -> Result<u64> {
        let _inside = (self.raw.shared.gate.read()?, self.family().read()?);
        let mut steps = 0;
        handle::call(|| unsafe { sys::tpt_optimizer_step_count(self.as_ptr(), &mut steps) })?;
        Ok(steps)
    }
}

impl Trainer {
    /// Two families would be two handles in use where one was asked for.
    pub(crate) fn check_own(&self, optimizer: &Optimizer) -> Result<()> {
        if optimizer.raw.family.as_ref().is_some_and(|family| Arc::ptr_eq(family, &self.family)) {
            return Ok(());
        }
        Err(Error::argument("the optimizer is of another trainer"))
    }
}
