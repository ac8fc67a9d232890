//! Attention with gradients. The forward call's lse stays in the operation, so the backward call recomputes nothing.

use crate::library::kaio;
use crate::operation::{apply, dl, neighbours, no_gradient, pointer, with_inputs, Held, Operation};
use crate::storage::{Input, Output, Place};
use crate::view::View;
use crate::Precision;
use candle_core::{bail, DType, Error, Result, Tensor};
use kaio_sys::{kaio_attention_backward_options, kaio_attention_options, kaio_attention_sequences, DLTensor};
use std::sync::Mutex;

/// Whether a query attends to no later keys, and where its own key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Causal {
    /// A query attends to all keys.
    #[default]
    No,
    /// key <= query: torch's is_causal.
    TopLeft,
    /// key <= query + keys - queries: FlashAttention's. With as many keys as queries both are the same.
    BottomRight,
}

impl Causal {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::No => kaio_sys::KAIO_CAUSAL_ALIGNMENT_NONE,
            Self::TopLeft => kaio_sys::KAIO_CAUSAL_ALIGNMENT_TOP_LEFT,
            Self::BottomRight => kaio_sys::KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT,
        }
    }
}

/// Options of [`attention`]: scores are scale · q·k, softcap, less ALiBi, plus the bias, in this order. Tensors here get
/// no gradient, and are refused if they are tracked.
#[derive(Clone, Debug, Default)]
pub struct AttentionOptions {
    /// The factor of q·k. None: 1 / sqrt(head size).
    pub scale: Option<f32>,
    /// Above 0: a score x becomes softcap · tanh(x / softcap).
    pub softcap: f32,
    /// The causal mask.
    pub causal: Causal,
    /// Keys before and after a query's own one that it attends to. None: all.
    pub window: (Option<usize>, Option<usize>),
    /// Tensors are (batch, heads, sequence, size), as in candle's models. Else (batch, sequence, heads, size).
    pub heads_first: bool,
    /// How products of f32 are computed.
    pub precision: Precision,
    /// The bits of a sequence do not depend on the other sequences of the call.
    pub batch_invariant: bool,
    /// Slopes (heads) or (batches, heads), f32.
    pub alibi: Option<Tensor>,
    /// Added to scores: (batches, heads, queries, keys) or the last of these; an extent of 1 serves all. Not for varlen.
    pub bias: Option<Tensor>,
    /// As bias, U8: 0 masks the key. Not for varlen.
    pub keep: Option<Tensor>,
    /// (heads): the score of an extra key without a value.
    pub sinks: Option<Tensor>,
}

/// Sequences that follow each other along the rows of a tensor.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// (sequences + 1), I32 or U32: sequence b has rows `cu_q[b]` to before `cu_q[b + 1]` of q.
    pub cu_q: Tensor,
    /// Likewise of k and v.
    pub cu_k: Tensor,
    /// At least the rows of q of the longest sequence.
    pub max_q: usize,
    /// At least the rows of k of the longest sequence.
    pub max_k: usize,
}

/// `softmax(mask(scale q kᵀ)) v` for q (B, Sq, Hq, D), k (B, Sk, Hkv, D), v (B, Sk, Hkv, Dv), with gradients of the three.
///
/// Hq is a multiple of Hkv; D and Dv are up to 512. Strides are free but for the last, which is 1. A query without keys
/// gets zeros. The result has the order of dimensions of q.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, options: &AttentionOptions) -> Result<Tensor> {
    apply(Attention::of(options, None, &[q, k, v])?, &[q, k, v])
}

/// [`attention`] of sequences of different lengths: q (rows, Hq, D), k (rows of k, Hkv, D), v (rows of k, Hkv, Dv).
///
/// Masks are aligned in each sequence by its own lengths. Rows of no sequence become zeros. Lengths are read on the
/// device when the call runs.
pub fn attention_varlen(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    sequences: &Sequences,
    options: &AttentionOptions,
) -> Result<Tensor> {
    if options.heads_first {
        bail!("kaio: attention_varlen: heads_first has no meaning for (rows, heads, size)")
    }
    apply(
        Attention::of(options, Some(sequences.clone()), &[q, k, v])?,
        &[q, k, v],
    )
}

/// [`attention`] and its lse (B, Hq, Sq): ln of the sum of exp of the scores. For inference: tracked tensors are refused.
pub fn attention_with_lse(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    options: &AttentionOptions,
) -> Result<(Tensor, Tensor)> {
    no_gradient("attention_with_lse", &[Some(q), Some(k), Some(v)])?;
    let operation = Attention::of(options, None, &[q, k, v])?;
    with_inputs(&[q, k, v], |place, inputs| {
        let (out, lse) = operation.run(place, inputs, true)?;
        Ok((
            out.tensor(),
            lse.ok_or_else(|| Error::msg("kaio: attention: there is no lse"))?,
        ))
    })
}

