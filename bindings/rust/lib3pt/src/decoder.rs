//! A sequence in progress.
use std::slice;
use std::sync::Arc;

use lib3pt_sys as sys;

use crate::callback;
use crate::error::{Error, Result};
use crate::gate::Read;
use crate::handle::{self, check_count, common, Owned};
use crate::model::{Inner, Model};
use crate::tokenizer::Tokenizer;

/// How a decoder chooses a token; the default is greedy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 (default): greedy; logits are divided by it.
    pub temperature: f64,
    /// So many candidates, the likeliest; 0 (default): all.
    pub top_k: i32,
    /// The smallest set whose share reaches this; 1 (default): all.
    pub top_p: f64,
    /// Of the draws.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { temperature: 0.0, top_k: 0, top_p: 1.0, seed: 0 }
    }
}

/// Keys and values of a sequence's tokens, the logits after the last, a sampler.
///
/// ```
/// use lib3pt::{Config, Decoder, Model, Sampling};
/// let config = Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24, max_seq_len: 16}")?;
/// let model = Model::create(None, &config, 1)?;
/// let mut decoder = Decoder::create(&model, 0)?;
/// decoder.set_sampling(Sampling { temperature: 0.8, top_k: 40, seed: 1, ..Default::default() })?;
/// assert_eq!(decoder.feed(&[1, 2, 3])?.len(), 64); // [V]
/// let mut ids = Vec::new();
/// decoder.generate(4, None, &mut ids)?;
/// assert_eq!((ids.len(), decoder.position()?), (4, 7));
/// # Ok::<(), lib3pt::Error>(())
/// ```
///
/// Logits are borrowed until the next call:
///
/// ```compile_fail,E0499
/// # fn stale(decoder: &mut lib3pt::Decoder) -> lib3pt::Result<f32> {
/// let logits = decoder.feed(&[1])?;
/// decoder.feed(&[2])?;
/// Ok(logits[0])
/// # }
/// ```
#[doc(alias = "tpt_decoder_destroy")]
pub struct Decoder {
    raw: Owned<sys::tpt_decoder>,
    model: Arc<Inner>,
    room: usize, // max_positions
}

common!(Decoder, tpt_decoder, raw);

