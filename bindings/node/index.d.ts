/* Types of lib3pt for Node.js. What each call does is in 3pt.h, under the name that lib/names.js gives. Options are
 * plain objects; what is none, or has a name that is not here for the method, is refused with a TypeError. */
/// <reference types="node" />
import type { Readable } from 'node:stream';

/** Ids of tokens: copied before the call begins. */
export type Tokens = Int32Array | Iterable<number>;
export type Floats = Float32Array | Iterable<number>;
/** 64 bits without a sign; a number where it is exact. */
export type Uint64 = bigint | number;
export type Path = string | Uint8Array | URL;
export type Text = string | Uint8Array;

export interface Signal {
  /** Its abort ends the call, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}
export interface Maker {
  /** Without it the object has a context of its own. */
  context?: Context;
}
export interface Described {
  config?: Config;
}

export declare const Status: Readonly<{
  OK: 0; ARGUMENT: 1; MEMORY: 2; IO: 3; FORMAT: 4; CONFIG: 5; STATE: 6; UNSUPPORTED: 7; NUMERIC: 8; CANCELLED: 9;
  INTERNAL: 10;
}>;
export declare const Point: Readonly<{ EMBEDDING: 0; ATTENTION: 1; ROTATION: 2; BLOCK: 3 }>;
export declare const MemoryUse: Readonly<{ INFERENCE: 0; TRAINING: 1 }>;
export type Point = (typeof Point)[keyof typeof Point];
export type MemoryUse = (typeof MemoryUse)[keyof typeof MemoryUse];

/** A call that failed. code is the name of its status: "TPT_E_IO". */
export declare class TptError extends Error {
  readonly status: number;
  readonly code: string;
}
/** A handle that is closed or in use; the library was not called. */
export declare class HandleError extends Error {
  readonly code: 'ERR_TPT_CLOSED' | 'ERR_TPT_BUSY';
}

/** The library's file; before any other call. Else LIB3PT_LIBRARY names it, else the system finds it. */
export declare function useLibrary(file: string): void;
export declare function version(): string;
export declare function buildInfo(): string;
export declare function statusName(status: number): string;
export declare function errorMessage(): string;
export declare function checkVersion(major: number, minor: number, patch: number): void;

/** Memory of the C library, for an allocator. An address is a number, 0 for none. */
export declare const memory: {
  allocate(bytes: number, alignment: number): number;
  release(address: number): void;
};

