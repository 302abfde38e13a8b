// Trains a model on a sentence and lets it continue a prompt, by the likeliest byte each time.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"lib3pt/threept"
)

const yaml = `model: {vocab_size: 256, d_model: 48, n_layers: 2, n_q_heads: 6,
  n_kv_heads: 3, d_ff: 96, max_seq_len: 40}
train: {batch: 4, steps: 1000, warmup: 1, lr: 1e-2}
`

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func learn(ctx context.Context, model *threept.Model, ids []int32) {
	const batch, seq = 4, 40
	data := must(threept.DatasetFromTokens(ctx, nil, ids))
	trainer := must(model.NewTrainer(ctx, nil))
	optimizer := must(trainer.NewOptimizer(ctx, nil))
	tokens, targets, randomState := make([]int32, batch*seq), make([]int32, batch*seq), uint64(1)
	for range 60 {
		check(data.Random(&randomState, batch, seq, tokens, targets))
		check(trainer.ZeroGradients(ctx))
		must(trainer.Accumulate(ctx, tokens, targets, batch, seq))
		must(optimizer.Step())
	}
}

func main() {
	ctx := context.Background()
	tokenizer := must(threept.BytesTokenizer(nil))
	model := must(threept.NewModel(ctx, nil, must(threept.ParseConfig(yaml)), 1))
	learn(ctx, model, must(tokenizer.Encode(ctx, strings.Repeat("Three phases turn and sum to zero. ", 4))))
	decoder := must(model.NewDecoder(0))
	check(decoder.Feed(ctx, must(tokenizer.Encode(ctx, "Three"))...))
	added := must(decoder.Generate(ctx, 29, threept.NoStop))
	fmt.Printf("Three|%s\n", must(tokenizer.Decode(ctx, added...)))
}
