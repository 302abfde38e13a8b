// Generated from interface/3pt.json by bindings/java/generate.py; do not edit.
package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * The functions, enums and structs of 3pt.h as they are. size_t and uint64_t are long, unsigned.
 * Library.find() must have succeeded before the first call.
 */
@SuppressWarnings("restricted")
final class Native {
  private Native() {}

  static final String SONAME = "lib3pt.so.1";
  static final int VERSION_MAJOR = 1;
  static final int VERSION_MINOR = 0;
  static final int VERSION_PATCH = 0;

  static final int TPT_OK = 0;
  static final int TPT_E_ARGUMENT = 1;
  static final int TPT_E_MEMORY = 2;
  static final int TPT_E_IO = 3;
  static final int TPT_E_FORMAT = 4;
  static final int TPT_E_CONFIG = 5;
  static final int TPT_E_STATE = 6;
  static final int TPT_E_UNSUPPORTED = 7;
  static final int TPT_E_NUMERIC = 8;
  static final int TPT_E_CANCELLED = 9;
  static final int TPT_E_INTERNAL = 10;
  static final int TPT_STATUS_FORCE = 2147483647;

  static final int TPT_MEMORY_INFERENCE = 0;
  static final int TPT_MEMORY_TRAINING = 1;
  static final int TPT_MEMORY_FORCE = 2147483647;

  static final int TPT_POINT_EMBEDDING = 0;
  static final int TPT_POINT_ATTENTION = 1;
  static final int TPT_POINT_ROTATION = 2;
  static final int TPT_POINT_BLOCK = 3;
  static final int TPT_POINT_FORCE = 2147483647;

