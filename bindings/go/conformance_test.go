package threept_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"lib3pt/threept"
)

var background = context.Background()

type object = map[string]any

// input reads what a vector file has; the tests are not run on a file that is not what README.md says.
type input object

func (o input) in(key string) input      { return o[key].(object) }
func (o input) text(key string) string   { return o[key].(string) }
func (o input) number(key string) int    { return whole(o[key]) }
func (o input) u64(key string) uint64    { return must(strconv.ParseUint(o.text(key), 10, 64)) }
func (o input) float(key string) float64 { return must(strconv.ParseFloat(o.text(key), 64)) }

func (o input) objects(key string) []input {
	var all []input
	for _, entry := range o[key].([]any) {
		all = append(all, entry.(object))
	}
	return all
}

func (o input) texts(key string) []string {
	var all []string
	for _, entry := range o[key].([]any) {
		all = append(all, entry.(string))
	}
	return all
}

func (o input) ids(key string) []int32 {
	all := []int32{}
	for _, entry := range o[key].([]any) {
		all = append(all, int32(whole(entry)))
	}
	return all
}

func whole(number any) int { return int(must(number.(json.Number).Int64())) }

func must[T any](value T, err error) T {
	check(err)
	return value
}

// check ends a test where there is no way on; the runner shows where.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

func hash(bytes []byte) string {
	h := fnv.New64a()
	h.Write(bytes)
	return fmt.Sprintf("%016x", h.Sum64())
}

func hashFloats(values []float32) string {
	bytes := make([]byte, 0, 4*len(values))
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
	}
	return hash(bytes)
}

func hashView(view threept.View, err error) string { return hashFloats(must(must(view, err).Copy())) }

func file(bytes []byte) object { return object{"size": len(bytes), "hash": hash(bytes)} }

func f32(values []float32) []uint32 {
	bits := make([]uint32, len(values))
	for i, v := range values {
		bits[i] = math.Float32bits(v)
	}
	return bits
}

func bits(value float64) string { return fmt.Sprintf("%016x", math.Float64bits(value)) }

func f64(values []float64) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = bits(v)
	}
	return all
}

// difference says where two JSON values differ, "" where they do not.
func difference(at string, got, want any) string {
	switch want := want.(type) {
	case object:
		got, ok := got.(object)
		if !ok || len(got) != len(want) {
			return fmt.Sprintf("%s has %d keys, not %d", at, len(got), len(want))
		}
		for key := range want {
			if said := difference(at+"."+key, got[key], want[key]); said != "" {
				return said
			}
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return fmt.Sprintf("%s has %d entries, not %d", at, len(got), len(want))
		}
		for i := range want {
			if said := difference(fmt.Sprintf("%s[%d]", at, i), got[i], want[i]); said != "" {
				return said
			}
		}
	default:
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%s is %v, in C %v", at, got, want)
		}
	}
	return ""
}

func decodeJSON(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	check(decoder.Decode(&value))
	return value
}

var scenarios = map[string]func(t *testing.T, in input) object{
	"train": train, "decode": decode, "forward": forward, "checkpoint": checkpoint, "geometry": geometry,
	"tokenizer": tokenizer, "config": config, "evaluate": evaluate, "errors": failures,
}

// environment is a folder that bindings/go/test gives; a plain `go test` skips what needs it.
func environment(t *testing.T, name string) string {
	folder := os.Getenv(name)
	if folder == "" {
		t.Skip(name + " is not set")
	}
	return folder
}

func TestConformance(t *testing.T) {
	files := must(filepath.Glob(filepath.Join(environment(t, "LIB3PT_VECTORS"), "*.json")))
	if len(files) != len(scenarios) {
		t.Errorf("%d vector files, %d scenarios here", len(files), len(scenarios))
	}
	for _, path := range files {
		vector := input(decodeJSON(string(must(os.ReadFile(path)))).(object))
		name := vector.text("scenario")
		t.Run(name, func(t *testing.T) {
			scenario := scenarios[name]
			if scenario == nil {
				t.Fatal("there is no such scenario here")
			}
			got := decodeJSON(string(must(json.Marshal(scenario(t, vector.in("inputs"))))))
			if said := difference("results", got, vector["results"]); said != "" {
				t.Error(said)
			}
		})
	}
}

// run is the training that several scenarios need.
type run struct {
	context    *threept.Context
	tokenizer  *threept.Tokenizer
	data       *threept.Dataset
	config     *threept.Config
	model      *threept.Model
	trainer    *threept.Trainer
	optimizer  *threept.Optimizer
	state      uint64
	batch, seq int
	steps      int
	losses     []float64
	norms      []float64
}

func contextOf(threads int) *threept.Context {
	c := must(threept.NewContext())
	check(c.SetThreads(threads))
	return c
}

func begin(training input, seed uint64) *run {
	r := &run{context: contextOf(training.number("threads")), state: training.u64("random_state"),
		batch: training.number("batch"), seq: training.number("seq"), steps: training.number("steps")}
	r.tokenizer = must(threept.BytesTokenizer(r.context))
	r.data = must(threept.DatasetFromTokens(background, r.context, must(r.tokenizer.Encode(background, training.text("text")))))
	r.config = must(threept.ParseConfig(training.text("yaml")))
	r.model = must(threept.NewModel(background, r.context, r.config, seed))
	r.trainer = must(r.model.NewTrainer(background, nil))
	r.optimizer = must(r.trainer.NewOptimizer(background, nil))
	return r
}