struct Attention {
    options: AttentionOptions,
    sequences: Option<Sequences>,
    /// Some tensor is tracked: the forward call keeps its lse.
    keep_lse: bool,
    lse: Mutex<Option<Tensor>>,
}

impl Attention {
    fn of(options: &AttentionOptions, sequences: Option<Sequences>, tensors: &[&Tensor; 3]) -> Result<Self> {
        let AttentionOptions {
            alibi,
            bias,
            keep,
            sinks,
            ..
        } = options;
        no_gradient(
            "attention",
            &[alibi.as_ref(), bias.as_ref(), keep.as_ref(), sinks.as_ref()],
        )?;
        let keep_lse = tensors.iter().any(|tensor| tensor.track_op());
        Ok(Self {
            options: options.clone(),
            sequences,
            keep_lse,
            lse: Mutex::new(None),
        })
    }

    /// (B, S, H, D), whatever the order of the tensor.
    fn ordered<'a>(&self, view: View<'a>) -> View<'a> {
        if self.options.heads_first && view.rank() == 4 {
            view.permuted(&[0, 2, 1, 3])
        } else {
            view
        }
    }

    /// The options, with `tensors` as alibi, bias, keep and sinks.
    fn raw(&self, tensors: &[Option<DLTensor>; 4]) -> kaio_attention_options {
        let bound = |keys: Option<usize>| keys.map_or(-1, |keys| keys as i64);
        kaio_attention_options {
            scale: self.options.scale.unwrap_or(0.0),
            softcap: self.options.softcap,
            causal: self.options.causal.code(),
            precision: i32::from(self.options.precision == Precision::Tf32),
            batch_invariant: i32::from(self.options.batch_invariant),
            window_left: bound(self.options.window.0),
            window_right: bound(self.options.window.1),
            alibi: pointer(&tensors[0]),
            bias: pointer(&tensors[1]),
            keep: pointer(&tensors[2]),
            sinks: pointer(&tensors[3]),
            ..Default::default()
        }
    }

    /// Calls `f` with the options and sequences of the C interface.
    fn with_options<R>(
        &self,
        place: &Place,
        f: impl FnOnce(kaio_attention_options, Option<&kaio_attention_sequences>) -> Result<R>,
    ) -> Result<R> {
        let AttentionOptions {
            alibi,
            bias,
            keep,
            sinks,
            ..
        } = &self.options;
        let held = [alibi, bias, keep, sinks].map(|tensor| Held::of(tensor.as_ref()));
        let views = [
            held[0].view(place)?,
            held[1].view(place)?,
            held[2].view(place)?,
            held[3].view(place)?,
        ];
        let tensors = [dl(&views[0]), dl(&views[1]), dl(&views[2]), dl(&views[3])];
        let options = self.raw(&tensors);
        let Some(sequences) = &self.sequences else {
            return f(options, None);
        };
        let held = [Held::of(Some(&sequences.cu_q)), Held::of(Some(&sequences.cu_k))];
        let views = [held[0].view(place)?, held[1].view(place)?].map(|view| view.map(|view| view.as_index()));
        let cu = [dl(&views[0]), dl(&views[1])];
        let raw = kaio_attention_sequences {
            cu_q: pointer(&cu[0]),
            cu_k: pointer(&cu[1]),
            max_q: sequences.max_q as i64,
            max_k: sequences.max_k as i64,
            ..Default::default()
        };
        f(options, Some(&raw))
    }

    fn run(&self, place: &Place, inputs: &[Input], keep_lse: bool) -> Result<(Output, Option<Tensor>)> {
        let (q, v) = (inputs[0].dims(), inputs[2].dims());
        let rank = if self.sequences.is_some() { 3 } else { 4 };
        if inputs.iter().any(|input| input.dims().len() != rank) {
            bail!(
                "kaio: attention: q, k and v have {:?} dimensions, and {rank} are needed",
                inputs.iter().map(|input| input.dims().len()).collect::<Vec<_>>()
            )
        }
        let mut dims = q.to_vec();
        dims[rank - 1] = v[rank - 1];
        let (heads, rows) = if self.options.heads_first {
            (q[1], q[2])
        } else {
            (q[rank - 2], q[rank - 3])
        };
        let lse_dims = if rank == 3 {
            vec![heads, rows]
        } else {
            vec![q[0], heads, rows]
        };
        // Kernels do not write rows that no sequence has.
        let memory = |dims: &[usize], dtype| match self.sequences {
            Some(_) => place.zeros(dims, dtype),
            None => place.output(dims, dtype),
        };
        let mut out = memory(&dims, inputs[0].dtype())?;
        let mut lse = if keep_lse {
            Some(memory(&lse_dims, DType::F32)?)
        } else {
            None
        };
        {
            let [q, k, v] = [
                place.view(&inputs[0])?,
                place.view(&inputs[1])?,
                place.view(&inputs[2])?,
            ];
            let [q, k, v, to] = [q, k, v, out.view(place)?].map(|view| self.ordered(view));
            let lse = lse.as_mut().map(|lse| lse.view(place)).transpose()?;
            let lse = dl(&lse);
            self.with_options(place, |mut options, sequences| {
                options.lse = pointer(&lse);
                let (q, k, v, to) = (q.dl(), k.dl(), v.dl(), to.dl());
                match sequences {
                    None => kaio!(kaio_attention(place.stream(), &q, &k, &v, &to, &options)),
                    Some(s) => kaio!(kaio_attention_varlen(
                        place.stream(),
                        &q,
                        &k,
                        &v,
                        &to,
                        s,
                        &options
                    )),
                }
                Ok(())
            })?;
        }
        Ok((out, lse.map(Output::tensor)))
    }
}

