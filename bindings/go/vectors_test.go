package threept_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"lib3pt/threept"
)

func continued(decoder *threept.Decoder, count int) []int32 {
	ids := []int32{}
	for id, err := range decoder.Tokens(background, count) {
		ids = append(ids, must(id, err))
	}
	return ids
}

func decode(t *testing.T, in input) object {
	r := trained(in.in("training"))
	path := filepath.Join(t.TempDir(), "model.safetensors")
	check(r.model.Save(background, path))
	model := must(threept.LoadModel(background, r.context, path, nil))
	data := must(os.ReadFile(path))
	out := object{"file": file(data), "parameters": hashView(model.Parameters()),
		"from_memory": hashView(must(threept.LoadModelBytes(background, r.context, data, nil)).Parameters())}
	encode := func(text string) []int32 { return must(r.tokenizer.Encode(background, text)) }
	prompt, greedy := encode(in.text("prompt")), in.number("greedy")
	decoder := must(model.NewDecoder(0))
	out["logits"] = f32(must(must(decoder.FeedLogits(background, prompt...)).Copy()))
	words := continued(decoder, greedy)
	out["greedy"], out["position"] = words, must(decoder.Position())
	out["greedy_text"] = hex.EncodeToString([]byte(must(r.tokenizer.Decode(background, words...))))
	sampled(in, model, prompt, out)
	out["score"] = f64(must(must(model.NewDecoder(0)).Score(background, encode(in.text("score"))...)))
	out["many"] = many(in.in("many"), model, encode)
	snapshots := []object{}
	for _, name := range in.texts("snapshots") {
		decoder := must(snapshot(model, name).NewDecoder(0))
		logits := hashView(decoder.FeedLogits(background, prompt...))
		snapshots = append(snapshots, object{"name": name, "logits": logits, "greedy": continued(decoder, greedy)})
	}
	out["snapshots"] = snapshots
	return out
}

func snapshot(model *threept.Model, name string) *threept.Model {
	if name == "fold" {
		return must(model.Fold(background))
	}
	return must(model.Convert(background, name))
}

func sampled(in input, model *threept.Model, prompt []int32, out object) {
	how, count := in.in("sampling"), in.number("sampled")
	decoder, copied, another := must(model.NewDecoder(0)), must(model.NewDecoder(0)), must(model.NewDecoder(0))
	sampling := threept.Sampling{Temperature: how.float("temperature"), TopK: how.number("top_k"),
		TopP: how.float("top_p"), Seed: how.u64("seed")}
	check(decoder.SetSampling(sampling))
	check(decoder.Feed(background, prompt...))
	check(decoder.CopyTo(copied))
	words := continued(decoder, count)
	out["sampled"], out["copied"] = words, continued(copied, count)
	check(decoder.Rewind(0))
	check(decoder.Feed(background, prompt...))
	out["resampled"] = continued(decoder, count)
	check(another.SetSampling(sampling))
	check(another.Feed(background, prompt...))
	out["generated"] = must(another.Generate(background, count, words[7]))
}

func many(in input, model *threept.Model, encode func(string) []int32) []string {
	var decoders []*threept.Decoder
	for _, prompt := range in.texts("prompts") {
		decoder := must(model.NewDecoder(0))
		check(decoder.Feed(background, encode(prompt)...))
		decoders = append(decoders, decoder)
	}
	var hashes []string
	for _, logits := range must(threept.FeedMany(background, decoders, in.ids("tokens"))) {
		hashes = append(hashes, hashView(logits, nil))
	}
	return hashes
}

func geometry(t *testing.T, in input) object {
	r := trained(in.in("training"))
	r.accumulate()
	described := func(key string) int { return must(strconv.Atoi(must(r.config.Get(key)))) }
	profile := in.in("profile")
	var theta, angles, drift, moved []any
	for layer := range described("model.n_layers") {
		var turns []any
		for phase := range described("model.n_phases") {
			turns = append(turns, f32(must(r.model.Angles(layer, phase))))
		}
		d := must(r.model.Drift(layer))
		theta, angles = append(theta, f32(must(r.model.Theta(layer)))), append(angles, turns)
		drift = append(drift, object{"start": bits(d.Start), "mean": bits(d.Mean), "l2": bits(d.L2), "max": bits(d.Max)})
		moved = append(moved, bits(must(r.trainer.Displacement(layer))))
	}
	measured, analytic, err := r.trainer.ZeroSum()
	check(err)
	points := []object{}
	for _, at := range in.objects("points") {
		point, layer := threept.Point(at.number("point")), at.number("layer")
		points = append(points, object{"point": point, "layer": layer,
			"phase_means": f64(must(r.trainer.PhaseMeans(point, layer))), "phase_rms": f64(must(r.trainer.PhaseRMS(point, layer))),
			"phase_cosine": f64(must(r.trainer.PhaseCosine(point, layer))), "dc_energy": f64(must(r.trainer.DCEnergy(point, layer))),
			"dc": f32(must(r.trainer.DC(point, layer)))})
	}
	return object{"dc_profile": f32(must(r.model.DCProfile(profile.number("first"), profile.number("count")))),
		"theta": theta, "angles": angles, "drift": drift, "displacement": moved, "points": points,
		"zero_sum": object{"measured": bits(measured), "analytic": bits(analytic)}}
}

