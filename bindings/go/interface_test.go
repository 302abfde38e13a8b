package threept_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lib3pt/threept"
)

// reached has for each function of the interface what makes the call.
var reached = map[string]any{
	"tpt_version":                 threept.Version,
	"tpt_check_version":           threept.CheckVersion,
	"tpt_build_info":              threept.BuildInfo,
	"tpt_status_name":             threept.Status.Error,
	"tpt_error_message":           (*threept.Error).Error,
	"tpt_error_of":                (*threept.Model).LastError,
	"tpt_context_create":          threept.NewContext,
	"tpt_context_destroy":         (*threept.Context).Close,
	"tpt_context_set_threads":     (*threept.Context).SetThreads,
	"tpt_context_threads":         (*threept.Context).Threads,
	"tpt_context_set_allocator":   (*threept.Context).SetAllocator,
	"tpt_context_set_log":         (*threept.Context).SetLog,
	"tpt_context_set_progress":    (*threept.Context).SetProgress,
	"tpt_context_cancel":          (*threept.Context).Cancel,
	"tpt_config_create":           threept.NewConfig,
	"tpt_config_preset":           threept.PresetConfig,
	"tpt_config_preset_name":      threept.PresetNames,
	"tpt_config_load":             threept.LoadConfig,
	"tpt_config_parse":            threept.ParseConfig,
	"tpt_config_copy":             (*threept.Config).Copy,
	"tpt_config_destroy":          (*threept.Config).Close,
	"tpt_config_set":              (*threept.Config).Set,
	"tpt_config_get":              (*threept.Config).Get,
	"tpt_config_format":           (*threept.Config).Format,
	"tpt_config_check":            (*threept.Config).Check,
	"tpt_config_parameter_count":  (*threept.Config).ParameterCount,
	"tpt_config_memory":           (*threept.Config).Memory,
	"tpt_model_create":            threept.NewModel,
	"tpt_model_load":              threept.LoadModel,
	"tpt_model_load_memory":       threept.LoadModelBytes,
	"tpt_model_save":              (*threept.Model).Save,
	"tpt_model_save_memory":       (*threept.Model).Bytes,
	"tpt_model_destroy":           (*threept.Model).Close,
	"tpt_model_config":            (*threept.Model).Config,
	"tpt_model_fold":              (*threept.Model).Fold,
	"tpt_model_convert":           (*threept.Model).Convert,
	"tpt_model_tensor_count":      (*threept.Model).TensorCount,
	"tpt_model_tensor_info":       (*threept.Model).TensorInfo,
	"tpt_model_get_tensor":        (*threept.Model).Tensor,
	"tpt_model_set_tensor":        (*threept.Model).SetTensor,
	"tpt_model_parameters":        (*threept.Model).Parameters,
	"tpt_trainer_create":          (*threept.Model).NewTrainer,
	"tpt_trainer_destroy":         (*threept.Trainer).Close,
	"tpt_trainer_forward":         (*threept.Trainer).Forward,
	"tpt_trainer_logits":          (*threept.Trainer).Logits,
	"tpt_trainer_loss":            (*threept.Trainer).Loss,
	"tpt_trainer_backward":        (*threept.Trainer).Backward,
	"tpt_trainer_backward_logits": (*threept.Trainer).BackwardLogits,
	"tpt_trainer_accumulate":      (*threept.Trainer).Accumulate,
	"tpt_trainer_zero_gradients":  (*threept.Trainer).ZeroGradients,
	"tpt_trainer_gradients":       (*threept.Trainer).Gradients,
	"tpt_trainer_get_gradient":    (*threept.Trainer).Gradient,
	"tpt_trainer_activation":      (*threept.Trainer).Activation,
	"tpt_optimizer_create":        (*threept.Trainer).NewOptimizer,
	"tpt_optimizer_destroy":       (*threept.Optimizer).Close,
	"tpt_optimizer_step":          (*threept.Optimizer).Step,
	"tpt_optimizer_set_lr":        (*threept.Optimizer).SetLR,
	"tpt_optimizer_lr":            (*threept.Optimizer).LR,
	"tpt_optimizer_step_count":    (*threept.Optimizer).StepCount,
	"tpt_checkpoint_save":         (*threept.Trainer).SaveCheckpoint,
	"tpt_checkpoint_load":         (*threept.Trainer).LoadCheckpoint,
	"tpt_decoder_create":          (*threept.Model).NewDecoder,
	"tpt_decoder_destroy":         (*threept.Decoder).Close,
	"tpt_decoder_copy":            (*threept.Decoder).CopyTo,
	"tpt_decoder_feed":            (*threept.Decoder).Feed,
	"tpt_decoder_feed_many":       threept.FeedMany,
	"tpt_decoder_score":           (*threept.Decoder).Score,
	"tpt_decoder_rewind":          (*threept.Decoder).Rewind,
	"tpt_decoder_position":        (*threept.Decoder).Position,
	"tpt_decoder_set_sampling":    (*threept.Decoder).SetSampling,
	"tpt_decoder_sample":          (*threept.Decoder).Sample,
	"tpt_decoder_generate":        (*threept.Decoder).Generate,
	"tpt_dataset_open":            threept.OpenDataset,
	"tpt_dataset_from_tokens":     threept.DatasetFromTokens,
	"tpt_dataset_destroy":         (*threept.Dataset).Close,
	"tpt_dataset_count":           (*threept.Dataset).Count,
	"tpt_dataset_random":          (*threept.Dataset).Random,
	"tpt_dataset_window_count":    (*threept.Dataset).WindowCount,
	"tpt_dataset_window":          (*threept.Dataset).Window,
	"tpt_evaluate":                (*threept.Model).Evaluate,
	"tpt_tokenizer_bytes":         threept.BytesTokenizer,
	"tpt_tokenizer_words":         threept.WordsTokenizer,
	"tpt_tokenizer_bpe":           threept.BPETokenizer,
	"tpt_tokenizer_load":          threept.LoadTokenizer,
	"tpt_tokenizer_parse":         threept.ParseTokenizer,
	"tpt_tokenizer_save":          (*threept.Tokenizer).Save,
	"tpt_tokenizer_format":        (*threept.Tokenizer).Format,
	"tpt_tokenizer_destroy":       (*threept.Tokenizer).Close,
	"tpt_tokenizer_vocab_size":    (*threept.Tokenizer).VocabSize,
	"tpt_tokenizer_encode":        (*threept.Tokenizer).Encode,
	"tpt_tokenizer_encode_text":   (*threept.Tokenizer).EncodeText,
	"tpt_tokenizer_decode":        (*threept.Tokenizer).Decode,
	"tpt_tokenizer_decode_tail":   (*threept.Tokenizer).DecodeTail,
	"tpt_tokenizer_id":            (*threept.Tokenizer).TokenID,
	"tpt_tokenizer_token":         (*threept.Tokenizer).Token,
	"tpt_geometry_dc_profile":     (*threept.Model).DCProfile,
	"tpt_geometry_theta":          (*threept.Model).Theta,
	"tpt_geometry_angles":         (*threept.Model).Angles,
	"tpt_geometry_drift":          (*threept.Model).Drift,
	"tpt_geometry_phase_means":    (*threept.Trainer).PhaseMeans,
	"tpt_geometry_phase_rms":      (*threept.Trainer).PhaseRMS,
	"tpt_geometry_phase_cosine":   (*threept.Trainer).PhaseCosine,
	"tpt_geometry_dc_energy":      (*threept.Trainer).DCEnergy,
	"tpt_geometry_dc":             (*threept.Trainer).DC,
	"tpt_geometry_zero_sum":       (*threept.Trainer).ZeroSum,
	"tpt_geometry_displacement":   (*threept.Trainer).Displacement,
}