func (r *run) accumulate() float64 {
	tokens, targets := make([]int32, r.batch*r.seq), make([]int32, r.batch*r.seq)
	check(r.data.Random(&r.state, r.batch, r.seq, tokens, targets))
	check(r.trainer.ZeroGradients(background))
	return must(r.trainer.Accumulate(background, tokens, targets, r.batch, r.seq))
}

func (r *run) step(count int) *run {
	for range count {
		r.losses = append(r.losses, r.accumulate())
		r.norms = append(r.norms, must(r.optimizer.Step()))
	}
	return r
}

func trained(training input) *run {
	r := begin(training, training.u64("seed"))
	return r.step(r.steps)
}

func train(t *testing.T, in input) object {
	r := trained(in.in("training"))
	count := must(r.config.ParameterCount())
	if all := must(r.model.Parameters()); all.Len() != count {
		t.Errorf("%d parameters, %d by the description", all.Len(), count)
	}
	tensors := []object{}
	for _, tensor := range must(r.model.Tensors()) {
		tensors = append(tensors, object{"name": tensor.Name, "shape": tensor.Shape, "offset": tensor.Offset, "count": tensor.Count})
	}
	return object{
		"tokens": must(r.data.Count()), "losses": f64(r.losses), "norms": f64(r.norms),
		"random_state": fmt.Sprint(r.state), "step_count": fmt.Sprint(must(r.optimizer.StepCount())),
		"lr": bits(must(r.optimizer.LR())), "parameter_count": count, "parameters": hashView(r.model.Parameters()),
		"gradients": hashView(r.trainer.Gradients()), "file": file(must(r.model.Bytes(background))), "tensors": tensors,
		"first_tensor": hashFloats(must(r.model.Tensor(must(r.model.TensorInfo(0)).Name))),
	}
}

func forward(t *testing.T, in input) object {
	c := contextOf(in.number("threads"))
	model := must(threept.NewModel(background, c, must(threept.ParseConfig(in.text("yaml"))), in.u64("seed")))
	trainer := must(model.NewTrainer(background, nil))
	batch, seq := in.number("batch"), in.number("seq")
	vocab := must(strconv.Atoi(must(must(model.Config()).Get("model.vocab_size"))))
	check(trainer.Forward(background, in.ids("tokens"), batch, seq))
	logits := must(must(trainer.Logits(background)).Copy())
	out := object{"logits": hashFloats(logits), "first_logits": f32(logits[:vocab])}
	activations := []object{}
	for _, at := range in.objects("points") {
		view := must(trainer.Activation(threept.Point(at.number("point")), at.number("layer")))
		activations = append(activations, object{"point": at["point"], "layer": at["layer"], "count": view.Len(), "values": hashView(view, nil)})
	}
	out["activations"] = activations
	out["loss"] = bits(must(trainer.Loss(background, in.ids("targets"))))
	check(trainer.Backward(background))
	out["gradients"] = hashView(trainer.Gradients())
	gradient := must(trainer.Gradient(in.text("tensor")))
	out["gradient"] = object{"count": len(gradient), "values": hashFloats(gradient)}
	check(trainer.ZeroGradients(background))
	check(trainer.Forward(background, in.ids("tokens"), batch, seq))
	d := dlogits(in.in("dlogits"), batch*seq*vocab)
	check(trainer.BackwardLogits(background, d))
	out["dlogits"], out["gradients_of_logits"] = hashFloats(d), hashView(trainer.Gradients())
	return out
}

func dlogits(rule input, count int) []float32 {
	d := make([]float32, count)
	for i := range d {
		d[i] = float32(i*rule.number("multiplier")%rule.number("modulus")-rule.number("offset")) / float32(rule.number("divisor"))
	}
	return d
}

func checkpoint(t *testing.T, in input) object {
	training, at := in.in("training"), in.number("at")
	path := filepath.Join(t.TempDir(), "run.safetensors")
	unbroken := trained(training)
	stopped := begin(training, training.u64("seed")).step(at)
	check(stopped.trainer.SaveCheckpoint(background, stopped.optimizer, path, []byte(fmt.Sprint(stopped.state))))
	r := begin(training, in.u64("fresh_seed"))
	user := string(must(r.trainer.LoadCheckpoint(background, r.optimizer, path)))
	r.state = must(strconv.ParseUint(user, 10, 64))
	out := object{"losses": f64(unbroken.losses), "parameters": hashView(unbroken.model.Parameters()),
		"file": file(must(os.ReadFile(path))), "user": user, "step_count": fmt.Sprint(must(r.optimizer.StepCount())),
		"lr": bits(must(r.optimizer.LR()))}
	out["resumed_losses"] = f64(r.step(r.steps - at).losses)
	out["resumed_parameters"] = hashView(r.model.Parameters())
	return out
}