impl Decoder {
    fn inside(&self) -> Result<Read<'_>> {
        self.raw.shared.gate.read()
    }

    /// An empty sequence, greedy; `max_positions` 0: max_seq_len.
    #[doc(alias = "tpt_decoder_create")]
    pub fn create(model: &Model, max_positions: usize) -> Result<Decoder> {
        let _inside = model.inner.reading()?;
        // SAFETY: a live handle; const.
        let raw = handle::make(&model.inner.raw.shared, |at| unsafe {
            sys::tpt_decoder_create(model.as_ptr(), max_positions, at)
        })?;
        let room = if max_positions > 0 { max_positions } else { model.inner.dims.max_seq };
        Ok(Decoder { raw, model: model.inner.clone(), room })
    }

    /// The model that it reads.
    pub fn model(&self) -> Model {
        Model { inner: self.model.clone() }
    }

    /// Makes `target`, of the same model and long enough, the same sequence: a way to branch.
    #[doc(alias = "tpt_decoder_copy")]
    pub fn copy_to(&self, target: &mut Decoder) -> Result<()> {
        let _inside = self.inside()?;
        // SAFETY: live handles, the target exclusive, which is another than the source.
        handle::call(|| unsafe { sys::tpt_decoder_copy(self.as_ptr(), target.as_ptr()) })
    }

    /// A prompt or one token; gives the logits `[V]` after the last. A failed feed leaves all as it
    /// was.
    #[doc(alias = "tpt_decoder_feed")]
    pub fn feed(&mut self, tokens: &[i32]) -> Result<&[f32]> {
        let _inside = self.model.reading()?;
        let mut logits = std::ptr::null();
        // SAFETY: a live handle, exclusive by `&mut`, its weights by the gate; here and below.
        handle::call(|| unsafe {
            sys::tpt_decoder_feed(self.as_ptr(), tokens.as_ptr(), tokens.len(), &mut logits)
        })?;
        // SAFETY: valid until the next call on the decoder, which `&mut self` rules out.
        Ok(unsafe { slice::from_raw_parts(logits, self.model.dims.vocab) })
    }

    /// `tokens[i]` to `decoders[i]`, all of one model, with the bits of single feeds; all or none
    /// move. Gives the logits `[V]` of each. The weights are read once for many of them.
    ///
    /// ```
    /// # use lib3pt::{Config, Decoder, Model};
    /// # let config = Config::parse("model: {vocab_size: 64, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24}")?;
    /// # let model = Model::create(None, &config, 1)?;
    /// let (mut a, mut b) = (Decoder::create(&model, 8)?, Decoder::create(&model, 8)?);
    /// let logits = Decoder::feed_many([&mut a, &mut b], &[1, 2])?;
    /// assert_eq!((logits.len(), logits[1].len()), (2, 64));
    /// # Ok::<(), lib3pt::Error>(())
    /// ```
    #[doc(alias = "tpt_decoder_feed_many")]
    pub fn feed_many<'a>(
        decoders: impl IntoIterator<Item = &'a mut Decoder>,
        tokens: &[i32],
    ) -> Result<Vec<&'a [f32]>> {
        // Taken by value, so that nobody can use one while its logits are borrowed.
        let decoders: Vec<&'a mut Decoder> = decoders.into_iter().collect();
        check_count("tokens", tokens.len(), "one for each of decoders", decoders.len())?;
        let first = decoders.first().ok_or_else(|| Error::argument("decoders is empty"))?;
        let _inside = first.model.reading()?;
        let handles: Vec<_> = decoders.iter().map(|decoder| decoder.as_ptr()).collect();
        let mut logits = vec![std::ptr::null(); handles.len()];
        handle::call(|| unsafe {
            let (tokens, logits) = (tokens.as_ptr(), logits.as_mut_ptr());
            sys::tpt_decoder_feed_many(handles.as_ptr(), handles.len(), tokens, logits)
        })?;
        let vocab = first.model.dims.vocab;
        // SAFETY: as of a feed; the decoders are borrowed for 'a.
        Ok(logits.into_iter().map(|at| unsafe { slice::from_raw_parts(at, vocab) }).collect())
    }

    /// Feeds them and says how likely they were: ln P(token | what was before it) of each, 0 at
    /// position 0.
    #[doc(alias = "tpt_decoder_score")]
    pub fn score(&mut self, tokens: &[i32]) -> Result<Vec<f64>> {
        let _inside = self.model.reading()?;
        let mut likely = handle::room::<f64>(tokens.len())?;
        handle::call(|| unsafe {
            let (tokens, count) = (tokens.as_ptr(), tokens.len());
            sys::tpt_decoder_score(self.as_ptr(), tokens, count, likely.as_mut_ptr())
        })?;
        Ok(likely)
    }

    /// Forgets what is at and after a position.
    #[doc(alias = "tpt_decoder_rewind")]
    pub fn rewind(&mut self, position: usize) -> Result<()> {
        let _inside = self.inside()?;
        handle::call(|| unsafe { sys::tpt_decoder_rewind(self.as_ptr(), position) })
    }

    /// Tokens held.
    #[doc(alias = "tpt_decoder_position")]
    pub fn position(&self) -> Result<usize> {
        let _inside = self.inside()?;
        let mut position = 0;
        handle::call(|| unsafe { sys::tpt_decoder_position(self.as_ptr(), &mut position) })?;
        Ok(position)
    }

    /// Tokens that it can hold.
    pub fn max_positions(&self) -> usize {
        self.room
    }

    /// How tokens are chosen from now on; restarts the random state.
    #[doc(alias = "tpt_decoder_set_sampling")]
    pub fn set_sampling(&mut self, how: Sampling) -> Result<()> {
        let Sampling { temperature, top_k, top_p, seed } = how;
        let _inside = self.inside()?;
        handle::call(|| unsafe {
            sys::tpt_decoder_set_sampling(self.as_ptr(), temperature, top_k, top_p, seed)
        })
    }

    /// A token from the last feed's logits; does not feed it.
    #[doc(alias = "tpt_decoder_sample")]
    pub fn sample(&mut self) -> Result<i32> {
        let _inside = self.inside()?;
        let mut token = 0;
        handle::call(|| unsafe { sys::tpt_decoder_sample(self.as_ptr(), &mut token) })?;
        Ok(token)
    }

    /// A continuation in one call: samples a token and feeds it, `count` times or until after the
    /// token `stop`. What it makes goes to the end of `into`, also where it fails or is ended; a
    /// later call then goes on with what would have come. Gives how many were made.
    #[doc(alias = "tpt_decoder_generate")]
    pub fn generate(
        &mut self,
        count: usize,
        stop: Option<i32>,
        into: &mut Vec<i32>,
    ) -> Result<usize> {
        let _inside = self.model.reading()?;
        handle::reserve(into, count.min(self.room))?; // C refuses a count that is more
        let (before, mut made) = (into.len(), 0);
        let result = handle::begin(|| unsafe {
            let at = into.as_mut_ptr().add(before);
            sys::tpt_decoder_generate(self.as_ptr(), stop.unwrap_or(-1), at, count, &mut made)
        });
        // SAFETY: there is room, and C has written so many.
        unsafe { into.set_len(before + made) };
        callback::resume();
        result.map(|()| made)
    }

    /// Tokens one by one, each sampled and fed, until the decoder is full.
    pub fn tokens(&mut self) -> Tokens<'_> {
        Tokens { decoder: self, failed: false }
    }

    /// Feeds a prompt, of at least one token; then the text of each token sampled and fed, until
    /// the decoder is full. A piece is empty while a character is not complete.
    ///
    /// ```
    /// # use lib3pt::{Config, Decoder, Model, Tokenizer};
    /// # let config = Config::parse("model: {vocab_size: 256, d_model: 24, n_layers: 1, n_q_heads: 3, n_kv_heads: 3, d_ff: 24}")?;
    /// # let model = Model::create(None, &config, 1)?;
    /// let tokenizer = Tokenizer::bytes(None)?;
    /// let mut decoder = Decoder::create(&model, 0)?;
    /// for piece in decoder.stream(&tokenizer, "Three")?.take(8) {
    ///     print!("{}", piece?);
    /// }
    /// # Ok::<(), lib3pt::Error>(())
    /// ```
    pub fn stream<'a>(&'a mut self, tokenizer: &'a Tokenizer, prompt: &str) -> Result<Stream<'a>> {
        let ids = tokenizer.encode(prompt)?;
        if ids.is_empty() {
            return Err(Error::argument("prompt has no tokens; at least 1 is needed"));
        }
        self.feed(&ids)?;
        Ok(Stream { tokens: self.tokens(), tokenizer, ids })
    }
}