// values has each enum value.
var values = map[string]int{
	"TPT_OK": int(threept.OK), "TPT_E_ARGUMENT": int(threept.ErrArgument), "TPT_E_MEMORY": int(threept.ErrMemory),
	"TPT_E_IO": int(threept.ErrIO), "TPT_E_FORMAT": int(threept.ErrFormat), "TPT_E_CONFIG": int(threept.ErrConfig),
	"TPT_E_STATE": int(threept.ErrState), "TPT_E_UNSUPPORTED": int(threept.ErrUnsupported),
	"TPT_E_NUMERIC": int(threept.ErrNumeric), "TPT_E_CANCELLED": int(threept.ErrCancelled),
	"TPT_E_INTERNAL":       int(threept.ErrInternal),
	"TPT_MEMORY_INFERENCE": int(threept.MemoryInference), "TPT_MEMORY_TRAINING": int(threept.MemoryTraining),
	"TPT_POINT_EMBEDDING": int(threept.PointEmbedding), "TPT_POINT_ATTENTION": int(threept.PointAttention),
	"TPT_POINT_ROTATION": int(threept.PointRotation), "TPT_POINT_BLOCK": int(threept.PointBlock),
}

// structs has each struct, or the interface that stands for its functions.
var structs = map[string]reflect.Type{
	"tpt_tensor_info": reflect.TypeFor[threept.TensorInfo](),
	"tpt_evaluation":  reflect.TypeFor[threept.Evaluation](),
	"tpt_drift":       reflect.TypeFor[threept.Drift](),
	"tpt_allocator":   reflect.TypeFor[threept.Allocator](),
}

