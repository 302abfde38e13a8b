package threept_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lib3pt/threept"
)

const exampleYAML = `
model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6, n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
`

// A model learns a sentence and goes on with it, piece by piece.
func Example() {
	const batch, seq = 4, 40
	ctx := context.Background()
	tokenizer := must(threept.BytesTokenizer(nil))
	defer tokenizer.Close()
	ids := must(tokenizer.Encode(ctx, strings.Repeat("Three phases turn and sum to zero. ", 4)))
	data := must(threept.DatasetFromTokens(ctx, nil, ids))
	defer data.Close()
	config := must(threept.ParseConfig(exampleYAML))
	defer config.Close()
	model := must(threept.NewModel(ctx, nil, config, 1))
	defer model.Close()
	trainer := must(model.NewTrainer(ctx, nil))
	defer trainer.Close()
	optimizer := must(trainer.NewOptimizer(ctx, nil))
	defer optimizer.Close()
	tokens, targets, randomState := make([]int32, batch*seq), make([]int32, batch*seq), uint64(1)
	for range 60 {
		check(data.Random(&randomState, batch, seq, tokens, targets))
		check(trainer.ZeroGradients(ctx))
		must(trainer.Accumulate(ctx, tokens, targets, batch, seq))
		must(optimizer.Step())
	}
	decoder := must(model.NewDecoder(0))
	defer decoder.Close()
	prompt := must(tokenizer.Encode(ctx, "Three"))
	check(decoder.Feed(ctx, prompt...))
	for piece, err := range tokenizer.Stream(ctx, prompt, decoder.Tokens(ctx, 29)) {
		fmt.Print(must(piece, err))
	}
	fmt.Println()
	// Output: phases turn and sum to zero.
}

func ExampleError() {
	_, err := threept.ParseConfig("model: {d_model: 25}")
	fmt.Println(errors.Is(err, threept.ErrConfig))
	fmt.Println(err)
	// Output:
	// true
	// TPT_E_CONFIG: line 1: model.d_model is 25, model.n_phases is 3: d_model must be a multiple of n_phases
}

func ExampleConfig_Set() {
	config := must(threept.PresetConfig("3pt-5m"))
	defer config.Close()
	check(config.Set("model.max_seq_len", "64"))
	fmt.Println(must(config.Get("model.max_seq_len")), must(config.Get("train.seq_len")))
	// Output: 64 64
}

func ExampleModel_Evaluate_cancelled() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // from anywhere; the call ends, and no other one
	model := must(threept.NewModel(context.Background(), nil, must(threept.ParseConfig(exampleYAML)), 1))
	defer model.Close()
	data := must(threept.DatasetFromTokens(context.Background(), nil, make([]int32, 100)))
	defer data.Close()
	_, err := model.Evaluate(ctx, nil, data, 8, 0)
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, threept.ErrCancelled))
	// Output: true true
}

func ExampleView() {
	model := must(threept.NewModel(context.Background(), nil, must(threept.ParseConfig(exampleYAML)), 1))
	defer model.Close()
	decoder := must(model.NewDecoder(0))
	defer decoder.Close()
	logits := must(decoder.FeedLogits(context.Background(), 84))
	check(logits.Use(func(values []float32) { fmt.Println(len(values)) }))
	must(decoder.Sample())
	_, err := logits.Copy()
	fmt.Println(err)
	// Output:
	// 256
	// the borrowed memory has been used again by a later call
}

func ExampleModel_DCProfile() {
	model := must(threept.NewModel(context.Background(), nil, must(threept.ParseConfig(exampleYAML)), 1))
	defer model.Close()
	fmt.Println(must(model.DCProfile(0, 4)))
	// Output: [1 0.5 0.33333334 0.25]
}
