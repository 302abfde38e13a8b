//! Measures of 4.11 and 4.12: of a model's weights, and of a trainer's last forward.
use lib3pt_sys as sys;

use crate::error::{Result, Status};
use crate::handle;
use crate::model::Model;
use crate::trainer::{Point, Trainer};

/// How far a layer's angles are from their start, in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// What the description starts the layer at.
    pub start: f64,
    /// Mean of the angles now.
    pub mean: f64,
    /// Norm of (now - start).
    pub l2: f64,
    /// Largest |now - start|.
    pub max: f64,
}

/// The zero-sum of the phases: the two agree to rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ZeroSum {
    /// Sum of the phase means at the embedding of the last forward.
    pub measured: f64,
    /// N times the mean of the profile as it is now, NaN without one.
    pub analytic: f64,
}

/// Of the weights.
impl Model {
    /// The profile of DC injection from r(first) on: `count` numbers, a learned one as it is now.
    #[doc(alias = "tpt_geometry_dc_profile")]
    pub fn dc_profile(&self, first: usize, count: usize) -> Result<Vec<f32>> {
        let _inside = self.inner.reading()?;
        // C refuses a count that is more.
        let mut values = handle::room::<f32>(count.min(self.inner.dims.max_seq))?;
        // SAFETY: a live handle; const; so many elements; here and below.
        handle::call(|| unsafe {
            sys::tpt_geometry_dc_profile(self.as_ptr(), first, values.as_mut_ptr(), count)
        })?;
        Ok(values)
    }

    fn pairs(&self) -> Result<Vec<f32>> {
        handle::room(self.inner.dims.width / self.inner.dims.phases / 2)
    }

    /// The angles theta that a layer has learned: `[P / 2]`, radians.
    #[doc(alias = "tpt_geometry_theta")]
    pub fn theta(&self, layer: usize) -> Result<Vec<f32>> {
        let _inside = self.inner.reading()?;
        let mut values = self.pairs()?;
        handle::call(|| unsafe {
            sys::tpt_geometry_theta(self.as_ptr(), layer, values.as_mut_ptr(), values.len())
        })?;
        Ok(values)
    }

    /// theta + 2 pi phase / N: `[P / 2]`, radians, not reduced to a circle.
    #[doc(alias = "tpt_geometry_angles")]
    pub fn angles(&self, layer: usize, phase: usize) -> Result<Vec<f32>> {
        let _inside = self.inner.reading()?;
        let mut values = self.pairs()?;
        handle::call(|| unsafe {
            let (at, count) = (values.as_mut_ptr(), values.len());
            sys::tpt_geometry_angles(self.as_ptr(), layer, phase, at, count)
        })?;
        Ok(values)
    }

    /// How far a layer's angles are from their start.
    #[doc(alias = "tpt_geometry_drift")]
    pub fn drift(&self, layer: usize) -> Result<Drift> {
        let _inside = self.inner.reading()?;
        let size = std::mem::size_of::<sys::tpt_drift>();
        let mut d = sys::tpt_drift { size, start: 0.0, mean: 0.0, l2: 0.0, max: 0.0 };
        handle::call(|| unsafe { sys::tpt_geometry_drift(self.as_ptr(), layer, &mut d) })?;
        Ok(Drift { start: d.start, mean: d.mean, l2: d.l2, max: d.max })
    }
}

type Measure<T> = unsafe extern "C" fn(
    *const sys::tpt_trainer,
    sys::tpt_point,
    usize,
    *mut T,
    usize,
) -> sys::tpt_status;

/// Measured on the last forward or accumulate, until the next one.
impl Trainer {
    fn measure<T: handle::Number>(
        &self,
        run: Measure<T>,
        (point, layer): (Point, usize),
        count: usize,
    ) -> Result<Vec<T>> {
        let _inside = self.reading()?;
        let mut values = handle::room::<T>(count)?;
        // SAFETY: a live handle; const; so many elements.
        handle::call(|| unsafe {
            run(self.as_ptr(), point.code(), layer, values.as_mut_ptr(), values.len())
        })?;
        Ok(values)
    }

    /// Mean over B, T and a phase's channels: `[N]`.
    #[doc(alias = "tpt_geometry_phase_means")]
    pub fn phase_means(&self, point: Point, layer: usize) -> Result<Vec<f64>> {
        self.measure(sys::tpt_geometry_phase_means, (point, layer), self.phases())
    }

    /// Root of the mean square over the same: `[N]`.
    #[doc(alias = "tpt_geometry_phase_rms")]
    pub fn phase_rms(&self, point: Point, layer: usize) -> Result<Vec<f64>> {
        self.measure(sys::tpt_geometry_phase_rms, (point, layer), self.phases())
    }

    /// Mean over tokens of the cosine between two phases: `[N, N]`, row by row.
    #[doc(alias = "tpt_geometry_phase_cosine")]
    pub fn phase_cosine(&self, point: Point, layer: usize) -> Result<Vec<f64>> {
        let count = self.phases() * self.phases();
        self.measure(sys::tpt_geometry_phase_cosine, (point, layer), count)
    }

    /// The share of the energy that is a phase's mean: `[N]`.
    #[doc(alias = "tpt_geometry_dc_energy")]
    pub fn dc_energy(&self, point: Point, layer: usize) -> Result<Vec<f64>> {
        self.measure(sys::tpt_geometry_dc_energy, (point, layer), self.phases())
    }

    /// Mean over B and D at each position: `[T]`, T of the last forward or accumulate.
    #[doc(alias = "tpt_geometry_dc")]
    pub fn dc(&self, point: Point, layer: usize) -> Result<Vec<f32>> {
        // Of a call that was cancelled the library alone knows whether its stream is there.
        let counts = std::iter::once(self.seq()).chain(1..=self.max_seq());
        let mut result = Ok(Vec::new());
        for count in counts {
            result = self.measure(sys::tpt_geometry_dc, (point, layer), count);
            match &result {
                Err(e) if e.status() == Status::ARGUMENT => {}
                _ => break,
            }
        }
        result
    }

    /// The zero-sum of the phases.
    #[doc(alias = "tpt_geometry_zero_sum")]
    pub fn zero_sum(&self) -> Result<ZeroSum> {
        let _inside = self.reading()?;
        let (mut measured, mut analytic) = (0.0, 0.0);
        // SAFETY: a live handle; const; here and below.
        handle::call(|| unsafe {
            sys::tpt_geometry_zero_sum(self.as_ptr(), &mut measured, &mut analytic)
        })?;
        Ok(ZeroSum { measured, analytic })
    }

    /// Mean over tokens of |R h - h| / |h|: how far a layer's rotation moves the stream.
    #[doc(alias = "tpt_geometry_displacement")]
    pub fn displacement(&self, layer: usize) -> Result<f64> {
        let _inside = self.reading()?;
        let mut mean = 0.0;
        handle::call(|| unsafe {
            sys::tpt_geometry_displacement(self.as_ptr(), layer, &mut mean)
        })?;
        Ok(mean)
    }
}