// within are fields that Go says otherwise: size and ndim by the type, user by the interface's value.
var within = map[string]bool{"size": true, "ndim": true, "user": true}

// called are the functions that the package's Go and C call.
func called(t *testing.T) map[string]bool {
	all := map[string]bool{}
	for _, path := range must(filepath.Glob("*.go")) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(must(parser.ParseFile(token.NewFileSet(), path, nil, 0)), func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "C" {
					all[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range regexp.MustCompile(`\btpt_\w+\(`).FindAllString(string(must(os.ReadFile("shim.c"))), -1) {
		all[strings.TrimSuffix(name, "(")] = true
	}
	return all
}

func interfaceOf(t *testing.T) input {
	prefix := environment(t, "LIB3PT_PREFIX")
	return decodeJSON(string(must(os.ReadFile(filepath.Join(prefix, "share/3pt/3pt.json"))))).(object)
}

func takesContext(f any) bool {
	of := reflect.TypeOf(f)
	for i := range of.NumIn() {
		if of.In(i) == reflect.TypeFor[context.Context]() {
			return true
		}
	}
	return false
}

func TestInterfaceFunctions(t *testing.T) {
	functions, called := interfaceOf(t).objects("functions"), called(t)
	for _, f := range functions {
		name := f.text("name")
		if !called[name] {
			t.Errorf("%s is not called", name)
		}
		if reached[name] == nil {
			t.Errorf("%s is not reached", name)
		} else if f["cancellable"].(bool) != takesContext(reached[name]) {
			t.Errorf("%s takes a context.Context where it cannot be cancelled, or none where it can", name)
		}
	}
	if len(reached) != len(functions) {
		t.Errorf("%d functions are reached, the interface has %d", len(reached), len(functions))
	}
}

func TestInterfaceEnums(t *testing.T) {
	count := 0
	for _, enum := range interfaceOf(t).objects("enums") {
		for _, value := range enum.objects("values") {
			if value["force"].(bool) {
				continue
			}
			count++
			if got, ok := values[value.text("name")]; !ok || got != value.number("value") {
				t.Errorf("%s is %d here, %v there", value.text("name"), got, value["value"])
			}
		}
	}
	if count != len(values) {
		t.Errorf("%d values here, %d there", len(values), count)
	}
}

func hasMember(of reflect.Type, field string) bool {
	same := func(name string) bool { return strings.EqualFold(name, strings.ReplaceAll(field, "_", "")) }
	if of.Kind() == reflect.Struct {
		_, ok := of.FieldByNameFunc(same)
		return ok
	}
	for i := range of.NumMethod() {
		if same(of.Method(i).Name) {
			return true
		}
	}
	return false
}

func TestInterfaceStructs(t *testing.T) {
	all := interfaceOf(t).objects("structs")
	for _, s := range all {
		of := structs[s.text("name")]
		if of == nil {
			t.Errorf("%s is missing", s.text("name"))
			continue
		}
		for _, field := range s.objects("fields") {
			if !within[field.text("name")] && !hasMember(of, field.text("name")) {
				t.Errorf("%s has no %s", of, field.text("name"))
			}
		}
	}
	if len(all) != len(structs) {
		t.Errorf("%d structs here, %d there", len(structs), len(all))
	}
}

func TestVersion(t *testing.T) {
	if said := interfaceOf(t)["version"]; said != threept.Version() {
		t.Errorf("the library is %s, its interface %v", threept.Version(), said)
	}
	if threept.BuildInfo() == "" {
		t.Error("no build info")
	}
}