/// Tokens of [`Decoder::tokens`]. It ends after the first error.
#[derive(Debug)]
pub struct Tokens<'a> {
    decoder: &'a mut Decoder,
    failed: bool,
}

impl Tokens<'_> {
    fn step(&mut self) -> Result<Option<i32>> {
        if self.decoder.position()? >= self.decoder.room {
            return Ok(None);
        }
        let token = self.decoder.sample()?;
        self.decoder.feed(&[token])?;
        Ok(Some(token))
    }
}

impl Iterator for Tokens<'_> {
    type Item = Result<i32>;

    fn next(&mut self) -> Option<Result<i32>> {
        if self.failed {
            return None;
        }
        let item = self.step().transpose();
        self.failed = matches!(item, Some(Err(_)));
        item
    }
}

/// Pieces of text of [`Decoder::stream`]. It ends after the first error.
#[derive(Debug)]
pub struct Stream<'a> {
    tokens: Tokens<'a>,
    tokenizer: &'a Tokenizer,
    ids: Vec<i32>, // all so far
}

impl Iterator for Stream<'_> {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        let token = match self.tokens.next()? {
            Ok(token) => token,
            Err(e) => return Some(Err(e)),
        };
        let done = self.ids.len();
        self.ids.push(token);
        let piece = self.tokenizer.decode_tail(&self.ids, done);
        self.tokens.failed = piece.is_err();
        Some(piece)
    }
}
