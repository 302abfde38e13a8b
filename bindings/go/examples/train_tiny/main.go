// Trains a tiny model on a sentence that repeats, and prints its loss.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"lib3pt/threept"
)

const yaml = `model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
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

func main() {
	const batch, seq = 4, 32
	ctx := context.Background()
	tokenizer := must(threept.BytesTokenizer(nil))
	ids := must(tokenizer.Encode(ctx, strings.Repeat("Three phases turn and sum to zero. ", 4)))
	data := must(threept.DatasetFromTokens(ctx, nil, ids))
	config := must(threept.ParseConfig(yaml))
	model := must(threept.NewModel(ctx, nil, config, 1))
	trainer := must(model.NewTrainer(ctx, nil))
	optimizer := must(trainer.NewOptimizer(ctx, nil))
	fmt.Printf("%d parameters, %d tokens\n", must(config.ParameterCount()), len(ids))
	tokens, targets, randomState := make([]int32, batch*seq), make([]int32, batch*seq), uint64(1)
	for step := 1; step <= 60; step++ {
		check(data.Random(&randomState, batch, seq, tokens, targets))
		check(trainer.ZeroGradients(ctx))
		loss := must(trainer.Accumulate(ctx, tokens, targets, batch, seq))
		must(optimizer.Step())
		if step == 1 || step%20 == 0 {
			fmt.Printf("step %d: loss %.2f\n", step, loss)
		}
	}
}