declare abstract class Handle implements Disposable, AsyncDisposable {
  /** Gives the handle back, now or when the call that uses it ends. May be called again. */
  close(): void;
  readonly closed: boolean;
  /** Text of the last call on this handle that failed, '' before. */
  lastError(): string;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Functions that give what they give at once: an async one is refused. */
export interface Allocator {
  allocate(bytes: number, alignment: number): number;
  release(address: number, bytes: number, alignment: number): void;
}
/** level: 0 error, 1 warning, 2 info, 3 debug */
export type Log = (level: number, text: string) => void;
/** done: 0 to 1, or NaN. true ends the call; a promise is an error of the call. */
export type Progress = (done: number) => boolean | void;

export declare class Context extends Handle {
  private constructor();
  static create(options?: { threads?: number; log?: Log; progress?: Progress }): Context;
  setThreads(threads: number): void;
  threads(): number;
  setAllocator(allocator: Allocator): void;
  setLog(log: Log | null): void;
  /** In a worker, promises of a context with a log, progress or allocator function are refused: use the Sync calls. */
  setProgress(progress: Progress | null): void;
  cancel(on?: boolean): void;
}

export declare class Config extends Handle {
  private constructor();
  static create(): Config;
  static preset(name: string): Config;
  static presetName(index: number): string | null;
  static presetNames(): string[];
  static load(path: Path): Config;
  static parse(yaml: Text): Config;
  copy(): Config;
  /** A text is YAML; numbers, truth values and lists are written as YAML. */
  set(key: string, value: string | number | boolean | readonly number[]): this;
  get(key: string): string;
  format(): string;
  check(): void;
  parameterCount(): number;
  memory(use: MemoryUse): number;
}

export interface TensorInfo {
  name: string;
  shape: number[];
  offset: number;
  count: number;
}
export interface Evaluation {
  loss: number;
  perplexity: number;
  tokens: bigint;
}
export interface Drift {
  start: number;
  mean: number;
  l2: number;
  max: number;
}
export interface EvaluateOptions extends Described {
  seq: number;
  maxWindows?: number;
}
export type Precision = 'f32' | 'bf16' | 'int8';

export declare class Model extends Handle {
  private constructor();
  static create(config: Config, options?: Maker & Signal & { seed?: Uint64 }): Promise<Model>;
  static createSync(config: Config, options?: Maker & { seed?: Uint64 }): Model;
  static load(path: Path, options?: Maker & Described & Signal): Promise<Model>;
  static loadSync(path: Path, options?: Maker & Described): Model;
  static loadMemory(data: Text, options?: Maker & Described & Signal): Promise<Model>;
  static loadMemorySync(data: Text, options?: Maker & Described): Model;
  save(path: Path, options?: Signal): Promise<void>;
  saveSync(path: Path): void;
  saveMemory(options?: Signal): Promise<Buffer>;
  saveMemorySync(): Buffer;
  fold(options?: Signal): Promise<Model>;
  foldSync(): Model;
  convert(precision: Precision, options?: Signal): Promise<Model>;
  convertSync(precision: Precision): Model;
  evaluate(dataset: Dataset, options: EvaluateOptions & Signal): Promise<Evaluation>;
  evaluateSync(dataset: Dataset, options: EvaluateOptions): Evaluation;
  /** A copy of the model's own description. */
  config(): Config;
  tensorCount(): number;
  tensorInfo(index: number): TensorInfo;
  tensors(): TensorInfo[];
  getTensor(name: string): Float32Array;
  setTensor(name: string, values: Floats): void;
  /** A copy. */
  parameters(): Float32Array;
  /** The parameters in place, to be read and written between calls. It holds their memory, also after the close. */
  parametersView(): Float32Array;
  dcProfile(first: number, count: number): Float32Array;
  theta(layer: number): Float32Array;
  angles(layer: number, phase: number): Float32Array;
  drift(layer: number): Drift;
}

export declare class Trainer extends Handle {
  private constructor();
  static create(model: Model, options?: Described & Signal): Promise<Trainer>;
  static createSync(model: Model, options?: Described): Trainer;
  forward(tokens: Tokens, batch: number, seq: number, options?: Signal): Promise<void>;
  forwardSync(tokens: Tokens, batch: number, seq: number): void;
  logits(options?: Signal): Promise<Float32Array>;
  logitsSync(): Float32Array;
  loss(targets: Tokens, options?: Signal): Promise<number>;
  lossSync(targets: Tokens): number;
  backward(options?: Signal): Promise<void>;
  backwardSync(): void;
  backwardLogits(dlogits: Floats, options?: Signal): Promise<void>;
  backwardLogitsSync(dlogits: Floats): void;
  accumulate(tokens: Tokens, targets: Tokens, batch: number, seq: number, options?: Signal): Promise<number>;
  accumulateSync(tokens: Tokens, targets: Tokens, batch: number, seq: number): number;
  zeroGradients(options?: Signal): Promise<void>;
  zeroGradientsSync(): void;
  saveCheckpoint(optimizer: Optimizer, path: Path, user?: Text, options?: Signal): Promise<void>;
  saveCheckpointSync(optimizer: Optimizer, path: Path, user?: Text): void;
  /** The bytes that saveCheckpoint was given. Where these are more than 4096 the file is read twice, and what ends the
   * second time leaves the trainer as the first has made it. */
  loadCheckpoint(optimizer: Optimizer, path: Path, options?: Signal): Promise<Buffer>;
  loadCheckpointSync(optimizer: Optimizer, path: Path): Buffer;
  /** A copy. */
  gradients(): Float32Array;
  /** The gradients in place, to be read and written between calls. It holds their memory, also after the close. */
  gradientsView(): Float32Array;
  getGradient(name: string): Float32Array;
  activation(point: Point, layer: number): Float32Array;
  phaseMeans(point: Point, layer: number): Float64Array;
  phaseRms(point: Point, layer: number): Float64Array;
  phaseCosine(point: Point, layer: number): Float64Array;
  dcEnergy(point: Point, layer: number): Float64Array;
  dc(point: Point, layer: number): Float32Array;
  zeroSum(): { measured: number; analytic: number };
  displacement(layer: number): number;
}

export declare class Optimizer extends Handle {
  private constructor();
  static create(trainer: Trainer, options?: Described & Signal): Promise<Optimizer>;
  static createSync(trainer: Trainer, options?: Described): Optimizer;
  /** The gradients' norm before clipping. */
  step(): Promise<number>;
  stepSync(): number;
  setLr(lr: number): void;
  lr(): number;
  stepCount(): bigint;
}

export interface Sampling {
  /** 0 is greedy, 1 the default here. */
  temperature?: number;
  topK?: number;
  topP?: number;
  seed?: Uint64;
}
export interface GenerateOptions {
  /** Ends the call once it has come, and is the last that is made. A token's id, by name only. */
  stop?: number;
  /** Is given what is made, also where the call fails. An array that can grow. */
  into?: number[];
}
export interface PiecesOptions extends Signal {
  count?: number;
  /** Ids of tokens: each of them ends it. */
  stop?: Tokens;
}
export interface Piece {
  id: number;
  text: string;
}

export declare class Decoder extends Handle {
  private constructor();
  static create(model: Model, options?: { maxPositions?: number }): Promise<Decoder>;
  static createSync(model: Model, options?: { maxPositions?: number }): Decoder;
  feed(tokens: Tokens, options: { logits: true } & Signal): Promise<Float32Array>;
  feed(tokens: Tokens, options?: { logits?: false } & Signal): Promise<void>;
  feedSync(tokens: Tokens, options: { logits: true }): Float32Array;
  feedSync(tokens: Tokens, options?: { logits?: false }): void;
  static feedMany(decoders: Iterable<Decoder>, tokens: Tokens, options: { logits: true } & Signal): Promise<Float32Array[]>;
  static feedMany(decoders: Iterable<Decoder>, tokens: Tokens, options?: { logits?: false } & Signal): Promise<void>;
  static feedManySync(decoders: Iterable<Decoder>, tokens: Tokens, options: { logits: true }): Float32Array[];
  static feedManySync(decoders: Iterable<Decoder>, tokens: Tokens, options?: { logits?: false }): void;
  score(tokens: Tokens, options?: Signal): Promise<Float64Array>;
  scoreSync(tokens: Tokens): Float64Array;
  copyTo(target: Decoder): void;
  rewind(position: number): void;
  position(): number;
  setSampling(sampling?: Sampling): void;
  sample(): number;
  /** Samples a token and feeds it, `count` times in one call. A failure loses nothing; a later call goes on. */
  generate(count: number, options?: GenerateOptions & Signal): Promise<Int32Array>;
  generateSync(count: number, options?: GenerateOptions): Int32Array;
  /** Feeds a prompt, then gives what it samples and feeds, one by one. */
  pieces(tokenizer: Tokenizer, prompt: Tokens, options?: PiecesOptions): AsyncGenerator<Piece, void, undefined>;
  /** The text of pieces. Its end by break, destroy or an error ends the call that runs: after the loop, or 'close', the
   * decoder is free. */
  stream(tokenizer: Tokenizer, prompt: Tokens, options?: PiecesOptions): Readable;
}

export interface Batch {
  tokens: Int32Array;
  targets: Int32Array;
}

export declare class Dataset extends Handle {
  private constructor();
  static open(path: Path, options?: Maker & Signal): Promise<Dataset>;
  static openSync(path: Path, options?: Maker): Dataset;
  static fromTokens(tokens: Tokens, options?: Maker & Signal): Promise<Dataset>;
  static fromTokensSync(tokens: Tokens, options?: Maker): Dataset;
  count(): number;
  windowCount(seq: number): number;
  /** state is for the next call. */
  random(state: Uint64, batch: number, seq: number): Promise<Batch & { state: bigint }>;
  randomSync(state: Uint64, batch: number, seq: number): Batch & { state: bigint };
  window(index: number, seq: number): Promise<Batch>;
  windowSync(index: number, seq: number): Batch;
}

export interface AsBytes {
  bytes: true;
}

export declare class Tokenizer extends Handle {
  private constructor();
  static bytes(options?: Maker): Promise<Tokenizer>;
  static bytesSync(options?: Maker): Tokenizer;
  static words(text: Text, vocab: number, options?: Maker & Signal): Promise<Tokenizer>;
  static wordsSync(text: Text, vocab: number, options?: Maker): Tokenizer;
  static bpe(text: Text, vocab: number, options?: Maker & Signal): Promise<Tokenizer>;
  static bpeSync(text: Text, vocab: number, options?: Maker): Tokenizer;
  static load(path: Path, options?: Maker & Signal): Promise<Tokenizer>;
  static loadSync(path: Path, options?: Maker): Tokenizer;
  static parse(json: Text, options?: Maker & Signal): Promise<Tokenizer>;
  static parseSync(json: Text, options?: Maker): Tokenizer;
  save(path: Path, options?: Signal): Promise<void>;
  saveSync(path: Path): void;
  format(options?: Signal): Promise<string>;
  formatSync(): string;
  encode(text: Text, options?: Signal): Promise<Int32Array>;
  encodeSync(text: Text): Int32Array;
  encodeText(text: Text, options?: Signal): Promise<Int32Array>;
  encodeTextSync(text: Text): Int32Array;
  decode(ids: Tokens, options: AsBytes & Signal): Promise<Buffer>;
  decode(ids: Tokens, options?: Signal): Promise<string>;
  decodeSync(ids: Tokens, options: AsBytes): Buffer;
  decodeSync(ids: Tokens): string;
  decodeTail(ids: Tokens, done: number, options: AsBytes & Signal): Promise<Buffer>;
  decodeTail(ids: Tokens, done: number, options?: Signal): Promise<string>;
  decodeTailSync(ids: Tokens, done: number, options: AsBytes): Buffer;
  decodeTailSync(ids: Tokens, done: number): string;
  vocabSize(): number;
  id(token: string): number;
  token(id: number): string;
}
