//! Text to ids and back.
use std::path::Path;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::context::{self, Context};
use crate::error::Result;
use crate::gate::Read;
use crate::handle::{self, c_path, c_text, common, start, text_start, whole_text, Owned};

/// Immutable. A cheap handle: a clone is the same tokenizer, for any thread.
///
/// Texts are `impl AsRef<[u8]>`, UTF-8; [`Tokenizer::bytes`] takes any bytes.
///
/// ```
/// let tokenizer = lib3pt::Tokenizer::words(None, "one two two", 8)?;
/// assert_eq!(tokenizer.encode("two one three")?, [1, 2, 0]); // 0 is the unknown word
/// assert_eq!(tokenizer.token(1)?, "two");
/// # Ok::<(), lib3pt::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "tpt_tokenizer_destroy")]
pub struct Tokenizer {
    raw: Arc<Owned<sys::tpt_tokenizer>>,
}

common!(Tokenizer, tpt_tokenizer, raw);

type Encode = unsafe extern "C" fn(
    *const sys::tpt_tokenizer,
    *const std::ffi::c_char,
    usize,
    *mut i32,
    usize,
    *mut usize,
) -> sys::tpt_status;

fn made<'a>(
    context: impl Into<Option<&'a Context>>,
    run: impl FnOnce(*mut sys::tpt_context, *mut *mut sys::tpt_tokenizer) -> sys::tpt_status,
) -> Result<Tokenizer> {
    let (raw, shared) = context::of(context.into());
    let _inside = shared.gate.read()?;
    Ok(Tokenizer { raw: Arc::new(handle::make(&shared, |at| run(raw, at))?) })
}

