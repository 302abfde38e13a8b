package lib3pt;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Text to ids and back. Immutable: any number of threads may use one. */
@Calls("tpt_tokenizer_destroy")
public final class Tokenizer extends Handle {
  private static final int BYTES_OF_TOKEN = 16; // a first guess: more is asked for

  private Tokenizer(MemorySegment pointer, Context context) {
    super(pointer, new Guard(), context, Native::tpt_tokenizer_destroy);
  }

  /** A function of C that makes a tokenizer. */
  private interface Maker {
    int make(Call call, MemorySegment context, MemorySegment place);
  }

  private static Tokenizer make(Context context, Maker maker) {
    return Context.with(context, c -> {
      try (Call call = new Call().shared(c).cancellable()) {
        MemorySegment place = call.place();
        call.check(maker.make(call, c.pointer, place));
        return call.made(new Tokenizer(place.get(ADDRESS, 0), c));
      }
    });
  }

  /**
   * 256 ids: a byte is its own id.
   *
   * @param context may be null
   * @return to be closed
   */
  @Calls("tpt_tokenizer_bytes")
  public static Tokenizer bytes(Context context) {
    return make(context, (call, c, place) -> Native.tpt_tokenizer_bytes(c, place));
  }

  /**
   * The same in a context of its own.
   *
   * @return to be closed
   */
  public static Tokenizer bytes() {
    return bytes(null);
  }

  /**
   * The commonest words of a text; id 0 is the unknown word.
   *
   * @param context may be null
   * @param text what is counted
   * @param vocab at most so many ids, 1 or more
   * @return to be closed
   * @throws TptException ARGUMENT, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_words")
  public static Tokenizer words(Context context, String text, long vocab) {
    byte[] bytes = Call.utf8(text, "text");
    return make(context,
        (call, c, place) -> Native.tpt_tokenizer_words(
            c, call.bytes(bytes), bytes.length, Call.size(vocab, "vocab"), place));
  }

  /**
   * Byte pairs, merged by how common they are in a text.
   *
   * @param context may be null
   * @param text what is counted
   * @param vocab at most so many ids, 256 or more
   * @return to be closed
   * @throws TptException ARGUMENT, MEMORY, UNSUPPORTED, CANCELLED
   */
  @Calls("tpt_tokenizer_bpe")
  public static Tokenizer bpe(Context context, String text, long vocab) {
    byte[] bytes = Call.utf8(text, "text");
    return make(context,
        (call, c, place) -> Native.tpt_tokenizer_bpe(
            c, call.bytes(bytes), bytes.length, Call.size(vocab, "vocab"), place));
  }

  /**
   * From a tokenizer.json.
   *
   * @param context may be null
   * @param path of the file
   * @return to be closed
   * @throws TptException IO, FORMAT, UNSUPPORTED, CANCELLED
   */
  @Calls("tpt_tokenizer_load")
  public static Tokenizer load(Context context, Path path) {
    return make(context, (call, c, place) -> Native.tpt_tokenizer_load(c, call.path(path), place));
  }

  /**
   * From the text of one.
   *
   * @param context may be null
   * @param json the text of the file
   * @return to be closed
   * @throws TptException FORMAT, UNSUPPORTED, CANCELLED
   */
  @Calls("tpt_tokenizer_parse")
  public static Tokenizer parse(Context context, String json) {
    byte[] bytes = Call.utf8(json, "json");
    return make(context,
        (call, c, place) -> Native.tpt_tokenizer_parse(c, call.bytes(bytes), bytes.length, place));
  }

  /**
   * Writes tokenizer.json, which appears whole or not at all.
   *
   * @param path of the file
   * @throws TptException IO, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_save")
  public void save(Path path) {
    try (Call call = new Call().shared(this).cancellable()) {
      call.check(Native.tpt_tokenizer_save(pointer, call.path(path)));
    }
  }

  /**
   * The text of that file.
   *
   * @return JSON
   */
  @Calls("tpt_tokenizer_format")
  public String format() {
    try (Call call = new Call().shared(this).cancellable()) {
      return call.string((text, room, length) -> Native.tpt_tokenizer_format(pointer, text, room, length));
    }
  }

  /**
   * Largest id + 1.
   *
   * @return the least model.vocab_size for its ids
   */
  @Calls("tpt_tokenizer_vocab_size")
  public long vocabSize() {
    try (Call call = new Call().shared(this)) {
      MemorySegment count = call.longs(0);
      call.check(Native.tpt_tokenizer_vocab_size(pointer, count));
      return count.get(JAVA_LONG, 0);
    }
  }

  /* ---- text to ids ---- */

