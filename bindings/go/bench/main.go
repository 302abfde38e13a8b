// What a token costs in Go: as bindings/conformance/overhead.c.
//
//	bench SECONDS        {"tokens_per_s": 4321.0, "generated_per_s": 4321.0}
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"time"

	"lib3pt/threept"
)

const tokens = 127

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// stepByStep makes a call a token.
func stepByStep(ctx context.Context, decoder *threept.Decoder) float64 {
	start, token := time.Now(), int32(0)
	for range tokens {
		check(decoder.Feed(ctx, token))
		token = must(decoder.Sample())
	}
	check(decoder.Rewind(0))
	return time.Since(start).Seconds()
}

// inOneCall feeds as many, in one call but for the first.
func inOneCall(ctx context.Context, decoder *threept.Decoder) float64 {
	start := time.Now()
	check(decoder.Feed(ctx, 0))
	must(decoder.Generate(ctx, tokens-1, threept.NoStop))
	check(decoder.Rewind(0))
	return time.Since(start).Seconds()
}

// median is of the rounds' seconds.
func median(seconds float64, round func() float64) float64 {
	var rounds []float64
	for start := time.Now(); len(rounds) == 0 || time.Since(start).Seconds() < seconds; {
		rounds = append(rounds, round())
	}
	slices.Sort(rounds)
	return rounds[len(rounds)/2]
}

func main() {
	seconds := 1.0
	if len(os.Args) > 1 {
		seconds = must(strconv.ParseFloat(os.Args[1], 64))
	}
	ctx := context.Background()
	c := must(threept.NewContext())
	model := must(threept.NewModel(ctx, c, must(threept.PresetConfig("3pt-5m")), 1))
	decoder := must(model.NewDecoder(0))
	steps := median(seconds/2, func() float64 { return stepByStep(ctx, decoder) })
	calls := median(seconds/2, func() float64 { return inOneCall(ctx, decoder) })
	fmt.Printf("{\"tokens_per_s\": %.1f, \"generated_per_s\": %.1f}\n", tokens/steps, tokens/calls)
}
