// Made by bindings/rust/generate.py from src/c/operations/attention_backward.json.
//! Gradients of attention.

use super::*;
use crate::call::*;

/// Options of the gradients of an attention.
#[derive(Clone, Debug)]
pub struct AttentionBackwardOptions<'a> {
    forward: Option<AttentionOptions<'a>>,
    dlse: Option<TensorView<'a>>,
    dbias: Option<TensorView<'a>>,
    dsinks: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> AttentionBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        AttentionBackwardOptions {
            forward: None,
            dlse: None,
            dbias: None,
            dsinks: None,
            workspace: None,
        }
    }

    setters! {
        /// The options of the attention that is differentiated, without blocks and variant; its lse is not
        /// written; none: all defaults.
        record forward(&AttentionOptions<'a>) => forward;
        /// As lse; f32; the gradient of lse.
        view dlse(&TensorView<'a>) => dlse;
        /// As bias; f32, f16 or bf16; f32, or elements of q; summed along extents of 1.
        written dbias(&TensorViewMut<'a>) => dbias;
        /// (heads); f32, f16 or bf16.
        written dsinks(&TensorViewMut<'a>) => dsinks;
        /// Needed: `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_attention_backward_options> {
        Ok(sys::kaio_attention_backward_options {
            forward: match &self.forward { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            dlse: hold.optional(&self.dlse),
            dbias: hold.optional(&self.dbias),
            dsinks: hold.optional(&self.dsinks),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for AttentionBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The gradients of an attention: dq, dk and dv, and those of a bias and of sinks.
///
/// out and lse are those that the attention wrote with these options. Gradients share memory with no other
/// argument. Equal calls give equal bits.
///
/// # Arguments
///
/// - `dout`: (B, Sq, Hq, Dv); elements of q.
/// - `q`: (B, Sq, Hq, D); f32, f16 or bf16.
/// - `k`: (B, Sk, Hkv, D); elements of q.
/// - `v`: (B, Sk, Hkv, Dv); elements of q.
/// - `out`: (B, Sq, Hq, Dv); f32, f16 or bf16.
/// - `lse`: (B, Hq, Sq); f32.
/// - `options`: Options of the gradients of an attention.
///
/// Nothing happens before `run`. Options are methods of [`AttentionBackward`].
pub fn attention_backward<'a>(
    dout: &TensorView<'a>,
    q: &TensorView<'a>,
    k: &TensorView<'a>,
    v: &TensorView<'a>,
    out: &TensorView<'a>,
    lse: &TensorView<'a>,
    options: &AttentionBackwardOptions<'a>,
) -> AttentionBackward<'a> {
    AttentionBackward {
        dout: *dout,
        q: *q,
        k: *k,
        v: *v,
        out: *out,
        lse: *lse,
        options: options.clone(),
        dq: None,
        dk: None,
        dv: None,
    }
}

/// The operation `attention_backward`: see the function [`attention_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AttentionBackward<'a> {
    dout: TensorView<'a>,
    q: TensorView<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    out: TensorView<'a>,
    lse: TensorView<'a>,
    options: AttentionBackwardOptions<'a>,
    dq: Option<TensorView<'a>>,
    dk: Option<TensorView<'a>>,
    dv: Option<TensorView<'a>>,
}

impl<'a> AttentionBackward<'a> {
    setters! {
        /// As q; elements of q; none: not computed.
        written dq(&TensorViewMut<'a>) => dq;
        /// As k; elements of q; none: not computed.
        written dk(&TensorViewMut<'a>) => dk;
        /// As v; elements of q; none: not computed.
        written dv(&TensorViewMut<'a>) => dv;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_backward(stream.handle(), hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_backward_warmup(hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_attention_backward_workspace_bytes(hold.tensor(&self.q), hold.tensor(&self.k),
            hold.tensor(&self.v), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that computes dk and dv.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_backward_choice(hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }
}

/// The gradients of attention_varlen.
///
/// Rows of no sequence, and those beyond used_q and used_k, are not written.
///
/// # Arguments
///
/// - `dout`: (rows, Hq, Dv); elements of q.
/// - `q`: (rows, Hq, D); f32, f16 or bf16.
/// - `k`: (rows of k, Hkv, D); elements of q.
/// - `v`: (rows of k, Hkv, Dv); elements of q.
/// - `out`: (rows, Hq, Dv); f32, f16 or bf16.
/// - `lse`: (Hq, rows); f32.
/// - `sequences`: Sequences that follow each other along the rows of a tensor. Sequence b has rows
///   cu_q\[b\] to before cu_q\[b + 1\] of q. The device reads these numbers when the call runs.
/// - `options`: Options of the gradients of an attention.
///
/// Nothing happens before `run`. Options are methods of [`AttentionBackwardVarlen`].
pub fn attention_backward_varlen<'a>(
    dout: &TensorView<'a>,
    q: &TensorView<'a>,
    k: &TensorView<'a>,
    v: &TensorView<'a>,
    out: &TensorView<'a>,
    lse: &TensorView<'a>,
    sequences: &AttentionSequences<'a>,
    options: &AttentionBackwardOptions<'a>,
) -> AttentionBackwardVarlen<'a> {
    AttentionBackwardVarlen {
        dout: *dout,
        q: *q,
        k: *k,
        v: *v,
        out: *out,
        lse: *lse,
        sequences: sequences.clone(),
        options: options.clone(),
        dq: None,
        dk: None,
        dv: None,
    }
}

/// The operation `attention_backward_varlen`: see the function [`attention_backward_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AttentionBackwardVarlen<'a> {
    dout: TensorView<'a>,
    q: TensorView<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    out: TensorView<'a>,
    lse: TensorView<'a>,
    sequences: AttentionSequences<'a>,
    options: AttentionBackwardOptions<'a>,
    dq: Option<TensorView<'a>>,
    dk: Option<TensorView<'a>>,
    dv: Option<TensorView<'a>>,
}

impl<'a> AttentionBackwardVarlen<'a> {
    setters! {
        /// As q; elements of q; none: not computed.
        written dq(&TensorViewMut<'a>) => dq;
        /// As k; elements of q; none: not computed.
        written dk(&TensorViewMut<'a>) => dk;
        /// As v; elements of q; none: not computed.
        written dv(&TensorViewMut<'a>) => dv;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_backward_varlen(stream.handle(), hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.sequences.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_backward_varlen_warmup(hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.sequences.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_attention_backward_varlen_workspace_bytes(hold.tensor(&self.q), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.keep(self.sequences.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that computes dk and dv.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_backward_varlen_choice(hold.tensor(&self.dout), hold.tensor(&self.q),
            hold.tensor(&self.k), hold.tensor(&self.v), hold.tensor(&self.out), hold.tensor(&self.lse),
            hold.optional(&self.dq), hold.optional(&self.dk), hold.optional(&self.dv),
            hold.keep(self.sequences.raw(&hold)?), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }
}