  static final StructLayout tpt_tensor_info =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("size"),
          ADDRESS.withName("name"),
          JAVA_LONG.withName("ndim"),
          MemoryLayout.sequenceLayout(4, JAVA_LONG).withName("shape"),
          JAVA_LONG.withName("offset"),
          JAVA_LONG.withName("count"));

  static final StructLayout tpt_evaluation =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("size"),
          JAVA_DOUBLE.withName("loss"),
          JAVA_DOUBLE.withName("perplexity"),
          JAVA_LONG.withName("tokens"));

  static final StructLayout tpt_drift =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("size"),
          JAVA_DOUBLE.withName("start"),
          JAVA_DOUBLE.withName("mean"),
          JAVA_DOUBLE.withName("l2"),
          JAVA_DOUBLE.withName("max"));

  static final StructLayout tpt_allocator =
      MemoryLayout.structLayout(
          JAVA_LONG.withName("size"),
          ADDRESS.withName("user"),
          ADDRESS.withName("allocate"),
          ADDRESS.withName("release"));

  static final FunctionDescriptor tpt_log_fn =
      FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, ADDRESS);
  static final FunctionDescriptor tpt_progress_fn =
      FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_DOUBLE);
  static final FunctionDescriptor tpt_done_fn =
      FunctionDescriptor.ofVoid(ADDRESS);
  static final FunctionDescriptor tpt_allocator_allocate =
      FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG);
  static final FunctionDescriptor tpt_allocator_release =
      FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG);

  private static MethodHandle call(String name, FunctionDescriptor types) {
    return Linker.nativeLinker().downcallHandle(Library.find().find(name).orElseThrow(), types);
  }

  private static RuntimeException failed(Throwable t) {
    if (t instanceof Error e) throw e;
    return t instanceof RuntimeException e ? e : new IllegalStateException(t);
  }

  private static final MethodHandle H_tpt_version =
      call("tpt_version", FunctionDescriptor.of(ADDRESS));

  // since 1.0.0, threads: any
  static MemorySegment tpt_version() {
    try {
      return (MemorySegment) H_tpt_version.invokeExact();
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_check_version =
      call("tpt_check_version", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));

  // since 1.0.0, threads: any
  static int tpt_check_version(int major, int minor, int patch) {
    try {
      return (int) H_tpt_check_version.invokeExact(major, minor, patch);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_build_info =
      call("tpt_build_info", FunctionDescriptor.of(ADDRESS));

  // since 1.0.0, threads: any
  static MemorySegment tpt_build_info() {
    try {
      return (MemorySegment) H_tpt_build_info.invokeExact();
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_status_name =
      call("tpt_status_name", FunctionDescriptor.of(ADDRESS, JAVA_INT));

  // since 1.0.0, threads: any
  static MemorySegment tpt_status_name(int status) {
    try {
      return (MemorySegment) H_tpt_status_name.invokeExact(status);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_error_message =
      call("tpt_error_message", FunctionDescriptor.of(ADDRESS));

  // since 1.0.0, threads: any
  static MemorySegment tpt_error_message() {
    try {
      return (MemorySegment) H_tpt_error_message.invokeExact();
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_error_of =
      call("tpt_error_of", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_error_of(MemorySegment handle, MemorySegment text, long capacity, MemorySegment
      length) {
    try {
      return (int) H_tpt_error_of.invokeExact(handle, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_create =
      call("tpt_context_create", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_context_create(MemorySegment context) {
    try {
      return (int) H_tpt_context_create.invokeExact(context);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_destroy =
      call("tpt_context_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_context_destroy(MemorySegment context) {
    try {
      H_tpt_context_destroy.invokeExact(context);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_set_threads =
      call("tpt_context_set_threads", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

  // since 1.0.0, threads: idle
  static int tpt_context_set_threads(MemorySegment context, int threads) {
    try {
      return (int) H_tpt_context_set_threads.invokeExact(context, threads);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_threads =
      call("tpt_context_threads", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_context_threads(MemorySegment context, MemorySegment threads) {
    try {
      return (int) H_tpt_context_threads.invokeExact(context, threads);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_set_allocator =
      call("tpt_context_set_allocator", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: idle
  static int tpt_context_set_allocator(MemorySegment context, MemorySegment allocator) {
    try {
      return (int) H_tpt_context_set_allocator.invokeExact(context, allocator);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_set_log =
      call("tpt_context_set_log", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          ADDRESS));

  // since 1.0.0, threads: idle
  static int tpt_context_set_log(MemorySegment context, MemorySegment log, MemorySegment user,
      MemorySegment done) {
    try {
      return (int) H_tpt_context_set_log.invokeExact(context, log, user, done);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_set_progress =
      call("tpt_context_set_progress", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          ADDRESS));

  // since 1.0.0, threads: idle
  static int tpt_context_set_progress(MemorySegment context, MemorySegment progress, MemorySegment
      user, MemorySegment done) {
    try {
      return (int) H_tpt_context_set_progress.invokeExact(context, progress, user, done);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_context_cancel =
      call("tpt_context_cancel", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

  // since 1.0.0, threads: any
  static int tpt_context_cancel(MemorySegment context, int on) {
    try {
      return (int) H_tpt_context_cancel.invokeExact(context, on);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_create =
      call("tpt_config_create", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_config_create(MemorySegment config) {
    try {
      return (int) H_tpt_config_create.invokeExact(config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_preset =
      call("tpt_config_preset", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_config_preset(MemorySegment name, MemorySegment config) {
    try {
      return (int) H_tpt_config_preset.invokeExact(name, config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_preset_name =
      call("tpt_config_preset_name", FunctionDescriptor.of(ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: any
  static MemorySegment tpt_config_preset_name(long index) {
    try {
      return (MemorySegment) H_tpt_config_preset_name.invokeExact(index);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_load =
      call("tpt_config_load", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_config_load(MemorySegment path, MemorySegment config) {
    try {
      return (int) H_tpt_config_load.invokeExact(path, config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_parse =
      call("tpt_config_parse", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: any
  static int tpt_config_parse(MemorySegment yaml, long length, MemorySegment config) {
    try {
      return (int) H_tpt_config_parse.invokeExact(yaml, length, config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_copy =
      call("tpt_config_copy", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_copy(MemorySegment config, MemorySegment copy) {
    try {
      return (int) H_tpt_config_copy.invokeExact(config, copy);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_destroy =
      call("tpt_config_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_config_destroy(MemorySegment config) {
    try {
      H_tpt_config_destroy.invokeExact(config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_set =
      call("tpt_config_set", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_config_set(MemorySegment config, MemorySegment key, MemorySegment value) {
    try {
      return (int) H_tpt_config_set.invokeExact(config, key, value);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_get =
      call("tpt_config_get", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_get(MemorySegment config, MemorySegment key, MemorySegment text, long
      capacity, MemorySegment length) {
    try {
      return (int) H_tpt_config_get.invokeExact(config, key, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_format =
      call("tpt_config_format", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_format(MemorySegment config, MemorySegment text, long capacity,
      MemorySegment length) {
    try {
      return (int) H_tpt_config_format.invokeExact(config, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_check =
      call("tpt_config_check", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_check(MemorySegment config) {
    try {
      return (int) H_tpt_config_check.invokeExact(config);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_parameter_count =
      call("tpt_config_parameter_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_parameter_count(MemorySegment config, MemorySegment count) {
    try {
      return (int) H_tpt_config_parameter_count.invokeExact(config, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_config_memory =
      call("tpt_config_memory", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_config_memory(MemorySegment config, int use, MemorySegment bytes) {
    try {
      return (int) H_tpt_config_memory.invokeExact(config, use, bytes);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_create =
      call("tpt_model_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_create(MemorySegment context, MemorySegment config, long seed, MemorySegment
      model) {
    try {
      return (int) H_tpt_model_create.invokeExact(context, config, seed, model);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_load =
      call("tpt_model_load", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_load(MemorySegment context, MemorySegment path, MemorySegment config,
      MemorySegment model) {
    try {
      return (int) H_tpt_model_load.invokeExact(context, path, config, model);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_load_memory =
      call("tpt_model_load_memory", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_load_memory(MemorySegment context, MemorySegment data, long size,
      MemorySegment config, MemorySegment model) {
    try {
      return (int) H_tpt_model_load_memory.invokeExact(context, data, size, config, model);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_save =
      call("tpt_model_save", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_save(MemorySegment model, MemorySegment path) {
    try {
      return (int) H_tpt_model_save.invokeExact(model, path);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_save_memory =
      call("tpt_model_save_memory", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_save_memory(MemorySegment model, MemorySegment data, long capacity,
      MemorySegment length) {
    try {
      return (int) H_tpt_model_save_memory.invokeExact(model, data, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_destroy =
      call("tpt_model_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_model_destroy(MemorySegment model) {
    try {
      H_tpt_model_destroy.invokeExact(model);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_config =
      call("tpt_model_config", FunctionDescriptor.of(ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static MemorySegment tpt_model_config(MemorySegment model) {
    try {
      return (MemorySegment) H_tpt_model_config.invokeExact(model);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_fold =
      call("tpt_model_fold", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_fold(MemorySegment model, MemorySegment folded) {
    try {
      return (int) H_tpt_model_fold.invokeExact(model, folded);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_convert =
      call("tpt_model_convert", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_convert(MemorySegment model, MemorySegment precision, MemorySegment
      converted) {
    try {
      return (int) H_tpt_model_convert.invokeExact(model, precision, converted);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_tensor_count =
      call("tpt_model_tensor_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_tensor_count(MemorySegment model, MemorySegment count) {
    try {
      return (int) H_tpt_model_tensor_count.invokeExact(model, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_tensor_info =
      call("tpt_model_tensor_info", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_model_tensor_info(MemorySegment model, long index, MemorySegment info) {
    try {
      return (int) H_tpt_model_tensor_info.invokeExact(model, index, info);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_get_tensor =
      call("tpt_model_get_tensor", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_model_get_tensor(MemorySegment model, MemorySegment name, MemorySegment values,
      long count) {
    try {
      return (int) H_tpt_model_get_tensor.invokeExact(model, name, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_set_tensor =
      call("tpt_model_set_tensor", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: exclusive
  static int tpt_model_set_tensor(MemorySegment model, MemorySegment name, MemorySegment values,
      long count) {
    try {
      return (int) H_tpt_model_set_tensor.invokeExact(model, name, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_model_parameters =
      call("tpt_model_parameters", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_model_parameters(MemorySegment model, MemorySegment values, MemorySegment count) {
    try {
      return (int) H_tpt_model_parameters.invokeExact(model, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_create =
      call("tpt_trainer_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_create(MemorySegment model, MemorySegment config, MemorySegment trainer) {
    try {
      return (int) H_tpt_trainer_create.invokeExact(model, config, trainer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_destroy =
      call("tpt_trainer_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_trainer_destroy(MemorySegment trainer) {
    try {
      H_tpt_trainer_destroy.invokeExact(trainer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_forward =
      call("tpt_trainer_forward", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_forward(MemorySegment trainer, MemorySegment tokens, long batch, long seq)
      {
    try {
      return (int) H_tpt_trainer_forward.invokeExact(trainer, tokens, batch, seq);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_logits =
      call("tpt_trainer_logits", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_logits(MemorySegment trainer, MemorySegment logits) {
    try {
      return (int) H_tpt_trainer_logits.invokeExact(trainer, logits);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_loss =
      call("tpt_trainer_loss", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_loss(MemorySegment trainer, MemorySegment targets, MemorySegment loss) {
    try {
      return (int) H_tpt_trainer_loss.invokeExact(trainer, targets, loss);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_backward =
      call("tpt_trainer_backward", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_backward(MemorySegment trainer) {
    try {
      return (int) H_tpt_trainer_backward.invokeExact(trainer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_backward_logits =
      call("tpt_trainer_backward_logits", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_backward_logits(MemorySegment trainer, MemorySegment dlogits, long count) {
    try {
      return (int) H_tpt_trainer_backward_logits.invokeExact(trainer, dlogits, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_accumulate =
      call("tpt_trainer_accumulate", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          JAVA_LONG, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_accumulate(MemorySegment trainer, MemorySegment tokens, MemorySegment
      targets, long batch, long seq, MemorySegment loss) {
    try {
      return (int) H_tpt_trainer_accumulate.invokeExact(trainer, tokens, targets, batch, seq, loss);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_zero_gradients =
      call("tpt_trainer_zero_gradients", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_zero_gradients(MemorySegment trainer) {
    try {
      return (int) H_tpt_trainer_zero_gradients.invokeExact(trainer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_gradients =
      call("tpt_trainer_gradients", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_gradients(MemorySegment trainer, MemorySegment values, MemorySegment count)
      {
    try {
      return (int) H_tpt_trainer_gradients.invokeExact(trainer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_get_gradient =
      call("tpt_trainer_get_gradient", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_trainer_get_gradient(MemorySegment trainer, MemorySegment name, MemorySegment
      values, long count) {
    try {
      return (int) H_tpt_trainer_get_gradient.invokeExact(trainer, name, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_trainer_activation =
      call("tpt_trainer_activation", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG,
          ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_trainer_activation(MemorySegment trainer, int point, long layer, MemorySegment
      values, MemorySegment count) {
    try {
      return (int) H_tpt_trainer_activation.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_create =
      call("tpt_optimizer_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_optimizer_create(MemorySegment trainer, MemorySegment config, MemorySegment
      optimizer) {
    try {
      return (int) H_tpt_optimizer_create.invokeExact(trainer, config, optimizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_destroy =
      call("tpt_optimizer_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_optimizer_destroy(MemorySegment optimizer) {
    try {
      H_tpt_optimizer_destroy.invokeExact(optimizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_step =
      call("tpt_optimizer_step", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_optimizer_step(MemorySegment optimizer, MemorySegment gradient_norm) {
    try {
      return (int) H_tpt_optimizer_step.invokeExact(optimizer, gradient_norm);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_set_lr =
      call("tpt_optimizer_set_lr", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_DOUBLE));

  // since 1.0.0, threads: exclusive
  static int tpt_optimizer_set_lr(MemorySegment optimizer, double lr) {
    try {
      return (int) H_tpt_optimizer_set_lr.invokeExact(optimizer, lr);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_lr =
      call("tpt_optimizer_lr", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_optimizer_lr(MemorySegment optimizer, MemorySegment lr) {
    try {
      return (int) H_tpt_optimizer_lr.invokeExact(optimizer, lr);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_optimizer_step_count =
      call("tpt_optimizer_step_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_optimizer_step_count(MemorySegment optimizer, MemorySegment steps) {
    try {
      return (int) H_tpt_optimizer_step_count.invokeExact(optimizer, steps);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_checkpoint_save =
      call("tpt_checkpoint_save", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_checkpoint_save(MemorySegment trainer, MemorySegment optimizer, MemorySegment path,
      MemorySegment user, long size) {
    try {
      return (int) H_tpt_checkpoint_save.invokeExact(trainer, optimizer, path, user, size);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_checkpoint_load =
      call("tpt_checkpoint_load", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS,
          ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_checkpoint_load(MemorySegment trainer, MemorySegment optimizer, MemorySegment path,
      MemorySegment user, long capacity, MemorySegment size) {
    try {
      return (int) H_tpt_checkpoint_load.invokeExact(trainer, optimizer, path, user, capacity, size);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_create =
      call("tpt_decoder_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_decoder_create(MemorySegment model, long max_positions, MemorySegment decoder) {
    try {
      return (int) H_tpt_decoder_create.invokeExact(model, max_positions, decoder);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_destroy =
      call("tpt_decoder_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_decoder_destroy(MemorySegment decoder) {
    try {
      H_tpt_decoder_destroy.invokeExact(decoder);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_copy =
      call("tpt_decoder_copy", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_copy(MemorySegment source, MemorySegment target) {
    try {
      return (int) H_tpt_decoder_copy.invokeExact(source, target);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_feed =
      call("tpt_decoder_feed", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_feed(MemorySegment decoder, MemorySegment tokens, long count, MemorySegment
      logits) {
    try {
      return (int) H_tpt_decoder_feed.invokeExact(decoder, tokens, count, logits);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_feed_many =
      call("tpt_decoder_feed_many", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
          ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_feed_many(MemorySegment decoders, long count, MemorySegment tokens,
      MemorySegment logits) {
    try {
      return (int) H_tpt_decoder_feed_many.invokeExact(decoders, count, tokens, logits);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_score =
      call("tpt_decoder_score", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_score(MemorySegment decoder, MemorySegment tokens, long count,
      MemorySegment log_probability) {
    try {
      return (int) H_tpt_decoder_score.invokeExact(decoder, tokens, count, log_probability);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_rewind =
      call("tpt_decoder_rewind", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_rewind(MemorySegment decoder, long position) {
    try {
      return (int) H_tpt_decoder_rewind.invokeExact(decoder, position);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_position =
      call("tpt_decoder_position", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_decoder_position(MemorySegment decoder, MemorySegment position) {
    try {
      return (int) H_tpt_decoder_position.invokeExact(decoder, position);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_set_sampling =
      call("tpt_decoder_set_sampling", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_DOUBLE,
          JAVA_INT, JAVA_DOUBLE, JAVA_LONG));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_set_sampling(MemorySegment decoder, double temperature, int top_k, double
      top_p, long seed) {
    try {
      return (int) H_tpt_decoder_set_sampling.invokeExact(decoder, temperature, top_k, top_p, seed);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_sample =
      call("tpt_decoder_sample", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_sample(MemorySegment decoder, MemorySegment token) {
    try {
      return (int) H_tpt_decoder_sample.invokeExact(decoder, token);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_decoder_generate =
      call("tpt_decoder_generate", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS,
          JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: exclusive
  static int tpt_decoder_generate(MemorySegment decoder, int stop, MemorySegment tokens, long count,
      MemorySegment made) {
    try {
      return (int) H_tpt_decoder_generate.invokeExact(decoder, stop, tokens, count, made);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_open =
      call("tpt_dataset_open", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_open(MemorySegment context, MemorySegment path, MemorySegment dataset) {
    try {
      return (int) H_tpt_dataset_open.invokeExact(context, path, dataset);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_from_tokens =
      call("tpt_dataset_from_tokens", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_from_tokens(MemorySegment context, MemorySegment tokens, long count,
      MemorySegment dataset) {
    try {
      return (int) H_tpt_dataset_from_tokens.invokeExact(context, tokens, count, dataset);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_destroy =
      call("tpt_dataset_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_dataset_destroy(MemorySegment dataset) {
    try {
      H_tpt_dataset_destroy.invokeExact(dataset);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_count =
      call("tpt_dataset_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_count(MemorySegment dataset, MemorySegment tokens) {
    try {
      return (int) H_tpt_dataset_count.invokeExact(dataset, tokens);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_random =
      call("tpt_dataset_random", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_random(MemorySegment dataset, MemorySegment random_state, long batch, long
      seq, MemorySegment tokens, MemorySegment targets) {
    try {
      return (int) H_tpt_dataset_random.invokeExact(dataset, random_state, batch, seq, tokens, targets);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_window_count =
      call("tpt_dataset_window_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_window_count(MemorySegment dataset, long seq, MemorySegment count) {
    try {
      return (int) H_tpt_dataset_window_count.invokeExact(dataset, seq, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_dataset_window =
      call("tpt_dataset_window", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG,
          ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_dataset_window(MemorySegment dataset, long index, long seq, MemorySegment tokens,
      MemorySegment targets) {
    try {
      return (int) H_tpt_dataset_window.invokeExact(dataset, index, seq, tokens, targets);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_evaluate =
      call("tpt_evaluate", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_evaluate(MemorySegment model, MemorySegment config, MemorySegment dataset, long
      seq, long max_windows, MemorySegment evaluation) {
    try {
      return (int) H_tpt_evaluate.invokeExact(model, config, dataset, seq, max_windows, evaluation);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_bytes =
      call("tpt_tokenizer_bytes", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_bytes(MemorySegment context, MemorySegment tokenizer) {
    try {
      return (int) H_tpt_tokenizer_bytes.invokeExact(context, tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_words =
      call("tpt_tokenizer_words", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_words(MemorySegment context, MemorySegment text, long length, long vocab,
      MemorySegment tokenizer) {
    try {
      return (int) H_tpt_tokenizer_words.invokeExact(context, text, length, vocab, tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_bpe =
      call("tpt_tokenizer_bpe", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_bpe(MemorySegment context, MemorySegment text, long length, long vocab,
      MemorySegment tokenizer) {
    try {
      return (int) H_tpt_tokenizer_bpe.invokeExact(context, text, length, vocab, tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_load =
      call("tpt_tokenizer_load", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_load(MemorySegment context, MemorySegment path, MemorySegment tokenizer)
      {
    try {
      return (int) H_tpt_tokenizer_load.invokeExact(context, path, tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_parse =
      call("tpt_tokenizer_parse", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_parse(MemorySegment context, MemorySegment json, long length,
      MemorySegment tokenizer) {
    try {
      return (int) H_tpt_tokenizer_parse.invokeExact(context, json, length, tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_save =
      call("tpt_tokenizer_save", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_save(MemorySegment tokenizer, MemorySegment path) {
    try {
      return (int) H_tpt_tokenizer_save.invokeExact(tokenizer, path);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_format =
      call("tpt_tokenizer_format", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_format(MemorySegment tokenizer, MemorySegment text, long capacity,
      MemorySegment length) {
    try {
      return (int) H_tpt_tokenizer_format.invokeExact(tokenizer, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_destroy =
      call("tpt_tokenizer_destroy", FunctionDescriptor.ofVoid(ADDRESS));

  // since 1.0.0, threads: exclusive
  static void tpt_tokenizer_destroy(MemorySegment tokenizer) {
    try {
      H_tpt_tokenizer_destroy.invokeExact(tokenizer);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_vocab_size =
      call("tpt_tokenizer_vocab_size", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_vocab_size(MemorySegment tokenizer, MemorySegment count) {
    try {
      return (int) H_tpt_tokenizer_vocab_size.invokeExact(tokenizer, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_encode =
      call("tpt_tokenizer_encode", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_encode(MemorySegment tokenizer, MemorySegment text, long length,
      MemorySegment ids, long capacity, MemorySegment count) {
    try {
      return (int) H_tpt_tokenizer_encode.invokeExact(tokenizer, text, length, ids, capacity, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_encode_text =
      call("tpt_tokenizer_encode_text", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_encode_text(MemorySegment tokenizer, MemorySegment text, long length,
      MemorySegment ids, long capacity, MemorySegment count) {
    try {
      return (int) H_tpt_tokenizer_encode_text.invokeExact(tokenizer, text, length, ids, capacity, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_decode =
      call("tpt_tokenizer_decode", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_decode(MemorySegment tokenizer, MemorySegment ids, long count,
      MemorySegment text, long capacity, MemorySegment length) {
    try {
      return (int) H_tpt_tokenizer_decode.invokeExact(tokenizer, ids, count, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_decode_tail =
      call("tpt_tokenizer_decode_tail", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG,
          JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_decode_tail(MemorySegment tokenizer, MemorySegment ids, long count, long
      done, MemorySegment text, long capacity, MemorySegment length) {
    try {
      return (int) H_tpt_tokenizer_decode_tail.invokeExact(tokenizer, ids, count, done, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_id =
      call("tpt_tokenizer_id", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_id(MemorySegment tokenizer, MemorySegment token, MemorySegment id) {
    try {
      return (int) H_tpt_tokenizer_id.invokeExact(tokenizer, token, id);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_tokenizer_token =
      call("tpt_tokenizer_token", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS,
          JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_tokenizer_token(MemorySegment tokenizer, int id, MemorySegment text, long capacity,
      MemorySegment length) {
    try {
      return (int) H_tpt_tokenizer_token.invokeExact(tokenizer, id, text, capacity, length);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_dc_profile =
      call("tpt_geometry_dc_profile", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_dc_profile(MemorySegment model, long first, MemorySegment values, long
      count) {
    try {
      return (int) H_tpt_geometry_dc_profile.invokeExact(model, first, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_theta =
      call("tpt_geometry_theta", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_theta(MemorySegment model, long layer, MemorySegment values, long count) {
    try {
      return (int) H_tpt_geometry_theta.invokeExact(model, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_angles =
      call("tpt_geometry_angles", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG,
          ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_angles(MemorySegment model, long layer, long phase, MemorySegment values,
      long count) {
    try {
      return (int) H_tpt_geometry_angles.invokeExact(model, layer, phase, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_drift =
      call("tpt_geometry_drift", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_geometry_drift(MemorySegment model, long layer, MemorySegment drift) {
    try {
      return (int) H_tpt_geometry_drift.invokeExact(model, layer, drift);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_phase_means =
      call("tpt_geometry_phase_means", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG,
          ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_phase_means(MemorySegment trainer, int point, long layer, MemorySegment
      values, long count) {
    try {
      return (int) H_tpt_geometry_phase_means.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_phase_rms =
      call("tpt_geometry_phase_rms", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG,
          ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_phase_rms(MemorySegment trainer, int point, long layer, MemorySegment
      values, long count) {
    try {
      return (int) H_tpt_geometry_phase_rms.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_phase_cosine =
      call("tpt_geometry_phase_cosine", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT,
          JAVA_LONG, ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_phase_cosine(MemorySegment trainer, int point, long layer, MemorySegment
      values, long count) {
    try {
      return (int) H_tpt_geometry_phase_cosine.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_dc_energy =
      call("tpt_geometry_dc_energy", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG,
          ADDRESS, JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_dc_energy(MemorySegment trainer, int point, long layer, MemorySegment
      values, long count) {
    try {
      return (int) H_tpt_geometry_dc_energy.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_dc =
      call("tpt_geometry_dc", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS,
          JAVA_LONG));

  // since 1.0.0, threads: shared
  static int tpt_geometry_dc(MemorySegment trainer, int point, long layer, MemorySegment values,
      long count) {
    try {
      return (int) H_tpt_geometry_dc.invokeExact(trainer, point, layer, values, count);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_zero_sum =
      call("tpt_geometry_zero_sum", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_geometry_zero_sum(MemorySegment trainer, MemorySegment measured, MemorySegment
      analytic) {
    try {
      return (int) H_tpt_geometry_zero_sum.invokeExact(trainer, measured, analytic);
    } catch (Throwable t) {
      throw failed(t);
    }
  }

  private static final MethodHandle H_tpt_geometry_displacement =
      call("tpt_geometry_displacement", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG,
          ADDRESS));

  // since 1.0.0, threads: shared
  static int tpt_geometry_displacement(MemorySegment trainer, long layer, MemorySegment mean) {
    try {
      return (int) H_tpt_geometry_displacement.invokeExact(trainer, layer, mean);
    } catch (Throwable t) {
      throw failed(t);
    }
  }
}
