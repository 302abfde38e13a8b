package threept_test

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"unsafe"

	"lib3pt/threept"
)

// said is the status and message of an error, 0 and "" of none.
func said(err error) (status threept.Status, message string) {
	var e *threept.Error
	if errors.As(err, &e) {
		return e.Status, e.Message
	}
	check(err)
	return threept.OK, ""
}

// limited gives no more than so many bytes at a time.
type limited struct {
	threept.CMemory
	budget int64
	held   atomic.Int64
}

func (m *limited) Allocate(bytes, alignment int) unsafe.Pointer {
	if m.held.Add(int64(bytes)) > m.budget {
		m.held.Add(int64(-bytes))
		return nil
	}
	return m.CMemory.Allocate(bytes, alignment)
}

func (m *limited) Release(block unsafe.Pointer, bytes, alignment int) {
	m.held.Add(int64(-bytes))
	m.CMemory.Release(block, bytes, alignment)
}

// stage is what a case of the errors works on.
type stage struct {
	context   *threept.Context
	other     *threept.Context // with an allocator
	config    *threept.Config
	tokenizer *threept.Tokenizer
	data      *threept.Dataset
	model     *threept.Model
	trainer   *threept.Trainer
	optimizer *threept.Optimizer
	decoder   *threept.Decoder
	seed      uint64
}

func newStage(in input) *stage {
	s := &stage{context: contextOf(in.number("threads")), config: must(threept.ParseConfig(in.text("yaml"))), seed: in.u64("seed")}
	s.tokenizer = must(threept.BytesTokenizer(s.context))
	s.data = must(threept.DatasetFromTokens(background, s.context, must(s.tokenizer.Encode(background, in.text("text")))))
	s.model = must(threept.NewModel(background, s.context, s.config, s.seed))
	s.trainer = must(s.model.NewTrainer(background, nil))
	s.optimizer = must(s.trainer.NewOptimizer(background, nil))
	s.decoder = must(s.model.NewDecoder(0))
	return s
}

func (s *stage) close() {
	for _, object := range []interface{ Close() error }{s.decoder, s.optimizer, s.trainer, s.model, s.data, s.tokenizer, s.config, s.context} {
		check(object.Close())
	}
	if s.other != nil {
		check(s.other.Close())
	}
}

const someWeights = "blocks.1.attn.q.weight"

func (s *stage) setWeights(value float32) {
	values := slices.Repeat([]float32{value}, len(must(s.model.Tensor(someWeights))))
	check(s.model.SetTensor(someWeights, values))
}

func (s *stage) become(model *threept.Model) {
	check(s.model.Close())
	s.model = model
}

var before = map[string]func(s *stage){
	"cancel":   func(s *stage) { check(s.context.Cancel(true)) },
	"forward":  func(s *stage) { check(s.trainer.Forward(background, []int32{1, 2, 3}, 1, 3)) },
	"loss":     func(s *stage) { must(s.trainer.Loss(background, []int32{2, 3, 4})) },
	"backward": func(s *stage) { check(s.trainer.Backward(background)) },
	"feed":     func(s *stage) { check(s.decoder.Feed(background, 1)) },
	"rewind":   func(s *stage) { check(s.decoder.Rewind(1)) },
	"convert":  func(s *stage) { s.become(must(s.model.Convert(background, "int8"))) },
	"fold":     func(s *stage) { s.become(must(s.model.Fold(background))) },
	"nan":      func(s *stage) { s.setWeights(float32(math.NaN())) },
	"weights":  func(s *stage) { s.setWeights(0) },
	"spoil": func(s *stage) {
		check(s.context.Cancel(true))
		if _, err := s.trainer.Accumulate(background, []int32{1, 2, 3}, []int32{2, 3, 4}, 1, 3); !errors.Is(err, threept.ErrCancelled) {
			panic("was not cancelled")
		}
		check(s.context.Cancel(false))
	},
}

// speaker is the object that keeps its own last failure.
type speaker interface{ LastError() (string, error) }

func only[T any](_ T, err error) error { return err }

func only2[T, U any](_ T, _ U, err error) error { return err }

func (s *stage) setAllocator(budget int64) error {
	s.other = contextOf(1)
	return s.other.SetAllocator(&limited{budget: budget})
}

// callsAlone have no handle before the call.
var callsAlone = map[string]func(s *stage, in input) error{
	"check_version": func(s *stage, in input) error {
		return threept.CheckVersion(in.number("major"), in.number("minor"), in.number("patch"))
	},
	"config_preset": func(s *stage, in input) error { return only(threept.PresetConfig(in.text("preset"))) },
	"config_parse":  func(s *stage, in input) error { return only(threept.ParseConfig(in.text("yaml"))) },
	"config_load":   func(s *stage, in input) error { return only(threept.LoadConfig(in.text("path"))) },
}