impl Operation for Attention {
    const NAME: &'static str = "kaio_attention";

    fn forward(&self, place: &Place, inputs: &[Input]) -> Result<Output> {
        let (out, lse) = self.run(place, inputs, self.keep_lse)?;
        *self.lse.lock().map_err(Error::msg)? = lse;
        Ok(out)
    }

    fn backward(
        &self,
        arguments: &[&Tensor],
        result: &Tensor,
        gradient: &Tensor,
    ) -> Result<Vec<Option<Tensor>>> {
        let gradient = neighbours(gradient)?;
        let kept = self.lse.lock().map_err(Error::msg)?.clone();
        let Some(lse) = kept else {
            bail!("kaio: attention: the forward call had no tracked tensor, so there is no lse for gradients")
        };
        let tensors = [arguments[0], arguments[1], arguments[2], result, &gradient, &lse];
        with_inputs(&tensors, |place, inputs| {
            let memory = |input: &Input| match self.sequences {
                Some(_) => place.zeros(input.dims(), input.dtype()),
                None => place.output(input.dims(), input.dtype()),
            };
            let mut gradients = [memory(&inputs[0])?, memory(&inputs[1])?, memory(&inputs[2])?];
            {
                let views = inputs[..5]
                    .iter()
                    .map(|input| place.view(input).map(|view| self.ordered(view)));
                let views = views.collect::<Result<Vec<_>>>()?;
                let written = gradients
                    .iter_mut()
                    .map(|output| output.view(place).map(|view| self.ordered(view)));
                let written = written.collect::<Result<Vec<_>>>()?;
                let lse = place.view(&inputs[5])?;
                let [q, k, v, out, dout] = [0, 1, 2, 3, 4].map(|at| views[at].dl());
                let [dq, dk, dv] = [0, 1, 2].map(|at| written[at].dl());
                let lse = lse.dl();
                self.with_options(place, |forward, sequences| {
                    let mut bytes = 0;
                    match sequences {
                        None => kaio!(kaio_attention_backward_workspace_bytes(&q, &k, &v, &mut bytes)),
                        Some(s) => kaio!(kaio_attention_backward_varlen_workspace_bytes(
                            &q, &k, &v, s, &mut bytes
                        )),
                    }
                    let mut memory = place.workspace(bytes)?;
                    let memory = memory.view(place)?.aligned();
                    let workspace = memory.dl();
                    let how = kaio_attention_backward_options {
                        forward: &forward,
                        workspace: &workspace,
                        ..Default::default()
                    };
                    match sequences {
                        None => kaio!(kaio_attention_backward(
                            place.stream(),
                            &dout,
                            &q,
                            &k,
                            &v,
                            &out,
                            &lse,
                            &dq,
                            &dk,
                            &dv,
                            &how
                        )),
                        Some(s) => kaio!(kaio_attention_backward_varlen(
                            place.stream(),
                            &dout,
                            &q,
                            &k,
                            &v,
                            &out,
                            &lse,
                            &dq,
                            &dk,
                            &dv,
                            s,
                            &how
                        )),
                    }
                    Ok(())
                })?;
            }
            Ok(gradients
                .into_iter()
                .map(|output| Some(output.tensor()))
                .collect())
        })
    }
}
