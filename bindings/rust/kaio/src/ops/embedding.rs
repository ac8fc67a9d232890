// Made by bindings/rust/generate.py from src/c/operations/embedding.json.
//! Embeddings.

use super::*;
use crate::call::*;

/// Options of embedding.
#[derive(Clone, Debug)]
pub struct EmbeddingOptions<'a> {
    errors: Option<TensorView<'a>>,
}

impl<'a> EmbeddingOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        EmbeddingOptions {
            errors: None,
        }
    }

    setters! {
        /// (1); u32; the number of indices outside of the vocabulary is added to it.
        written errors(&TensorViewMut<'a>) => errors;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_embedding_options> {
        Ok(sys::kaio_embedding_options {
            errors: hold.optional(&self.errors),
            ..Default::default()
        })
    }
}

impl<'a> Default for EmbeddingOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of embedding_backward.
#[derive(Clone, Debug)]
pub struct EmbeddingBackwardOptions<'a> {
    padding_index: i64,
    accumulate: bool,
    workspace: Option<TensorView<'a>>,
}

impl<'a> EmbeddingBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        EmbeddingBackwardOptions {
            padding_index: -1,
            accumulate: false,
            workspace: None,
        }
    }

    setters! {
        /// Tokens with this index are left out; below 0: none; default -1.
        value padding_index(i64) => padding_index;
        /// True: adds to dweight; rows without tokens are then not written.
        value accumulate(bool) => accumulate;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_embedding_backward_options> {
        Ok(sys::kaio_embedding_backward_options {
            padding_index: self.padding_index,
            accumulate: i32::from(self.accumulate),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for EmbeddingBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// out\[i, :\] = weight\[indices\[i\], :\].
///
/// An index that is negative, or not below the vocabulary, gives a row of zeros.
///
/// # Arguments
///
/// - `indices`: (...); i32 or i64.
/// - `weight`: (vocabulary, size); f32, f16 or bf16.
/// - `out`: written; (..., size); elements of weight.
///
/// Nothing happens before `run`. Options are methods of [`Embedding`].
pub fn embedding<'a>(
    indices: &TensorView<'a>,
    weight: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> Embedding<'a> {
    Embedding {
        indices: *indices,
        weight: *weight,
        out: **out,
        options: EmbeddingOptions::new(),
    }
}

/// The operation `embedding`: see the function [`embedding`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Embedding<'a> {
    indices: TensorView<'a>,
    weight: TensorView<'a>,
    out: TensorView<'a>,
    options: EmbeddingOptions<'a>,
}

impl<'a> Embedding<'a> {
    /// All options at once.
    pub fn options(mut self, options: &EmbeddingOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (1); u32; the number of indices outside of the vocabulary is added to it.
        written errors(&TensorViewMut<'a>) => options.errors;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_embedding(stream.handle(), hold.tensor(&self.indices), hold.tensor(&self.weight),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_embedding_warmup(hold.tensor(&self.indices), hold.tensor(&self.weight),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }
}

/// dweight\[v, :\] = the sum of dout\[i, :\] over all i with indices\[i\] = v.
///
/// Sums are f32, in increasing order of i, and are rounded once. Equal calls give equal bits.
///
/// # Arguments
///
/// - `dout`: (..., size); f32, f16 or bf16.
/// - `indices`: (...); i32 or i64.
/// - `dweight`: written; (vocabulary, size); f32, f16 or bf16; the type of dout, or f32.
///
/// Nothing happens before `run`. Options are methods of [`EmbeddingBackward`].
pub fn embedding_backward<'a>(
    dout: &TensorView<'a>,
    indices: &TensorView<'a>,
    dweight: &TensorViewMut<'a>,
) -> EmbeddingBackward<'a> {
    EmbeddingBackward {
        dout: *dout,
        indices: *indices,
        dweight: **dweight,
        options: EmbeddingBackwardOptions::new(),
    }
}

/// The operation `embedding_backward`: see the function [`embedding_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct EmbeddingBackward<'a> {
    dout: TensorView<'a>,
    indices: TensorView<'a>,
    dweight: TensorView<'a>,
    options: EmbeddingBackwardOptions<'a>,
}

impl<'a> EmbeddingBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &EmbeddingBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Tokens with this index are left out; below 0: none; default -1.
        value padding_index(i64) => options.padding_index;
        /// True: adds to dweight; rows without tokens are then not written.
        value accumulate(bool) => options.accumulate;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_embedding_backward(stream.handle(), hold.tensor(&self.dout), hold.tensor(&self.indices),
            hold.tensor(&self.dweight), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_embedding_backward_warmup(hold.tensor(&self.dout), hold.tensor(&self.indices),
            hold.tensor(&self.dweight), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call needs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_embedding_backward_workspace_bytes(hold.tensor(&self.indices), hold.tensor(&self.dweight),
            &mut bytes))?;
        Ok(bytes)
    }
}