var callsOfContext = map[string]func(s *stage, in input) error{
	"context_set_threads":        func(s *stage, in input) error { return s.context.SetThreads(in.number("threads")) },
	"context_set_allocator_late": func(s *stage, in input) error { return s.context.SetAllocator(threept.CMemory{}) },
	"model_create":               func(s *stage, in input) error { return only(threept.NewModel(background, s.context, s.config, s.seed)) },
	"model_load": func(s *stage, in input) error {
		return only(threept.LoadModel(background, s.context, in.text("path"), nil))
	},
	"model_load_memory": func(s *stage, in input) error {
		return only(threept.LoadModelBytes(background, s.context, []byte(in.text("text")), nil))
	},
	"dataset_open": func(s *stage, in input) error { return only(threept.OpenDataset(s.context, in.text("path"))) },
	"dataset_from_tokens": func(s *stage, in input) error {
		return only(threept.DatasetFromTokens(background, s.context, in.ids("tokens")))
	},
	"tokenizer_words": func(s *stage, in input) error {
		return only(threept.WordsTokenizer(background, s.context, in.text("text"), in.number("vocab")))
	},
	"tokenizer_bpe": func(s *stage, in input) error {
		return only(threept.BPETokenizer(background, s.context, in.text("text"), in.number("vocab")))
	},
	"tokenizer_load": func(s *stage, in input) error {
		return only(threept.LoadTokenizer(background, s.context, in.text("path")))
	},
	"tokenizer_parse": func(s *stage, in input) error {
		return only(threept.ParseTokenizer(background, s.context, in.text("json")))
	},
}

var callsOfOther = map[string]func(s *stage, in input) error{
	"context_set_allocator": func(s *stage, in input) error { return s.setAllocator(int64(in.number("budget"))) },
	"model_create_within": func(s *stage, in input) error {
		check(s.setAllocator(int64(in.number("budget"))))
		return only(threept.NewModel(background, s.other, must(threept.PresetConfig(in.text("preset"))), 1))
	},
}

var callsOfConfig = map[string]func(s *stage, in input) error{
	"config_set": func(s *stage, in input) error { return s.config.Set(in.text("key"), in.text("value")) },
	"config_get": func(s *stage, in input) error { return only(s.config.Get(in.text("key"))) },
	"config_check": func(s *stage, in input) error {
		check(s.config.Set(in.text("key"), in.text("value")))
		return s.config.Check()
	},
}

var callsOfModel = map[string]func(s *stage, in input) error{
	"model_save":        func(s *stage, in input) error { return s.model.Save(background, in.text("path")) },
	"model_convert":     func(s *stage, in input) error { return only(s.model.Convert(background, in.text("precision"))) },
	"model_fold":        func(s *stage, in input) error { return only(s.model.Fold(background)) },
	"model_save_memory": func(s *stage, in input) error { return only(s.model.Bytes(background)) },
	"trainer_create":    func(s *stage, in input) error { return only(s.model.NewTrainer(background, nil)) },
	"model_get_tensor":  func(s *stage, in input) error { return only(s.model.Tensor(in.text("tensor"))) },
	"decoder_create":    func(s *stage, in input) error { return only(s.model.NewDecoder(in.number("max_positions"))) },
	"evaluate": func(s *stage, in input) error {
		return only(s.model.Evaluate(background, nil, s.data, in.number("seq"), in.number("max_windows")))
	},
	"geometry_dc_profile": func(s *stage, in input) error { return only(s.model.DCProfile(in.number("first"), in.number("count"))) },
	"geometry_theta":      func(s *stage, in input) error { return only(s.model.Theta(in.number("layer"))) },
	"geometry_angles":     func(s *stage, in input) error { return only(s.model.Angles(in.number("layer"), in.number("phase"))) },
	"geometry_drift":      func(s *stage, in input) error { return only(s.model.Drift(in.number("layer"))) },
}

var callsOfTrainer = map[string]func(s *stage, in input) error{
	"trainer_forward": func(s *stage, in input) error {
		return s.trainer.Forward(background, in.ids("tokens"), in.number("batch"), in.number("seq"))
	},
	"trainer_accumulate": func(s *stage, in input) error {
		return only(s.trainer.Accumulate(background, in.ids("tokens"), in.ids("targets"), in.number("batch"), in.number("seq")))
	},
	"trainer_loss":         func(s *stage, in input) error { return only(s.trainer.Loss(background, in.ids("targets"))) },
	"trainer_logits":       func(s *stage, in input) error { return only(s.trainer.Logits(background)) },
	"trainer_backward":     func(s *stage, in input) error { return s.trainer.Backward(background) },
	"trainer_get_gradient": func(s *stage, in input) error { return only(s.trainer.Gradient(in.text("tensor"))) },
	"trainer_activation": func(s *stage, in input) error {
		return only(s.trainer.Activation(threept.Point(in.number("point")), in.number("layer")))
	},
	"geometry_phase_means": func(s *stage, in input) error {
		return only(s.trainer.PhaseMeans(threept.Point(in.number("point")), in.number("layer")))
	},
	"geometry_zero_sum": func(s *stage, in input) error { return only2(s.trainer.ZeroSum()) },
	"checkpoint_save": func(s *stage, in input) error {
		return s.trainer.SaveCheckpoint(background, s.optimizer, in.text("path"), nil)
	},
	"checkpoint_load": func(s *stage, in input) error {
		return only(s.trainer.LoadCheckpoint(background, s.optimizer, in.text("path")))
	},
}

