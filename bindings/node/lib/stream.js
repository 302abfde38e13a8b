/* Text that comes piece by piece, as a stream. */
'use strict';
const { Readable } = require('node:stream');

/* Its end, by whatever, ends the call that runs for it and waits for that one: a loop that was left, or the event
 * 'close', finds the decoder free. */
class TextStream extends Readable {
  #ender = new AbortController();
  #signal;
  #follow = () => this.#ender.abort(this.#signal.reason);
  #pieces;
  #closed;

  /* start(signal) gives the pieces; `signal` is the caller's, or undefined. */
  constructor(start, signal) {
    super({ encoding: 'utf8' });
    this.#closed = new Promise(resolve => this.once('close', resolve));
    this.#signal = signal;
    signal?.addEventListener('abort', this.#follow, { once: true });
    if (signal?.aborted) this.#follow();
    this.#pieces = start(this.#ender.signal);
  }

  async _read() {
    try {
      const text = await this.#nextText();
      if (!this.destroyed) this.push(text);
    } catch (error) {
      this.destroy(error);
    }
  }

  /* null at the end. A token that is part of a character has no text. */
  async #nextText() {
    for (;;) {
      const { value, done } = await this.#pieces.next();
      if (done) return null;
      if (value.text) return Buffer.from(value.text);
    }
  }

  _destroy(error, callback) {
    const end = () => process.nextTick(callback, error); // what it throws is no rejection
    this.#signal?.removeEventListener('abort', this.#follow);
    this.#ender.abort();
    this.#pieces.return().then(end, end);
  }

  async *[Symbol.asyncIterator]() {
    try {
      yield* super[Symbol.asyncIterator]();
    } finally {
      await this.#closed;
    }
  }
}

module.exports = { TextStream };
