// What a model's phases look like: profile, angles, and the sum of the phase means.
package main

import (
	"context"
	"fmt"
	"log"
	"math"

	"lib3pt/threept"
)

const yaml = `model: {vocab_size: 256, d_model: 24, n_layers: 2, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 32}
train: {batch: 1}
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
	ctx := context.Background()
	model := must(threept.NewModel(ctx, nil, must(threept.ParseConfig(yaml)), 1))
	profile := must(model.DCProfile(0, 4))
	fmt.Printf("profile %.3f %.3f %.3f %.3f\n", profile[0], profile[1], profile[2], profile[3])
	for layer := range 2 {
		for phase := range 3 {
			angles := must(model.Angles(layer, phase))
			fmt.Printf("layer %d, phase %d: %.1f degrees\n", layer, phase, float64(angles[0])/(math.Pi/180))
		}
	}
	trainer := must(model.NewTrainer(ctx, nil))
	tokens := make([]int32, 32)
	for i := range tokens {
		tokens[i] = int32(i)
	}
	check(trainer.Forward(ctx, tokens, 1, len(tokens)))
	measured, analytic, err := trainer.ZeroSum()
	check(err)
	fmt.Printf("sum of the phase means %.4f, by the profile %.4f\n", measured, analytic)
}
