/* A program that tsc --strict must accept, and lines that it must not. */
import { Config, Context, Dataset, Decoder, MemoryUse, Model, Optimizer, Point, Status, Tokenizer, Trainer, TptError } from 'lib3pt';
import type { Batch, Evaluation, Piece, TensorInfo } from 'lib3pt';

export async function program(signal: AbortSignal): Promise<string> {
  const context: Context = Context.create({ threads: 2, log: (level: number, text: string) => void [level, text] });
  const config = Config.preset('3pt-5m').set('train.batch', 2).set('train.lr', '1e-2');
  const bytes: number = config.memory(MemoryUse.TRAINING);
  const tokenizer = await Tokenizer.bytes({ context });
  const ids: Int32Array = await tokenizer.encode('three', { signal });
  const data = await Dataset.fromTokens(ids, { context });
  const model = await Model.create(config, { context, seed: 1n, signal });
  const trainer = await Trainer.create(model), optimizer: Optimizer = Optimizer.createSync(trainer);
  const batch: Batch & { state: bigint } = data.randomSync(7n, 1, 2);
  const loss: number = await trainer.accumulate(batch.tokens, batch.targets, 1, 2, { signal });
  const norm: number = await optimizer.step(), steps: bigint = optimizer.stepCount();
  const means: Float64Array = trainer.phaseMeans(Point.BLOCK, 0);
  const evaluation: Evaluation = await model.evaluate(data, { seq: 2 });
  const tensors: TensorInfo[] = model.tensors();
  const decoder = await Decoder.create(model, { maxPositions: 8 });
  const logits: Float32Array = await decoder.feed([1], { logits: true });
  const nothing: void = await decoder.feed([1]);
  const raw: Buffer = await tokenizer.decode(ids, { bytes: true }), text: string = tokenizer.decodeSync(ids);
  const made: Int32Array = await decoder.generate(2, { stop: 3, into: [...ids], signal });
  const more: Int32Array = decoder.generateSync(2);
  for await (const piece of decoder.pieces(tokenizer, ids, { count: 2, signal })) {
    const { id, text: added }: Piece = piece;
    void [id, added];
  }
  try {
    decoder.rewind(9);
  } catch (error) {
    if (error instanceof TptError && error.status === Status.ARGUMENT) return error.code;
  }
  decoder.close();
  void [bytes, loss, norm, steps, means, evaluation.tokens, tensors, logits, nothing, raw, made, more];
  return text;
}

export function refused(model: Model, decoder: Decoder): void {
  // @ts-expect-error: a maker is the only way
  new Model();
  // @ts-expect-error: a precision that is none
  model.convertSync('f16');
  // @ts-expect-error: text is no list of ids
  decoder.feedSync({});
  // @ts-expect-error: stop is an option, and no argument
  decoder.generateSync(4, 5);
  // @ts-expect-error: an option that is none
  decoder.generateSync(4, { stopp: 5 });
  // @ts-expect-error: a call on this thread has no signal
  decoder.generateSync(4, { signal: AbortSignal.timeout(5) });
  // @ts-expect-error: a promise is no answer
  Context.create({ progress: async () => true });
  // @ts-expect-error: a point that is none
  Trainer.createSync(model).phaseMeans(4, 0);
  // @ts-expect-error: nothing comes without { logits: true }
  const logits: Float32Array = decoder.feedSync([1]);
  void logits;
}
