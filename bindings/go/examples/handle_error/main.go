// A wrong description, a file that is not there, a token that the model has not: what each says.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"lib3pt/threept"
)

const yaml = `model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3,
  n_kv_heads: 3, d_ff: 48, max_seq_len: 8}
`

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func show(err error, wanted threept.Status) {
	if !errors.Is(err, wanted) {
		log.Fatalf("%v is not %v", err, wanted)
	}
	fmt.Println(err)
}

func main() {
	ctx := context.Background()
	_, err := threept.ParseConfig("model: {d_model: 25}\n")
	show(err, threept.ErrConfig)
	_, err = threept.LoadModel(ctx, nil, "no-such-folder/model.safetensors", nil)
	show(err, threept.ErrIO)
	model := must(threept.NewModel(ctx, nil, must(threept.ParseConfig(yaml)), 1))
	decoder := must(model.NewDecoder(0))
	show(decoder.Feed(ctx, 256), threept.ErrArgument)
}