  /** One of the two functions that encode. */
  private interface Encoder {
    int encode(MemorySegment tokenizer, MemorySegment text, long size, MemorySegment ids, long room,
        MemorySegment count);
  }

  private int[] encode(byte[] text, Encoder encoder) {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment bytes = call.bytes(Call.given(text, "text"));
      return call.idResult(
          (ids, room, count) -> encoder.encode(pointer, bytes, text.length, ids, room, count), text.length);
    }
  }

  /**
   * Ids of a text; added tokens in it are recognised.
   *
   * @param text any
   * @return ids
   * @throws TptException ARGUMENT, UNSUPPORTED, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_encode")
  public int[] encode(String text) {
    return encode(Call.utf8(text, "text"));
  }

  /**
   * The same of bytes: UTF-8, or any bytes for {@link #bytes}.
   *
   * @param text bytes
   * @return ids
   */
  @Calls("tpt_tokenizer_encode")
  public int[] encode(byte[] text) {
    return encode(text, Native::tpt_tokenizer_encode);
  }

  /**
   * Ids of a text whose special tokens are plain text: for text from strangers.
   *
   * @param text any
   * @return ids
   * @throws TptException ARGUMENT, UNSUPPORTED, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_encode_text")
  public int[] encodeText(String text) {
    return encodeText(Call.utf8(text, "text"));
  }

  /**
   * The same of bytes.
   *
   * @param text bytes
   * @return ids
   */
  @Calls("tpt_tokenizer_encode_text")
  public int[] encodeText(byte[] text) {
    return encode(text, Native::tpt_tokenizer_encode_text);
  }

  /* ---- ids to text ---- */

  /**
   * Text of ids, without special tokens.
   *
   * @param ids below {@link #vocabSize}
   * @return a text; bytes that are not UTF-8 are U+FFFD
   * @throws TptException ARGUMENT, UNSUPPORTED, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_decode")
  public String decode(int... ids) {
    return new String(decodeBytes(ids), StandardCharsets.UTF_8);
  }

  /**
   * The same as bytes: those of {@link #bytes} come back as they were.
   *
   * @param ids below {@link #vocabSize}
   * @return bytes
   */
  @Calls("tpt_tokenizer_decode")
  public byte[] decodeBytes(int... ids) {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment given = call.ints(ids, "ids");
      return call.result(
          (text, room, length) -> Native.tpt_tokenizer_decode(pointer, given, ids.length, text, room, length),
          1L + (long) BYTES_OF_TOKEN * ids.length);
    }
  }

  /**
   * What the ids from done on add to the text of those before, for streaming; a character that is not
   * complete is held back.
   *
   * @param ids all so far
   * @param done how many of them are written already
   * @return a text, perhaps ""
   * @throws TptException ARGUMENT, UNSUPPORTED, MEMORY, CANCELLED
   */
  @Calls("tpt_tokenizer_decode_tail")
  public String decodeTail(int[] ids, long done) {
    return new String(decodeTailBytes(ids, done), StandardCharsets.UTF_8);
  }

  /**
   * The same as bytes.
   *
   * @param ids all so far
   * @param done how many of them are written already
   * @return bytes
   */
  @Calls("tpt_tokenizer_decode_tail")
  public byte[] decodeTailBytes(int[] ids, long done) {
    try (Call call = new Call().shared(this).cancellable()) {
      MemorySegment given = call.ints(ids, "ids");
      long written = Call.size(done, "done");
      return call.result((text, room, length) -> Native.tpt_tokenizer_decode_tail(
          pointer, given, ids.length, written, text, room, length),
          1L + BYTES_OF_TOKEN * Math.clamp(ids.length - written, 1, ids.length + 1L));
    }
  }

  /**
   * Id of a token.
   *
   * @param token as tokenizer.json spells it
   * @return its id
   * @throws TptException ARGUMENT: there is none
   */
  @Calls("tpt_tokenizer_id")
  public int id(String token) {
    try (Call call = new Call().shared(this)) {
      MemorySegment id = call.ints(0);
      call.check(Native.tpt_tokenizer_id(pointer, call.text(token, "token"), id));
      return id.get(JAVA_INT, 0);
    }
  }

  /**
   * The token of an id.
   *
   * @param id below {@link #vocabSize}
   * @return as tokenizer.json spells it
   * @throws TptException ARGUMENT: no token has this id
   */
  @Calls("tpt_tokenizer_token")
  public String token(int id) {
    try (Call call = new Call().shared(this)) {
      return call.string((text, room, length) -> Native.tpt_tokenizer_token(pointer, id, text, room, length));
    }
  }
}
