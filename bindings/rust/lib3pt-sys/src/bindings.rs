// Generated from include/3pt/3pt.h by bindings/rust/generate; not to be edited.

pub const TPT_VERSION_MAJOR: i32 = 1;
pub const TPT_VERSION_MINOR: i32 = 0;
pub const TPT_VERSION_PATCH: i32 = 0;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_context {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_config {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_model {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_trainer {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_optimizer {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_decoder {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_dataset {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_tokenizer {
    _unused: [u8; 0],
}
pub const TPT_OK: tpt_status = 0;
#[doc = " an argument is out of its range, or NULL"]
pub const TPT_E_ARGUMENT: tpt_status = 1;
#[doc = " an allocation failed; the handle is as before the call"]
pub const TPT_E_MEMORY: tpt_status = 2;
#[doc = " the system refused to open, read, write, sync or rename"]
pub const TPT_E_IO: tpt_status = 3;
#[doc = " a file is not what it must be"]
pub const TPT_E_FORMAT: tpt_status = 4;
#[doc = " a description is wrong or contradicts itself"]
pub const TPT_E_CONFIG: tpt_status = 5;
#[doc = " the call has no sense now: backward before loss, sample before feed"]
pub const TPT_E_STATE: tpt_status = 6;
#[doc = " right, but not something this build, model or version does"]
pub const TPT_E_UNSUPPORTED: tpt_status = 7;
#[doc = " a loss or gradient is not finite; weights and moments are untouched"]
pub const TPT_E_NUMERIC: tpt_status = 8;
#[doc = " the progress function or tpt_context_cancel ended the call"]
pub const TPT_E_CANCELLED: tpt_status = 9;
#[doc = " a bug of the library, or of one that it uses"]
pub const TPT_E_INTERNAL: tpt_status = 10;
pub const TPT_STATUS_FORCE: tpt_status = 2147483647;
#[doc = " What a call came to. Values are never changed or used again; a later version may add some, so\n treat an unknown one as a failure."]
pub type tpt_status = core::ffi::c_uint;
#[doc = " the model and one decoder with room for max_seq_len tokens"]
pub const TPT_MEMORY_INFERENCE: tpt_memory_use = 0;
#[doc = " the model, its trainer, its optimizer"]
pub const TPT_MEMORY_TRAINING: tpt_memory_use = 1;
pub const TPT_MEMORY_FORCE: tpt_memory_use = 2147483647;
#[doc = " What tpt_config_memory counts."]
pub type tpt_memory_use = core::ffi::c_uint;
#[doc = " after DC injection (3.4); layer is 0"]
pub const TPT_POINT_EMBEDDING: tpt_point = 0;
#[doc = " after attention is added, before the rotation"]
pub const TPT_POINT_ATTENTION: tpt_point = 1;
#[doc = " after the rotation (3.2), before the feed-forward part; without a\nrotation the same as ATTENTION"]
pub const TPT_POINT_ROTATION: tpt_point = 2;
#[doc = " after the block"]
pub const TPT_POINT_BLOCK: tpt_point = 3;
pub const TPT_POINT_FORCE: tpt_point = 2147483647;
#[doc = " Points of the residual stream [B, T, D] of a trainer's last forward or accumulate, together with\n a layer from 0 to L - 1. With train.recompute: block, ATTENTION and ROTATION are not kept."]
pub type tpt_point = core::ffi::c_uint;
#[doc = " A parameter tensor: result of tpt_model_tensor_info."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_tensor_info {
    #[doc = " bytes of this struct, set by the caller"]
    pub size: usize,
    #[doc = " borrowed until the caller's destroy of the model: as in the published code's\nstate_dict, \"blocks.0.attn.q.weight\""]
    pub name: *const core::ffi::c_char,
    #[doc = " 1 or 2"]
    pub ndim: usize,
    #[doc = " unused entries are 1; a linear map is [out, in]"]
    pub shape: [usize; 4usize],
    #[doc = " of its first element in tpt_model_parameters"]
    pub offset: usize,
    #[doc = " elements"]
    pub count: usize,
}
#[doc = " Result of tpt_evaluate. Where no target counted: loss 0, perplexity 1, tokens 0."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_evaluation {
    #[doc = " bytes of this struct, set by the caller"]
    pub size: usize,
    #[doc = " mean cross-entropy, nats a token, without the auxiliary loss"]
    pub loss: f64,
    #[doc = " exp(loss)"]
    pub perplexity: f64,
    #[doc = " targets counted"]
    pub tokens: u64,
}
#[doc = " How far a layer's P / 2 angles are from their start (4.11.1): result of tpt_geometry_drift. All\n in radians."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_drift {
    #[doc = " bytes of this struct, set by the caller"]
    pub size: usize,
    #[doc = " what rotation.schedule in the model's description starts the layer at, radians"]
    pub start: f64,
    #[doc = " mean of them now, radians"]
    pub mean: f64,
    #[doc = " norm of (now - start), radians"]
    pub l2: f64,
    #[doc = " largest |now - start|, radians"]
    pub max: f64,
}
#[doc = " The host's memory: input of tpt_context_set_allocator. Both functions may be called from any\n thread. Neither may throw, longjmp or call this library."]
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct tpt_allocator {
    #[doc = " bytes of this struct, set by the caller"]
    pub size: usize,
    #[doc = " handed to both, may be NULL; must outlive every handle of the context"]
    pub user: *mut core::ffi::c_void,
    #[doc = " A block at a multiple of alignment (a power of two; 64 in this version), of at least `bytes`\n bytes, which are never 0; NULL when it cannot. A block elsewhere goes back at once and is\n TPT_E_MEMORY."]
    pub allocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut core::ffi::c_void,
            bytes: usize,
            alignment: usize,
        ) -> *mut core::ffi::c_void,
    >,
    #[doc = " memory: never NULL, with the bytes and alignment that it was asked with."]
    pub release: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut core::ffi::c_void,
            memory: *mut core::ffi::c_void,
            bytes: usize,
            alignment: usize,
        ),
    >,
}
#[doc = " A message that is no failure of a call.\n   level     0 error, 1 warning, 2 info, 3 debug\n   text      one message, a line as of tpt_error_message; borrowed until this returns"]
pub type tpt_log_fn = ::core::option::Option<
    unsafe extern "C" fn(user: *mut core::ffi::c_void, level: i32, text: *const core::ffi::c_char),
>;
#[doc = " How far a long call is.\n   handle    the call's first, of any kind (feed_many: decoders[0])\n   done      0 to 1, or NaN where it is not known\n   returns   other than 0 ends the call with TPT_E_CANCELLED"]
pub type tpt_progress_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut core::ffi::c_void,
        handle: *const core::ffi::c_void,
        done: f64,
    ) -> i32,
>;
#[doc = " Called once when user is needed no more: the pair was replaced, or the context's last holder is\n gone."]
pub type tpt_done_fn = ::core::option::Option<unsafe extern "C" fn(user: *mut core::ffi::c_void)>;
extern "C" {
    #[doc = " The version of the library in use, \"1.0.0\": it may be newer than this header's TPT_VERSION_*.\n   returns   a text, borrowed as long as the library is loaded"]
    pub fn tpt_version() -> *const core::ffi::c_char;
}
extern "C" {
    #[doc = " Is the library in use of this major version and at least this one? Call it once with\n TPT_VERSION_MAJOR, TPT_VERSION_MINOR, TPT_VERSION_PATCH.\n Errors: UNSUPPORTED: it is not; both versions are in the message."]
    pub fn tpt_check_version(major: i32, minor: i32, patch: i32) -> tpt_status;
}
extern "C" {
    #[doc = " Which matrix kernels, instruction sets and options are in use; one line, for a bug report. Its\n form is not fixed.\n   returns   a text, borrowed as long as the library is loaded"]
    pub fn tpt_build_info() -> *const core::ffi::c_char;
}
extern "C" {
    #[doc = " The name of a status, \"TPT_E_IO\", also for a number that is no status.\n   returns   a text, borrowed as long as the library is loaded"]
    pub fn tpt_status_name(status: tpt_status) -> *const core::ffi::c_char;
}
extern "C" {
    #[doc = " This thread's last failure, \"\" before the first. Success does not clear it. One line of UTF-8,\n at most 511 bytes: of a path, key or token, control characters and bytes that are not UTF-8 are\n shown as '?'.\n   returns   a text, borrowed until the next failing call on this thread"]
    pub fn tpt_error_message() -> *const core::ffi::c_char;
}
extern "C" {
    #[doc = " Last failure of a call whose first argument was this handle: for hosts whose work moves between\n threads. From any thread, also while a call runs on the handle.\n   handle    of any kind\n   text      a text result; \"\" where no call has failed\n A failure of this call itself is not kept in the handle. The text is not that of one call where\n two calls on a const handle fail at once: it is the later one's."]
    pub fn tpt_error_of(
        handle: *const core::ffi::c_void,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " A context with the defaults: as many threads as the process may use, the C library's allocator,\n no log, no progress function. No thread is started before the first work that needs one."]
    pub fn tpt_context_create(context: *mut *mut tpt_context) -> tpt_status;
}
extern "C" {
    #[doc = " Gives the caller's hold back. The threads end, and the done functions are called, when the last\n handle made from the context is gone too.\n   context   may be NULL"]
    pub fn tpt_context_destroy(context: *mut tpt_context);
}
extern "C" {
    #[doc = " Threads of a call, the caller's own among them. Only while idle.\n   threads   1 to 256 start so many, also more than there are processors; 0 (default): the smaller\n             of affinity mask and cgroup quota (rounded down, at least 1), found out at the first\n             use. Else ARGUMENT\n The threads of the former setting end before the call returns. A result's bits do not depend on\n this number."]
    pub fn tpt_context_set_threads(context: *mut tpt_context, threads: i32) -> tpt_status;
}
extern "C" {
    #[doc = " How many a call uses now; fewer than asked where the system would not start them. A call that\n finds the threads busy with another one works on the caller's alone.\n   threads   result"]
    pub fn tpt_context_threads(context: *const tpt_context, threads: *mut i32) -> tpt_status;
}
extern "C" {
    #[doc = " The allocator of everything made from the context from now on. Not taken from it: the context\n itself, descriptions, and what a JSON text needs while it is read. After a failure the old one\n stays. Only while idle.\n   allocator copied\n Errors: STATE: something made from the context is alive; ARGUMENT: a wrong size, or a function\n is NULL; MEMORY: the new allocator refused."]
    pub fn tpt_context_set_allocator(
        context: *mut tpt_context,
        allocator: *const tpt_allocator,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Where messages go that are no failures of a call. The former pair's done is called before this\n returns. Only while idle.\n   log       may be NULL (default): silence\n   user      handed to both, may be NULL\n   done      may be NULL"]
    pub fn tpt_context_set_log(
        context: *mut tpt_context,
        log: tpt_log_fn,
        user: *mut core::ffi::c_void,
        done: tpt_done_fn,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Called every few milliseconds of a long call, between pieces of its work. The former pair's done\n is called before this returns. Only while idle.\n   progress  may be NULL (default): not called\n   user      handed to both, may be NULL\n   done      may be NULL"]
    pub fn tpt_context_set_progress(
        context: *mut tpt_context,
        progress: tpt_progress_fn,
        user: *mut core::ffi::c_void,
        done: tpt_done_fn,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " From any thread: running and coming calls whose work grows with a model, file or text end with\n CANCELLED until 0; getters, setters, sample, copy, rewind, optimizer_step never do. A\n signal handler may call it with a context that is alive.\n   on        0: off; anything else: on"]
    pub fn tpt_context_cancel(context: *mut tpt_context, on: i32) -> tpt_status;
}
extern "C" {
    #[doc = " All defaults: the preset \"3pt-5m\"."]
    pub fn tpt_config_create(config: *mut *mut tpt_config) -> tpt_status;
}
extern "C" {
    #[doc = " A named preset: the paper's two sizes and its RoPE-only baselines (4.5, 4.11), and one of a\n billion parameters.\n Errors: ARGUMENT: there is none of that name."]
    pub fn tpt_config_preset(
        name: *const core::ffi::c_char,
        config: *mut *mut tpt_config,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Names of the presets from index 0.\n   returns   a text, borrowed as long as the library is loaded; NULL where index is past the\n             last"]
    pub fn tpt_config_preset_name(index: usize) -> *const core::ffi::c_char;
}
extern "C" {
    #[doc = " From a YAML file of at most 8 MiB: its keys over the defaults, checked as a whole. A\n section with nothing under it (\"train:\") gives no key.\n Errors: IO; FORMAT: too long, or not UTF-8; CONFIG: names the line and what is allowed."]
    pub fn tpt_config_load(
        path: *const core::ffi::c_char,
        config: *mut *mut tpt_config,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The same from memory.\n   yaml      a text without NUL; NULL where length is 0, which gives the defaults\n Errors: CONFIG: as _load, or more than 8 MiB; ARGUMENT: not UTF-8."]
    pub fn tpt_config_parse(
        yaml: *const core::ffi::c_char,
        length: usize,
        config: *mut *mut tpt_config,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " A second description, equal and independent."]
    pub fn tpt_config_copy(config: *const tpt_config, copy: *mut *mut tpt_config) -> tpt_status;
}
extern "C" {
    #[doc = " Ends a description.\n   config    may be NULL"]
    pub fn tpt_config_destroy(config: *mut tpt_config);
}
extern "C" {
    #[doc = " Sets one key; rules between keys are left to _check. After a failure nothing is changed.\n   key       the dotted name, \"model.n_phases\"\n   value     YAML, as it would stand in the file: \"4\", \"1e-3\", \"none\", \"[0.1, 0.2]\"\n Errors: CONFIG: an unknown key, a wrong type or an impossible value; MEMORY."]
    pub fn tpt_config_set(
        config: *mut tpt_config,
        key: *const core::ffi::c_char,
        value: *const core::ffi::c_char,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The value of a key, such that _set takes it. A key that follows another one (train.seq_len,\n train.theta_lr, model.dc.tau) gives what it is now.\n   text      a text result\n Errors: CONFIG: an unknown key; MEMORY."]
    pub fn tpt_config_get(
        config: *const tpt_config,
        key: *const core::ffi::c_char,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " YAML, every key, in a form that _parse takes. Numbers keep all their digits.\n   text      a text result\n Errors: MEMORY."]
    pub fn tpt_config_format(
        config: *const tpt_config,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The rules between keys; every function that uses a description does this first.\n Errors: CONFIG: the message has the keys, their values and the rule."]
    pub fn tpt_config_check(config: *const tpt_config) -> tpt_status;
}
extern "C" {
    #[doc = " Trainable numbers of the described model: elements of tpt_model_parameters.\n   count     result\n Errors: CONFIG."]
    pub fn tpt_config_parameter_count(config: *const tpt_config, count: *mut usize) -> tpt_status;
}
extern "C" {
    #[doc = " What will be asked of the allocator, at 2 threads: model and one decoder of max_seq_len; or\n model, trainer, optimizer. Each further thread takes 1 MiB, a tpt_trainer_logits its [room, V].\n Nothing is allocated. docs/model.md has the formula.\n   bytes     result\n Errors: ARGUMENT: another use; CONFIG: also where no size_t can say it."]
    pub fn tpt_config_memory(
        config: *const tpt_config,
        use_: tpt_memory_use,
        bytes: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " A model with random weights, a function of the description and the seed alone: the same bits on\n every processor. Embedding ~ N(0, 1); linear maps ~ U(-1/sqrt(in), 1/sqrt(in)); gains 1; angles\n by rotation.schedule (3.3), a learned DC profile at Gabriel's horn (3.4).\n   context   may be NULL\n   config    checked and copied\n Errors: CONFIG; CANCELLED."]
    pub fn tpt_model_create(
        context: *mut tpt_context,
        config: *const tpt_config,
        seed: u64,
        model: *mut *mut tpt_model,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " From a safetensors file, a checkpoint among them, or a state_dict of the published code. F32,\n F64, F16 and BF16 become float32. docs/safetensors.md says what is refused.\n   context   may be NULL\n   config    may be NULL where the file holds one; where both are, the model parts must agree and\n             config's training part wins\n Errors: IO; FORMAT: not safetensors, or a tensor missing, unknown or of another shape; CONFIG: no\n description, a wrong one, or two that differ; CANCELLED."]
    pub fn tpt_model_load(
        context: *mut tpt_context,
        path: *const core::ffi::c_char,
        config: *const tpt_config,
        model: *mut *mut tpt_model,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The same from the bytes of a file.\n   context   may be NULL\n   data      used up before the call returns; no alignment is needed\n   config    may be NULL, as _load\n Errors: FORMAT; CONFIG; CANCELLED: as _load."]
    pub fn tpt_model_load_memory(
        context: *mut tpt_context,
        data: *const core::ffi::c_void,
        size: usize,
        config: *const tpt_config,
        model: *mut *mut tpt_model,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Writes weights (float32) and description as one safetensors file. Appears whole or not at all:\n after a failure the former file is as it was, unless the message says that the folder could not\n be synced: then the new one is in place. The same model gives the same bytes.\n Errors: IO; MEMORY; CANCELLED; UNSUPPORTED: a converted model, or more tensors than the format's\n header of 100,000,000 bytes holds."]
    pub fn tpt_model_save(model: *const tpt_model, path: *const core::ffi::c_char) -> tpt_status;
}
extern "C" {
    #[doc = " The same bytes into memory.\n   data      result; NULL where capacity is 0\n   length    result: all bytes\n Errors: MEMORY; CANCELLED; UNSUPPORTED as _save."]
    pub fn tpt_model_save_memory(
        model: *const tpt_model,
        data: *mut core::ffi::c_void,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Gives the caller's hold back; what was made from the model keeps the weights.\n   model     may be NULL"]
    pub fn tpt_model_destroy(model: *mut tpt_model);
}
extern "C" {
    #[doc = " The model's own description; a tpt_model_set_tensor of the DC profile changes it.\n   returns   borrowed until the caller's destroy of model; NULL, with a message, where model is\n             no model"]
    pub fn tpt_model_config(model: *const tpt_model) -> *const tpt_config;
}
extern "C" {
    #[doc = " A snapshot with the same logits, no `replace` rotation, all gains 1: rotations and gains are\n multiplied into the linear maps, in double, so that a three-phase model costs nothing extra where\n it is decoded. A `residual` rotation stays. The result is an ordinary model whose description\n says rotation.mode none; it has the model's context and nothing else in common with it.\n Errors: UNSUPPORTED: a converted model; CANCELLED."]
    pub fn tpt_model_fold(model: *const tpt_model, folded: *mut *mut tpt_model) -> tpt_status;
}
extern "C" {
    #[doc = " A snapshot for decoding and evaluation only, where _get_tensor gives the values in use. One token\n at a time computes in float32; prompts and evaluation multiply in bf16 where the processor has\n matrix units (AMX) that the process may use, or AVX512-BF16 that is faster than float32 (AMD).\n   precision \"f32\": as _fold; \"bf16\", \"int8\": folded too, and all matrices, the embedding among\n             them, are held in half and in some quarter of the memory: bf16 to the nearest, ties\n             to even; int8 as whole numbers times a scale of each 64 of a row, 17 / 64 of float32\n             in all\n Errors: UNSUPPORTED: the model is a converted one; ARGUMENT: another name; CANCELLED."]
    pub fn tpt_model_convert(
        model: *const tpt_model,
        precision: *const core::ffi::c_char,
        converted: *mut *mut tpt_model,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Parameter tensors, in the order of the published code's state_dict.\n   count     result"]
    pub fn tpt_model_tensor_count(model: *const tpt_model, count: *mut usize) -> tpt_status;
}
extern "C" {
    #[doc = " Name, shape and place of a tensor.\n   index     below tensor_count, else ARGUMENT\n   info      result; .size is set by the caller"]
    pub fn tpt_model_tensor_info(
        model: *const tpt_model,
        index: usize,
        info: *mut tpt_tensor_info,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Copies a tensor out.\n   name      as in tensor_info, or \"embedding.dc_profile\" of any profile but none\n   values    result\n   count     that of the tensor; of the profile max_seq_len\n Errors: ARGUMENT: no such tensor."]
    pub fn tpt_model_get_tensor(
        model: *const tpt_model,
        name: *const core::ffi::c_char,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Copies a tensor in. It ends the forward of every trainer of the model: its backward is then\n STATE. \"embedding.dc_profile\" on a fixed profile other than none makes it that list at once, for\n all that use the model and in its description; _get_tensor gives it too.\n   name, count   as _get_tensor\n Errors: ARGUMENT as _get_tensor; UNSUPPORTED: a list longer than a description holds (262,144),\n or a converted model; MEMORY."]
    pub fn tpt_model_set_tensor(
        model: *mut tpt_model,
        name: *const core::ffi::c_char,
        values: *const f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " All, one array without gaps, in tensor_info's order; writable between calls. After writing\n through it, begin anew with a forward: a trainer cannot see it.\n   values    result [count], borrowed until the caller's destroy of model\n   count     result\n Errors: UNSUPPORTED: a converted model."]
    pub fn tpt_model_parameters(
        model: *mut tpt_model,
        values: *mut *mut f32,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Room for train.batch x train.seq_len tokens. The gradients are 0. Several trainers may share a\n model. A train.precision other than f32 asks the system for leave to use AMX (docs/embedding.md);\n without it bf16 uses AVX512-BF16 where that is faster than float32 (AMD), and all else is f32.\n   config    may be NULL: the model's; else its model part must equal it\n Errors: CONFIG; UNSUPPORTED: a converted model; CANCELLED."]
    pub fn tpt_trainer_create(
        model: *mut tpt_model,
        config: *const tpt_config,
        trainer: *mut *mut tpt_trainer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Gives the caller's hold back.\n   trainer   may be NULL"]
    pub fn tpt_trainer_destroy(trainer: *mut tpt_trainer);
}
extern "C" {
    #[doc = " The stream of a batch up to what the head reads; no logits yet (docs/model.md).\n   tokens    [batch, seq], 0 to V - 1; position t is the t-th of its row\n   batch     B, at least 1\n   seq       T, 1 to max_seq_len; batch x seq <= the room\n Errors: ARGUMENT; CANCELLED: there is no forward then."]
    pub fn tpt_trainer_forward(
        trainer: *mut tpt_trainer,
        tokens: *const i32,
        batch: usize,
        seq: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Of the last _forward, computed now. The first call takes room x V floats of memory, which later\n ones use again; training needs none of it.\n   logits    result [B, T, V], borrowed until the next call on trainer\n Errors: STATE: no forward since the last accumulate, or the weights have changed since; MEMORY;\n CANCELLED."]
    pub fn tpt_trainer_logits(trainer: *mut tpt_trainer, logits: *mut *const f32) -> tpt_status;
}
extern "C" {
    #[doc = " Loss of the last forward: mean cross-entropy in nats over the targets that are not\n train.ignore_index, plus train.aux_coef times the zero-sum penalty, the mean over tokens of the\n squared sum of the phase means at the embedding (4.6). Logits are held some rows at a time.\n   targets   [B, T] as the forward: 0 to V - 1 or ignore_index; copied\n   loss      result, nats; where all targets are ignored 0 plus the auxiliary part\n Errors: ARGUMENT; STATE as _logits; NUMERIC: the message names the first block after which the\n stream is not finite, and the forward stays; CANCELLED."]
    pub fn tpt_trainer_loss(
        trainer: *mut tpt_trainer,
        targets: *const i32,
        loss: *mut f64,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Of the last loss, once a forward; adds to the gradients.\n Errors: STATE: no loss of this forward, a second backward, spoiled gradients, or as _logits;\n CANCELLED: the gradients are spoiled."]
    pub fn tpt_trainer_backward(trainer: *mut tpt_trainer) -> tpt_status;
}
extern "C" {
    #[doc = " Instead, of a loss of the caller's own; without the auxiliary loss. Needs no tpt_trainer_loss.\n What is not finite shows at the optimizer's step.\n   dlogits   [B, T, V], derivatives of that loss by each logit\n   count     B x T x V, else ARGUMENT\n Errors: STATE and CANCELLED as _backward."]
    pub fn tpt_trainer_backward_logits(
        trainer: *mut tpt_trainer,
        dlogits: *const f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Forward, loss and backward in one, the same bits: the fast path, which computes the logits once.\n Afterwards there is no forward for _logits, _loss and _backward; activations and geometry can be\n read.\n   tokens, targets   [batch, seq], as _forward and _loss\n   batch, seq        as _forward\n   loss              result, as _loss\n Errors: ARGUMENT; STATE: spoiled gradients; NUMERIC or CANCELLED: the gradients are spoiled."]
    pub fn tpt_trainer_accumulate(
        trainer: *mut tpt_trainer,
        tokens: *const i32,
        targets: *const i32,
        batch: usize,
        seq: usize,
        loss: *mut f64,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Sets all gradients to 0. Also after CANCELLED or NUMERIC, which spoil them.\n Errors: CANCELLED: call it again."]
    pub fn tpt_trainer_zero_gradients(trainer: *mut tpt_trainer) -> tpt_status;
}
extern "C" {
    #[doc = " Laid out as the parameters; sums over backward calls; writable between calls, for a gradient\n exchange or a penalty of your own.\n   values    result [count], borrowed until the caller's destroy of trainer\n   count     result"]
    pub fn tpt_trainer_gradients(
        trainer: *mut tpt_trainer,
        values: *mut *mut f32,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Copies one tensor's gradient out.\n   name      of a parameter, as in tpt_model_tensor_info\n   values    result\n   count     that of the tensor\n Errors: ARGUMENT: no such parameter."]
    pub fn tpt_trainer_get_gradient(
        trainer: *const tpt_trainer,
        name: *const core::ffi::c_char,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The stream of the last forward or accumulate; readable also after an optimizer step, and after an\n accumulate that was NUMERIC.\n   layer     0 to L - 1; of TPT_POINT_EMBEDDING 0\n   values    result [B, T, D], borrowed until the next call on trainer\n   count     result: B x T x D\n Errors: ARGUMENT; STATE: none came to its end; UNSUPPORTED: not kept with train.recompute:\n block."]
    pub fn tpt_trainer_activation(
        trainer: *mut tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut *const f32,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " AdamW. Its moments are 0, its step count 0.\n   config    may be NULL: the trainer's; its training part is copied, its model part must equal\n             the model's\n Errors: CONFIG; CANCELLED."]
    pub fn tpt_optimizer_create(
        trainer: *mut tpt_trainer,
        config: *const tpt_config,
        optimizer: *mut *mut tpt_optimizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Gives the caller's hold back.\n   optimizer may be NULL"]
    pub fn tpt_optimizer_destroy(optimizer: *mut tpt_optimizer);
}
extern "C" {
    #[doc = " One step of AdamW with decoupled decay (Loshchilov and Hutter 2019): gradients / grad_accum,\n clipped to train.clip by their common norm; the gradients stay. With s steps done, the rate of\n the step is\n\n   lr(s) = lr s / warmup                                                           s < warmup\n         = lr (f + (1 - f) (1 + cos(pi min(1, (s - warmup) / (steps - warmup)))) / 2),\n                                                                                 f = lr_floor\n\n so with a warm-up the first step has rate 0. The angles' rate is theta_lr / lr times it. Never\n cancelled. It ends the forward of every trainer of the model. Without a backward it is a step\n with gradients of 0: moments and weights decay.\n   gradient_norm   result: before clipping; may be NULL\n Errors: NUMERIC: the norm is not finite, the message names the first such tensor, nothing has\n changed; STATE: spoiled gradients."]
    pub fn tpt_optimizer_step(optimizer: *mut tpt_optimizer, gradient_norm: *mut f64)
        -> tpt_status;
}
extern "C" {
    #[doc = " Instead of the schedule, until set to NaN.\n   lr        0 to 1e6, or NaN; else ARGUMENT. The angles follow in the ratio theta_lr / lr of the\n             description; where its train.lr is 0 they do not move"]
    pub fn tpt_optimizer_set_lr(optimizer: *mut tpt_optimizer, lr: f64) -> tpt_status;
}
extern "C" {
    #[doc = " The rate of the next step: the schedule's, or what was set.\n   lr        result"]
    pub fn tpt_optimizer_lr(optimizer: *const tpt_optimizer, lr: *mut f64) -> tpt_status;
}
extern "C" {
    #[doc = " Steps done, those before a checkpoint among them.\n   steps     result"]
    pub fn tpt_optimizer_step_count(optimizer: *const tpt_optimizer, steps: *mut u64)
        -> tpt_status;
}
extern "C" {
    #[doc = " Description, weights, moments, step, lr, and the caller's own bytes (its random state, its place\n in the data); tpt_model_load reads the model out of it. The description is the model's. Gradients\n are not in it: save between two steps. The file appears whole or not at all.\n   optimizer one of this trainer, else ARGUMENT\n   user      the caller's own bytes; NULL where size is 0\n Errors: IO; MEMORY; CANCELLED; UNSUPPORTED: as tpt_model_save, more tensors than a header\n holds."]
    pub fn tpt_checkpoint_save(
        trainer: *const tpt_trainer,
        optimizer: *const tpt_optimizer,
        path: *const core::ffi::c_char,
        user: *const core::ffi::c_void,
        size: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " All or nothing. Continues with the bits of the run that was never stopped. The gradients are left\n alone; the forward ends. For its time it takes memory of three times the weights.\n   optimizer one of this trainer, else ARGUMENT\n   user      result: the caller's own bytes; NULL where capacity is 0\n   size      result: how many the file has; may be NULL\n Errors: IO; FORMAT: no checkpoint, or a part is not what it must be; CONFIG: of another model;\n MEMORY; CANCELLED."]
    pub fn tpt_checkpoint_load(
        trainer: *mut tpt_trainer,
        optimizer: *mut tpt_optimizer,
        path: *const core::ffi::c_char,
        user: *mut core::ffi::c_void,
        capacity: usize,
        size: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " An empty sequence, greedy sampling. Reads the model's weights at every feed: a change of them\n acts from the next one, on what is fed then.\n   max_positions   1 to max_seq_len; 0: max_seq_len. Else ARGUMENT"]
    pub fn tpt_decoder_create(
        model: *const tpt_model,
        max_positions: usize,
        decoder: *mut *mut tpt_decoder,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Ends a sequence.\n   decoder   may be NULL"]
    pub fn tpt_decoder_destroy(decoder: *mut tpt_decoder);
}
extern "C" {
    #[doc = " Positions, cache, last logits, sampler and its random state. A way to branch: one prompt, many\n answers.\n   target    of the same model, long enough; else ARGUMENT"]
    pub fn tpt_decoder_copy(source: *const tpt_decoder, target: *mut tpt_decoder) -> tpt_status;
}
extern "C" {
    #[doc = " A prompt or one token. A failed feed leaves position, cache and last logits as they were. Logits\n that are not finite are no failure here, but of the sample.\n   tokens    0 to V - 1, at the positions after those held\n   count     1 to what room is left\n   logits    result [V] after the last token, borrowed until the next call on decoder; may be NULL\n Errors: ARGUMENT; CANCELLED."]
    pub fn tpt_decoder_feed(
        decoder: *mut tpt_decoder,
        tokens: *const i32,
        count: usize,
        logits: *mut *const f32,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " One token to each of count different decoders of one model. The bits of single feeds; all or none\n move. Reads the weights once for each 64 of them (fewer where decoders[0] has room for fewer\n tokens), with the threads of decoders[0]; every one of them is in use meanwhile.\n   decoders  at any positions; each once\n   tokens    [count]: tokens[i] for decoders[i]\n   logits    result [count] of pointers: logits[i] is [V], borrowed until the next call on\n             decoders[i]; may be NULL\n Errors: ARGUMENT: also where one is full; CANCELLED."]
    pub fn tpt_decoder_feed_many(
        decoders: *const *mut tpt_decoder,
        count: usize,
        tokens: *const i32,
        logits: *mut *const f32,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Feeds them and says how likely they were. The sum is the log-likelihood of a text.\n   tokens, count     as _feed\n   log_probability   result [count]: ln P(token | what was before it), 0 at position 0; not finite\n                     where a logit is not, which is no failure\n Errors: ARGUMENT; STATE after a rewind to p > 0, as _sample; CANCELLED: nothing moved."]
    pub fn tpt_decoder_score(
        decoder: *mut tpt_decoder,
        tokens: *const i32,
        count: usize,
        log_probability: *mut f64,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Forgets what is at and after a position, and the last feed's logits, also where it is the present\n position. The sampler and its random state stay.\n   position  at most the present one, else ARGUMENT"]
    pub fn tpt_decoder_rewind(decoder: *mut tpt_decoder, position: usize) -> tpt_status;
}
extern "C" {
    #[doc = " Tokens held.\n   position  result"]
    pub fn tpt_decoder_position(decoder: *const tpt_decoder, position: *mut usize) -> tpt_status;
}
extern "C" {
    #[doc = " Temperature (0: greedy, the default), then top_k (0: off), then the smallest set of what is left,\n renormalised, whose share reaches top_p (1: off); ties to the lower id; restarts the random\n state. After a failure nothing is changed.\n   temperature   0 or more, finite: logits are divided by it\n   top_k         0 or more: so many candidates, the likeliest\n   top_p         0 to 1; 0 leaves the likeliest alone\n   seed          of the draws\n Errors: ARGUMENT: out of range."]
    pub fn tpt_decoder_set_sampling(
        decoder: *mut tpt_decoder,
        temperature: f64,
        top_k: i32,
        top_p: f64,
        seed: u64,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " From the last feed's logits; does not feed it. Draws one random number, none where greedy.\n   token     result\n Errors: STATE: nothing was fed since the start or the last rewind; NUMERIC: a logit is NaN, or\n the largest is not finite."]
    pub fn tpt_decoder_sample(decoder: *mut tpt_decoder, token: *mut i32) -> tpt_status;
}
extern "C" {
    #[doc = " A continuation in one call, for languages where a call of C costs: samples a token and feeds it,\n again and again, with the tokens and the state of as many calls of _sample and _feed. A failure\n loses nothing: what was made stays, and a later call goes on with what would have come.\n   stop      a token that ends it, the last that is made, 0 to V - 1; -1: none\n   tokens    result [count]: the first *made are written\n   count     1 to what room is left\n   made      result: tokens sampled and fed, also on a failure\n Errors: ARGUMENT; STATE, NUMERIC: as _sample; CANCELLED."]
    pub fn tpt_decoder_generate(
        decoder: *mut tpt_decoder,
        stop: i32,
        tokens: *mut i32,
        count: usize,
        made: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Flat little-endian ids: .u16, .bin (16 bit), .u32, in small letters; read as needed, never\n whole. The file stays open until the destroy.\n   context   may be NULL\n Errors: IO; FORMAT: another ending, or a size that is no multiple of the id's."]
    pub fn tpt_dataset_open(
        context: *mut tpt_context,
        path: *const core::ffi::c_char,
        dataset: *mut *mut tpt_dataset,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " A copy of ids in memory.\n   context   may be NULL\n   tokens    0 to 2^31 - 1; NULL where count is 0\n Errors: ARGUMENT; CANCELLED."]
    pub fn tpt_dataset_from_tokens(
        context: *mut tpt_context,
        tokens: *const i32,
        count: usize,
        dataset: *mut *mut tpt_dataset,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Closes the file, or gives the copy back.\n   dataset   may be NULL"]
    pub fn tpt_dataset_destroy(dataset: *mut tpt_dataset);
}
extern "C" {
    #[doc = " Tokens in it.\n   tokens    result"]
    pub fn tpt_dataset_count(dataset: *const tpt_dataset, tokens: *mut usize) -> tpt_status;
}
extern "C" {
    #[doc = " Windows of seq tokens, each from a place drawn uniformly; a target is the next token. Ids are not\n compared with a vocabulary.\n   random_state      in and out: any number at first; moved on where the call succeeds. The same\n                     number gives the same windows\n   batch             B, at least 1\n   seq               T, at least 1\n   tokens, targets   results [batch, seq]\n Errors: ARGUMENT: batch or seq is 0, or the dataset has fewer than seq + 1 tokens; IO, FORMAT:\n the file has become shorter, or an id is above 2^31 - 1."]
    pub fn tpt_dataset_random(
        dataset: *const tpt_dataset,
        random_state: *mut u64,
        batch: usize,
        seq: usize,
        tokens: *mut i32,
        targets: *mut i32,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " (tokens - 1) / seq.\n   seq       at least 1, else ARGUMENT\n   count     result"]
    pub fn tpt_dataset_window_count(
        dataset: *const tpt_dataset,
        seq: usize,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Sequential windows that do not overlap: tokens from index x seq on, targets one further.\n   index             below the window count, else ARGUMENT\n   tokens, targets   results [seq]\n Errors: IO, FORMAT as _random."]
    pub fn tpt_dataset_window(
        dataset: *const tpt_dataset,
        index: usize,
        seq: usize,
        tokens: *mut i32,
        targets: *mut i32,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Loss of a model of any precision on the windows of a dataset, each read from position 0 (4.11).\n   config        may be NULL: the model's (train.ignore_index); its model part must equal the\n                 model's, else CONFIG\n   seq           T of a window, 1 to max_seq_len\n   max_windows   the first so many; 0: all\n   evaluation    result; .size is set by the caller\n Errors: ARGUMENT: also where the dataset has no window, or an id the model has not; CONFIG; IO,\n FORMAT as _window; MEMORY: for its time it takes that of a decoder of seq positions; CANCELLED;\n NUMERIC: the loss of a window, which the message names, is not finite; the call ends there."]
    pub fn tpt_evaluate(
        model: *const tpt_model,
        config: *const tpt_config,
        dataset: *const tpt_dataset,
        seq: usize,
        max_windows: usize,
        evaluation: *mut tpt_evaluation,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " 256 ids: a byte is its own id. Any bytes are text to it.\n   context   may be NULL"]
    pub fn tpt_tokenizer_bytes(
        context: *mut tpt_context,
        tokenizer: *mut *mut tpt_tokenizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The commonest, split as Hugging Face's Whitespace (\\w+|[^\\w\\s]+), ties by first appearance; id 0\n is the unknown word. A word with a NUL byte gets no id of its own.\n   context   may be NULL\n   text      NULL where length is 0\n   vocab     1 to 2^31 - 1 ids, the unknown word's among them; fewer where the text has fewer\n             words\n Errors: ARGUMENT; CANCELLED."]
    pub fn tpt_tokenizer_words(
        context: *mut tpt_context,
        text: *const core::ffi::c_char,
        length: usize,
        vocab: usize,
        tokenizer: *mut *mut tpt_tokenizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Byte-level; fewer than vocab where the text is exhausted. Splits as GPT-2 does, then merges the\n commonest pair again and again.\n   context   may be NULL\n   text      NULL where length is 0\n   vocab     256 to 2^31 - 1 ids; the first 256 are the bytes'\n Errors: ARGUMENT; UNSUPPORTED: 4 GiB of different words; CANCELLED."]
    pub fn tpt_tokenizer_bpe(
        context: *mut tpt_context,
        text: *const core::ffi::c_char,
        length: usize,
        vocab: usize,
        tokenizer: *mut *mut tpt_tokenizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Tokenizer.json, a file of at most 64 MiB.\n   context   may be NULL\n Errors: IO; FORMAT: not one (JSON without a model among them); UNSUPPORTED: names what would not\n be honoured exactly; CANCELLED."]
    pub fn tpt_tokenizer_load(
        context: *mut tpt_context,
        path: *const core::ffi::c_char,
        tokenizer: *mut *mut tpt_tokenizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The same from memory.\n   context   may be NULL\n   json      the text of the file\n Errors: FORMAT; UNSUPPORTED; CANCELLED: as _load; ARGUMENT: text that is not UTF-8."]
    pub fn tpt_tokenizer_parse(
        context: *mut tpt_context,
        json: *const core::ffi::c_char,
        length: usize,
        tokenizer: *mut *mut tpt_tokenizer,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Writes tokenizer.json, which the Python package `tokenizers` reads; appears whole or not at all.\n Errors: IO; MEMORY; CANCELLED."]
    pub fn tpt_tokenizer_save(
        tokenizer: *const tpt_tokenizer,
        path: *const core::ffi::c_char,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Tokenizer.json.\n   text      a text result\n Errors: MEMORY; CANCELLED."]
    pub fn tpt_tokenizer_format(
        tokenizer: *const tpt_tokenizer,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Ends a tokenizer.\n   tokenizer may be NULL"]
    pub fn tpt_tokenizer_destroy(tokenizer: *mut tpt_tokenizer);
}
extern "C" {
    #[doc = " Largest id + 1: the least model.vocab_size for its ids.\n   count     result"]
    pub fn tpt_tokenizer_vocab_size(
        tokenizer: *const tpt_tokenizer,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Ids of a text: those of the Python package with add_special_tokens=False. Added tokens in the\n text are recognised, none is put in. BPE without an unk_token leaves out characters that its\n vocabulary does not cover.\n   text      NULL where length is 0\n   ids       result; NULL where capacity is 0\n   count     result: how many the text has\n Errors: ARGUMENT: not UTF-8, or a word that neither the vocabulary nor its unk_token covers;\n UNSUPPORTED: a pattern takes too many steps on this text, or a word has more than 2^32 - 2\n characters; MEMORY; CANCELLED."]
    pub fn tpt_tokenizer_encode(
        tokenizer: *const tpt_tokenizer,
        text: *const core::ffi::c_char,
        length: usize,
        ids: *mut i32,
        capacity: usize,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Special tokens are read as plain text: for untrusted text. Otherwise _encode.\n   text      NULL where length is 0\n   ids       result; NULL where capacity is 0\n   count     result: how many the text has\n Errors: ARGUMENT; UNSUPPORTED; MEMORY; CANCELLED: as _encode."]
    pub fn tpt_tokenizer_encode_text(
        tokenizer: *const tpt_tokenizer,
        text: *const core::ffi::c_char,
        length: usize,
        ids: *mut i32,
        capacity: usize,
        count: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Special tokens left out; bad UTF-8 becomes U+FFFD, save for tpt_tokenizer_bytes, which gives its\n bytes back. Ids that no token has (gaps) are left out too.\n   ids       below vocab_size; NULL where count is 0\n   text      a text result\n Errors: ARGUMENT; UNSUPPORTED: a pattern of the decoder takes too many steps on this text;\n MEMORY; CANCELLED."]
    pub fn tpt_tokenizer_decode(
        tokenizer: *const tpt_tokenizer,
        ids: *const i32,
        count: usize,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " What ids[done, count) add to the text of ids[0, done), for streaming; a character not yet\n complete is held back until the id that ends it.\n   ids       all so far\n   done      0 to count: those whose text is written already\n   text      a text result\n Errors: ARGUMENT; UNSUPPORTED as _decode; MEMORY; CANCELLED."]
    pub fn tpt_tokenizer_decode_tail(
        tokenizer: *const tpt_tokenizer,
        ids: *const i32,
        count: usize,
        done: usize,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Id of a token.\n   token     as tokenizer.json spells it (in a byte-level one a space is U+0120)\n   id        result\n Errors: ARGUMENT: there is none."]
    pub fn tpt_tokenizer_id(
        tokenizer: *const tpt_tokenizer,
        token: *const core::ffi::c_char,
        id: *mut i32,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The other way.\n   text      a text result\n Errors: ARGUMENT: no token has this id."]
    pub fn tpt_tokenizer_token(
        tokenizer: *const tpt_tokenizer,
        id: i32,
        text: *mut core::ffi::c_char,
        capacity: usize,
        length: *mut usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The profile of DC injection (3.4) from r(first) on, a learned one as it is now: what the mean\n over D becomes at a position, in the stream's own unit.\n   first     0 to max_seq_len - 1\n   values    result\n   count     first + count <= max_seq_len, else ARGUMENT\n Errors: UNSUPPORTED: the profile is none."]
    pub fn tpt_geometry_dc_profile(
        model: *const tpt_model,
        first: usize,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The angles theta that a layer has learned, shared by its phases (3.3).\n   layer     0 to L - 1, else ARGUMENT\n   values    result [P / 2], radians\n Errors: UNSUPPORTED: there is no rotation."]
    pub fn tpt_geometry_theta(
        model: *const tpt_model,
        layer: usize,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " theta + 2 pi phase / N: by what the pairs of a phase turn (3.2), not reduced to a circle.\n   layer     0 to L - 1, else ARGUMENT\n   phase     0 to N - 1, else ARGUMENT\n   values    result [P / 2], radians\n Errors: UNSUPPORTED: there is no rotation."]
    pub fn tpt_geometry_angles(
        model: *const tpt_model,
        layer: usize,
        phase: usize,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " How far a layer's angles are from their start (4.11.1), in radians; 0 in a model that no step\n has changed. How far each pair's angle is: tpt_geometry_theta less drift.start.\n   layer     0 to L - 1, else ARGUMENT\n   drift     result; .size is set by the caller\n Errors: UNSUPPORTED: there is no rotation."]
    pub fn tpt_geometry_drift(
        model: *const tpt_model,
        layer: usize,
        drift: *mut tpt_drift,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Mean over B, T and the phase's channels (4.11), in the unit of x.\n   values    result [N]\n Errors: STATE; UNSUPPORTED."]
    pub fn tpt_geometry_phase_means(
        trainer: *const tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut f64,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Root of the mean square over the same (4.12), in the unit of x. A `replace` rotation leaves it as\n it is; in a model that no step has changed it is nearly the same in all phases.\n   values    result [N]\n Errors: STATE; UNSUPPORTED."]
    pub fn tpt_geometry_phase_rms(
        trainer: *const tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut f64,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Mean over tokens of the cosine between two phases (4.12), -1 to 1; 0 for one that is all 0.\n   values    result [N, N]\n   count     N x N\n Errors: STATE; UNSUPPORTED."]
    pub fn tpt_geometry_phase_cosine(
        trainer: *const tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut f64,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Sum over tokens of P mu^2 / sum over tokens of |x|^2: the share of the energy that is a phase's\n mean (4.12), 0 to 1; 0 where x is. The mean over D, where a DC profile is, has part of their sum:\n all where the phases' means are equal.\n   values    result [N]\n Errors: STATE; UNSUPPORTED."]
    pub fn tpt_geometry_dc_energy(
        trainer: *const tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut f64,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Mean over B and D at each position, in the unit of x; at the embedding it is r(p) (3.4).\n   values    result [T], T of the last forward\n Errors: STATE; UNSUPPORTED."]
    pub fn tpt_geometry_dc(
        trainer: *const tpt_trainer,
        point: tpt_point,
        layer: usize,
        values: *mut f32,
        count: usize,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " The zero-sum residual (3.4, 4.6), in the unit of x: the two agree to rounding. At T 1024 and N 3\n the horn gives 0.0220.\n   measured  result: sum of the phase means at the embedding of the last forward\n   analytic  result: N mean r(p) of the profile as it is now, NaN without one\n Errors: STATE."]
    pub fn tpt_geometry_zero_sum(
        trainer: *const tpt_trainer,
        measured: *mut f64,
        analytic: *mut f64,
    ) -> tpt_status;
}
extern "C" {
    #[doc = " Mean over tokens of |R h - h| / |h| (3.2, 4.12): how far a layer's rotation moves the stream, 0\n to 2; 0 without one. Where N > 1 and a pair's energy is the same in all phases it is the root of\n 2, whatever the angles. With a `residual` rotation it is |(h + R h) - h| / |h|, which is 1.\n   layer     0 to L - 1, else ARGUMENT\n   mean      result\n Errors: STATE; UNSUPPORTED: with train.recompute: block."]
    pub fn tpt_geometry_displacement(
        trainer: *const tpt_trainer,
        layer: usize,
        mean: *mut f64,
    ) -> tpt_status;
}
