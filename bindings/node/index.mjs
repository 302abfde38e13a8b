/* The same objects as require('lib3pt') gives. */
import lib from './index.js';

export const {
  useLibrary, version, buildInfo, statusName, errorMessage, checkVersion, Status, Point, MemoryUse, TptError,
  HandleError, memory, Context, Config, Model, Trainer, Optimizer, Decoder, Dataset, Tokenizer,
} = lib;