var callsOfOptimizer = map[string]func(s *stage, in input) error{
	"optimizer_step":   func(s *stage, in input) error { return only(s.optimizer.Step()) },
	"optimizer_set_lr": func(s *stage, in input) error { return s.optimizer.SetLR(in.float("lr")) },
}

var callsOfDecoder = map[string]func(s *stage, in input) error{
	"decoder_sample": func(s *stage, in input) error { return only(s.decoder.Sample()) },
	"decoder_feed":   func(s *stage, in input) error { return s.decoder.Feed(background, in.ids("tokens")...) },
	"decoder_score":  func(s *stage, in input) error { return only(s.decoder.Score(background, in.ids("tokens")...)) },
	"decoder_feed_many_twice": func(s *stage, in input) error {
		token := int32(in.number("token"))
		return only(threept.FeedMany(background, []*threept.Decoder{s.decoder, s.decoder}, []int32{token, token}))
	},
	"decoder_rewind": func(s *stage, in input) error { return s.decoder.Rewind(in.number("position")) },
	"decoder_set_sampling": func(s *stage, in input) error {
		return s.decoder.SetSampling(threept.Sampling{Temperature: in.float("temperature"), TopK: in.number("top_k"),
			TopP: in.float("top_p"), Seed: in.u64("seed")})
	},
}

var callsOfData = map[string]func(s *stage, in input) error{
	"dataset_random": func(s *stage, in input) error {
		batch, seq, state := in.number("batch"), in.number("seq"), uint64(1)
		return s.data.Random(&state, batch, seq, make([]int32, batch*seq), make([]int32, batch*seq))
	},
	"dataset_window":       func(s *stage, in input) error { return only2(s.data.Window(in.number("index"), in.number("seq"))) },
	"dataset_window_count": func(s *stage, in input) error { return only(s.data.WindowCount(in.number("seq"))) },
}

var callsOfTokenizer = map[string]func(s *stage, in input) error{
	"tokenizer_decode": func(s *stage, in input) error { return only(s.tokenizer.Decode(background, in.ids("ids")...)) },
	"tokenizer_id":     func(s *stage, in input) error { return only(s.tokenizer.TokenID(in.text("token"))) },
	"tokenizer_token":  func(s *stage, in input) error { return only(s.tokenizer.Token(int32(in.number("id")))) },
}

var allCalls = []struct {
	calls   map[string]func(s *stage, in input) error
	speaker func(s *stage) speaker
}{
	{callsAlone, nil},
	{callsOfContext, func(s *stage) speaker { return s.context }},
	{callsOfOther, func(s *stage) speaker { return s.other }},
	{callsOfConfig, func(s *stage) speaker { return s.config }},
	{callsOfModel, func(s *stage) speaker { return s.model }},
	{callsOfTrainer, func(s *stage) speaker { return s.trainer }},
	{callsOfOptimizer, func(s *stage) speaker { return s.optimizer }},
	{callsOfDecoder, func(s *stage) speaker { return s.decoder }},
	{callsOfData, func(s *stage) speaker { return s.data }},
	{callsOfTokenizer, func(s *stage) speaker { return s.tokenizer }},
}

func failures(t *testing.T, in input) object {
	results := []object{}
	for _, each := range in.objects("cases") {
		results = append(results, failing(t, in, each))
	}
	return object{"cases": results}
}

// failing makes one call; the object that it is on must say what the error says.
func failing(t *testing.T, in, each input) object {
	s := newStage(in)
	defer s.close()
	for _, step := range each.texts("before") {
		before[step](s)
	}
	for _, group := range allCalls {
		call := group.calls[each.text("call")]
		if call == nil {
			continue
		}
		status, message := said(call(s, each))
		if group.speaker != nil {
			if kept := must(group.speaker(s).LastError()); kept != message {
				t.Errorf("%s: the object says %q, the error %q", each.text("name"), kept, message)
			}
		}
		return object{"name": each["name"], "status": status, "message": message}
	}
	t.Errorf("%s: there is no call %s here", each.text("name"), each.text("call"))
	return nil
}