func tokenizerOf(how input, text string) *threept.Tokenizer {
	switch how.text("kind") {
	case "words":
		return must(threept.WordsTokenizer(background, nil, text, how.number("vocab")))
	case "bpe":
		return must(threept.BPETokenizer(background, nil, text, how.number("vocab")))
	}
	return must(threept.BytesTokenizer(nil))
}

func tokenizer(t *testing.T, in input) object {
	all := []object{}
	for _, how := range in.objects("tokenizers") {
		all = append(all, tokenizerResults(t, in, how))
	}
	special := in.in("special")
	parsed := must(threept.ParseTokenizer(background, nil, special.text("json")))
	ids := must(parsed.Encode(background, special.text("text")))
	return object{"tokenizers": all, "special": object{"vocab_size": must(parsed.VocabSize()), "ids": ids,
		"text_ids": must(parsed.EncodeText(background, special.text("text"))), "decoded": must(parsed.Decode(background, ids...))}}
}

func tokenizerResults(t *testing.T, in, how input) object {
	k := tokenizerOf(how, in.text("text"))
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	check(k.Save(background, path))
	format := must(k.Format(background))
	parsed := must(threept.ParseTokenizer(background, nil, format))
	loaded := must(threept.LoadTokenizer(background, nil, path))
	var tokens []string
	for _, id := range how.ids("ids") {
		token := must(k.Token(id))
		if back := must(k.TokenID(token)); back != id {
			t.Errorf("token %q has id %d, not %d", token, back, id)
		}
		tokens = append(tokens, token)
	}
	samples, parsedIDs, loadedIDs := []object{}, [][]int32{}, [][]int32{}
	for _, text := range in.texts("samples") {
		ids := must(k.Encode(background, text))
		pieces := []string{}
		for n := range ids {
			pieces = append(pieces, hex.EncodeToString([]byte(must(k.DecodeTail(background, ids[:n+1], n)))))
		}
		samples = append(samples, object{"ids": ids, "text_ids": must(k.EncodeText(background, text)),
			"decoded": must(k.Decode(background, ids...)), "pieces": pieces})
		parsedIDs = append(parsedIDs, must(parsed.Encode(background, text)))
		loadedIDs = append(loadedIDs, must(loaded.Encode(background, text)))
	}
	return object{"kind": how["kind"], "vocab_size": must(k.VocabSize()), "format": file([]byte(format)), "tokens": tokens,
		"samples": samples, "parsed": parsedIDs, "loaded": loadedIDs, "saved": file(must(os.ReadFile(path)))}
}

func config(t *testing.T, in input) object {
	presets := []object{}
	for _, name := range threept.PresetNames() {
		preset := must(threept.PresetConfig(name))
		presets = append(presets, object{"name": name, "parameter_count": must(preset.ParameterCount()),
			"inference": must(preset.Memory(threept.MemoryInference)), "training": must(preset.Memory(threept.MemoryTraining))})
	}
	c := must(threept.ParseConfig(in.text("yaml")))
	for _, set := range in.objects("set") {
		check(c.Set(set.text("key"), set.text("value")))
	}
	var got []string
	for _, key := range in.texts("get") {
		got = append(got, must(c.Get(key)))
	}
	format := must(c.Format())
	path := filepath.Join(t.TempDir(), "model.yaml")
	check(os.WriteFile(path, []byte(format), 0o600))
	broken := must(c.Copy())
	check(broken.Set(in.in("break").text("key"), in.in("break").text("value")))
	status, message := said(broken.Check())
	unbroken, _ := said(c.Check())
	return object{"presets": presets, "format": format, "get": got, "parsed": must(must(threept.ParseConfig(format)).Format()),
		"loaded": must(must(threept.LoadConfig(path)).Format()), "check": unbroken, "unbroken": unbroken,
		"broken": object{"status": status, "message": message}}
}

func evaluate(t *testing.T, in input) object {
	r := trained(in.in("training"))
	ids := must(r.tokenizer.Encode(background, in.text("text")))
	data := must(threept.DatasetFromTokens(background, r.context, ids))
	var raw []byte
	for _, id := range ids {
		raw = append(raw, byte(id), byte(id>>8))
	}
	path := filepath.Join(t.TempDir(), "text.u16")
	check(os.WriteFile(path, raw, 0o600))
	seq := in.number("seq")
	tokens, targets, err := data.Window(in.number("window"), seq)
	check(err)
	evaluations := func(data *threept.Dataset) []object {
		all := []object{}
		for _, windows := range in.ids("max_windows") {
			e := must(r.model.Evaluate(background, nil, data, seq, int(windows)))
			all = append(all, object{"loss": bits(e.Loss), "perplexity": bits(e.Perplexity), "tokens": fmt.Sprint(e.Tokens)})
		}
		return all
	}
	return object{"count": must(data.Count()), "window_count": must(data.WindowCount(seq)),
		"window": object{"tokens": tokens, "targets": targets}, "evaluations": evaluations(data),
		"from_file": evaluations(must(threept.OpenDataset(r.context, path)))}
}
