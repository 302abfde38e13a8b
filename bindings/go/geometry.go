package threept

// #include "shim.h"
import "C"

// DCProfile is the profile of DC injection from r(first) on, count of them; first + count is at most max_seq_len.
func (m *Model) DCProfile(first, count int) ([]float32, error) {
	if err := sizes(number{"first", first}, number{"count", count}); err != nil {
		return nil, err
	}
	values := make([]float32, min(count, m.shape.positions)) // more is the library's to refuse
	err := m.do(nil, shared, func() C.tpt_status {
		return C.tpt_geometry_dc_profile(m.c(), C.size_t(first), floats(values), C.size_t(count))
	})
	return values, err
}

// Theta is the angles that a layer has learned, shared by its phases: P / 2, radians.
func (m *Model) Theta(layer int) ([]float32, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return nil, err
	}
	values := make([]float32, m.shape.pairs())
	err := m.do(nil, shared, func() C.tpt_status {
		return C.tpt_geometry_theta(m.c(), C.size_t(layer), floats(values), C.size_t(len(values)))
	})
	return values, err
}

// Angles is by what the pairs of a phase turn: theta + 2 pi phase / N, radians.
func (m *Model) Angles(layer, phase int) ([]float32, error) {
	if err := sizes(number{"layer", layer}, number{"phase", phase}); err != nil {
		return nil, err
	}
	values := make([]float32, m.shape.pairs())
	err := m.do(nil, shared, func() C.tpt_status {
		return C.tpt_geometry_angles(m.c(), C.size_t(layer), C.size_t(phase), floats(values), C.size_t(len(values)))
	})
	return values, err
}

// Drift is how far a layer's angles are from their start, in radians.
type Drift struct {
	Start float64 // what the description starts the layer at
	Mean  float64 // mean of them now
	L2    float64 // norm of (now - start)
	Max   float64 // largest |now - start|
}

// Drift is that of a layer.
func (m *Model) Drift(layer int) (Drift, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return Drift{}, err
	}
	raw := C.tpt_drift{size: C.sizeof_tpt_drift}
	err := m.do(nil, shared, func() C.tpt_status { return C.tpt_geometry_drift(m.c(), C.size_t(layer), &raw) })
	return Drift{float64(raw.start), float64(raw.mean), float64(raw.l2), float64(raw.max)}, err
}

// measure makes a slice of count numbers and hands it to f. What is measured is the stream of the trainer's last
// Forward or Accumulate.
func (t *Trainer) measure(layer, count int, f func(values *C.double, count C.size_t) C.tpt_status) ([]float64, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return nil, err
	}
	values := make([]float64, count)
	err := t.do(nil, shared, func() C.tpt_status { return f(doubles(values), C.size_t(count)) })
	return values, err
}

// PhaseMeans are the means of each phase over batch, positions and the phase's channels.
func (t *Trainer) PhaseMeans(point Point, layer int) ([]float64, error) {
	return t.measure(layer, t.shape.phases, func(values *C.double, count C.size_t) C.tpt_status {
		return C.tpt_geometry_phase_means(t.c(), C.tpt_point(point), C.size_t(layer), values, count)
	})
}

// PhaseRMS is the root of the mean square over the same.
func (t *Trainer) PhaseRMS(point Point, layer int) ([]float64, error) {
	return t.measure(layer, t.shape.phases, func(values *C.double, count C.size_t) C.tpt_status {
		return C.tpt_geometry_phase_rms(t.c(), C.tpt_point(point), C.size_t(layer), values, count)
	})
}

// PhaseCosine is the mean over tokens of the cosine between two phases: N x N, row by row.
func (t *Trainer) PhaseCosine(point Point, layer int) ([]float64, error) {
	phases := t.shape.phases
	return t.measure(layer, phases*phases, func(values *C.double, count C.size_t) C.tpt_status {
		return C.tpt_geometry_phase_cosine(t.c(), C.tpt_point(point), C.size_t(layer), values, count)
	})
}

// DCEnergy is the share of each phase's energy that is its mean.
func (t *Trainer) DCEnergy(point Point, layer int) ([]float64, error) {
	return t.measure(layer, t.shape.phases, func(values *C.double, count C.size_t) C.tpt_status {
		return C.tpt_geometry_dc_energy(t.c(), C.tpt_point(point), C.size_t(layer), values, count)
	})
}

// DC is the mean over batch and channels at each position; at the embedding it is r(p).
func (t *Trainer) DC(point Point, layer int) ([]float32, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return nil, err
	}
	var values []float32
	err := t.do(nil, shared, func() C.tpt_status {
		ask := func(count int) C.tpt_status {
			values = make([]float32, count)
			return C.tpt_geometry_dc(t.c(), C.tpt_point(point), C.size_t(layer), floats(values), C.size_t(count))
		}
		status := ask(t.positions) // of a call that was cancelled the library alone knows whether its stream is there
		for count := 1; status == C.TPT_E_ARGUMENT && count <= t.shape.positions; count++ {
			status = ask(count)
		}
		return status
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// ZeroSum is the sum of the phase means at the embedding, and N mean r(p) of the profile; the two agree to rounding.
func (t *Trainer) ZeroSum() (measured, analytic float64, err error) {
	var sum, mean C.double
	err = t.do(nil, shared, func() C.tpt_status { return C.tpt_geometry_zero_sum(t.c(), &sum, &mean) })
	return float64(sum), float64(mean), err
}

// Displacement is how far a layer's rotation moves the stream: the mean over tokens of |R h - h| / |h|.
func (t *Trainer) Displacement(layer int) (float64, error) {
	if err := sizes(number{"layer", layer}); err != nil {
		return 0, err
	}
	var mean C.double
	err := t.do(nil, shared, func() C.tpt_status {
		return C.tpt_geometry_displacement(t.c(), C.size_t(layer), &mean)
	})
	return float64(mean), err
}