impl Tokenizer {
    fn inside(&self) -> Result<Read<'_>> {
        self.raw.shared.gate.read()
    }

    /// 256 ids: a byte is its own id.
    #[doc(alias = "tpt_tokenizer_bytes")]
    pub fn bytes<'a>(context: impl Into<Option<&'a Context>>) -> Result<Tokenizer> {
        // SAFETY: a live handle or NULL, so many bytes, a place for the result; here and below.
        made(context, |context, at| unsafe { sys::tpt_tokenizer_bytes(context, at) })
    }

    /// The commonest words of a text; id 0 is the unknown word.
    #[doc(alias = "tpt_tokenizer_words")]
    pub fn words<'a>(
        context: impl Into<Option<&'a Context>>,
        text: impl AsRef<[u8]>,
        vocab: usize,
    ) -> Result<Tokenizer> {
        let text = text.as_ref();
        made(context, |context, at| unsafe {
            sys::tpt_tokenizer_words(context, text_start(text), text.len(), vocab, at)
        })
    }

    /// Byte-level BPE of a text; the first 256 ids are the bytes'.
    #[doc(alias = "tpt_tokenizer_bpe")]
    pub fn bpe<'a>(
        context: impl Into<Option<&'a Context>>,
        text: impl AsRef<[u8]>,
        vocab: usize,
    ) -> Result<Tokenizer> {
        let text = text.as_ref();
        made(context, |context, at| unsafe {
            sys::tpt_tokenizer_bpe(context, text_start(text), text.len(), vocab, at)
        })
    }

    /// From a tokenizer.json.
    #[doc(alias = "tpt_tokenizer_load")]
    pub fn load<'a>(
        context: impl Into<Option<&'a Context>>,
        path: impl AsRef<Path>,
    ) -> Result<Tokenizer> {
        let path = c_path(path.as_ref())?;
        made(context, |context, at| unsafe { sys::tpt_tokenizer_load(context, path.as_ptr(), at) })
    }

    /// The same from its text.
    #[doc(alias = "tpt_tokenizer_parse")]
    pub fn parse<'a>(
        context: impl Into<Option<&'a Context>>,
        json: impl AsRef<[u8]>,
    ) -> Result<Tokenizer> {
        let json = json.as_ref();
        made(context, |context, at| unsafe {
            sys::tpt_tokenizer_parse(context, json.as_ptr().cast(), json.len(), at)
        })
    }

    /// Writes tokenizer.json, whole or not at all.
    #[doc(alias = "tpt_tokenizer_save")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = c_path(path.as_ref())?;
        let _inside = self.inside()?;
        // SAFETY: a live handle; const; here and below.
        handle::call(|| unsafe { sys::tpt_tokenizer_save(self.as_ptr(), path.as_ptr()) })
    }

    /// The text of tokenizer.json.
    #[doc(alias = "tpt_tokenizer_format")]
    pub fn format(&self) -> Result<String> {
        let _inside = self.inside()?;
        handle::text(|at, room, length| unsafe {
            sys::tpt_tokenizer_format(self.as_ptr(), at, room, length)
        })
    }

    /// Largest id + 1: the least model.vocab_size for its ids.
    #[doc(alias = "tpt_tokenizer_vocab_size")]
    pub fn vocab_size(&self) -> Result<usize> {
        let _inside = self.inside()?;
        let mut count = 0;
        handle::call(|| unsafe { sys::tpt_tokenizer_vocab_size(self.as_ptr(), &mut count) })?;
        Ok(count)
    }

    fn ids(&self, run: Encode, text: &[u8]) -> Result<Vec<i32>> {
        let _inside = self.inside()?;
        let mut ids = handle::room::<i32>(text.len())?; // a byte is seldom more than an id
        let mut count = 0;
        let mut encode = |ids: &mut Vec<i32>| {
            handle::call(|| unsafe {
                let (at, room) = (ids.as_mut_ptr(), ids.len());
                run(self.as_ptr(), text_start(text), text.len(), at, room, &mut count)
            })?;
            Ok(count)
        };
        let whole = encode(&mut ids)?;
        if whole > ids.len() {
            ids = handle::room(whole)?;
            encode(&mut ids)?;
        }
        ids.truncate(whole);
        Ok(ids)
    }

    /// Ids of a text. Added tokens in the text are recognised, none is put in.
    #[doc(alias = "tpt_tokenizer_encode")]
    pub fn encode(&self, text: impl AsRef<[u8]>) -> Result<Vec<i32>> {
        self.ids(sys::tpt_tokenizer_encode, text.as_ref())
    }

    /// The same with special tokens read as plain text: for untrusted text.
    #[doc(alias = "tpt_tokenizer_encode_text")]
    pub fn encode_text(&self, text: impl AsRef<[u8]>) -> Result<Vec<i32>> {
        self.ids(sys::tpt_tokenizer_encode_text, text.as_ref())
    }

    /// Text of ids, special tokens left out; what is not UTF-8 becomes U+FFFD.
    #[doc(alias = "tpt_tokenizer_decode")]
    pub fn decode(&self, ids: &[i32]) -> Result<String> {
        self.decode_bytes(ids).map(whole_text)
    }

    /// The same; [`Tokenizer::bytes`] gives its bytes back as they were.
    pub fn decode_bytes(&self, ids: &[i32]) -> Result<Vec<u8>> {
        let _inside = self.inside()?;
        handle::bytes(room_for(ids.len()), |at, room, length| unsafe {
            sys::tpt_tokenizer_decode(self.as_ptr(), start(ids), ids.len(), at, room, length)
        })
    }

    /// What `ids[done..]` add to the text of `ids[..done]`; a character not yet complete is held
    /// back until the id that ends it. For streaming: [`Decoder::stream`](crate::Decoder::stream).
    #[doc(alias = "tpt_tokenizer_decode_tail")]
    pub fn decode_tail(&self, ids: &[i32], done: usize) -> Result<String> {
        self.decode_tail_bytes(ids, done).map(whole_text)
    }

    /// The same; [`Tokenizer::bytes`] gives its bytes back as they were.
    pub fn decode_tail_bytes(&self, ids: &[i32], done: usize) -> Result<Vec<u8>> {
        let _inside = self.inside()?;
        handle::bytes(room_for(ids.len().saturating_sub(done)), |at, room, length| unsafe {
            let (values, count) = (start(ids), ids.len());
            sys::tpt_tokenizer_decode_tail(self.as_ptr(), values, count, done, at, room, length)
        })
    }

    /// Id of a token as tokenizer.json spells it.
    #[doc(alias = "tpt_tokenizer_id")]
    pub fn token_id(&self, token: &str) -> Result<i32> {
        let token = c_text("token", token)?;
        let _inside = self.inside()?;
        let mut id = 0;
        handle::call(|| unsafe { sys::tpt_tokenizer_id(self.as_ptr(), token.as_ptr(), &mut id) })?;
        Ok(id)
    }

    /// The other way.
    #[doc(alias = "tpt_tokenizer_token")]
    pub fn token(&self, id: i32) -> Result<String> {
        let _inside = self.inside()?;
        handle::text(|at, room, length| unsafe {
            sys::tpt_tokenizer_token(self.as_ptr(), id, at, room, length)
        })
    }
}

/// Bytes that this many ids mostly fit in.
fn room_for(ids: usize) -> usize {
    ids.saturating_mul(8).clamp(16, 1 << 20)
}
