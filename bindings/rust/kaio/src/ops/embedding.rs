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

    /// (1); u32; the number of indices outside of the vocabulary is added to it.
    pub fn errors(mut self, errors: &TensorViewMut<'a>) -> Self {
        self.errors = Some(**errors);
        self
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

    /// Tokens with this index are left out; below 0: none; default -1.
    pub fn padding_index(mut self, padding_index: i64) -> Self {
        self.padding_index = padding_index;
        self
    }

    /// True: adds to dweight; rows without tokens are then not written.
    pub fn accumulate(mut self, accumulate: bool) -> Self {
        self.accumulate = accumulate;
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
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
pub fn embedding<'a>(indices: &TensorView<'a>, weight: &TensorView<'a>, out: &TensorViewMut<'a>) -> Embedding<'a> {
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

    /// (1); u32; the number of indices outside of the vocabulary is added to it.
    pub fn errors(mut self, errors: &TensorViewMut<'a>) -> Self {
        self.options.errors = Some(**errors);
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_embedding)(
                stream.handle(),
                hold.tensor(&self.indices),
                hold.tensor(&self.weight),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_embedding_warmup)(
                hold.tensor(&self.indices),
                hold.tensor(&self.weight),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
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
/// - `dweight`: written; (vocabulary, size); f32, f16 or bf16; of the type of dout, or f32.
///
/// Nothing happens before `run`. Options are methods of [`EmbeddingBackward`].
pub fn embedding_backward<'a>(dout: &TensorView<'a>, indices: &TensorView<'a>, dweight: &TensorViewMut<'a>) -> EmbeddingBackward<'a> {
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

    /// Tokens with this index are left out; below 0: none; default -1.
    pub fn padding_index(mut self, padding_index: i64) -> Self {
        self.options.padding_index = padding_index;
        self
    }

    /// True: adds to dweight; rows without tokens are then not written.
    pub fn accumulate(mut self, accumulate: bool) -> Self {
        self.options.accumulate = accumulate;
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_embedding_backward)(
                stream.handle(),
                hold.tensor(&self.dout),
                hold.tensor(&self.indices),
                hold.tensor(&self.dweight),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_embedding_backward_warmup)(
                hold.tensor(&self.dout),
                hold.tensor(&self.indices),
                hold.tensor(&self.dweight),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that the call needs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_embedding_backward_workspace_bytes)(
                hold.tensor(&self.indices),
                hold.tensor(&self.dweight),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }
}
