// What a token costs in Go: as bindings/conformance/overhead.c.
//
//	bench SECONDS
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

func round(ctx context.Context, decoder *threept.Decoder) float64 {
	start, token := time.Now(), int32(0)
	for range tokens {
		check(decoder.Feed(ctx, token))
		token = must(decoder.Sample())
	}
	check(decoder.Rewind(0))
	return time.Since(start).Seconds()
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
	var rounds []float64
	for start := time.Now(); len(rounds) == 0 || time.Since(start).Seconds() < seconds; {
		rounds = append(rounds, round(ctx, decoder))
	}
	slices.Sort(rounds)
	fmt.Printf("{\"tokens_per_s\": %.1f}\n", tokens/rounds[len(rounds)/2])
}
