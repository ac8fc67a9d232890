//! Attention in candle's graph. The forward call's lse stays in the operation, so the backward call recomputes nothing.

use super::{AttentionOptions, Sequences};
use crate::library::kaio;
use crate::operation::{dl, neighbours, no_gradient, pointer, with_inputs, Held, Operation};
use crate::storage::{Input, Output, Place};
use crate::view::View;
use crate::Precision;
use candle_core::{bail, DType, Error, Result, Tensor};
use kaio_sys::{kaio_attention_backward_options, kaio_attention_options, kaio_attention_sequences, DLTensor};
use std::sync::Mutex;

/// An attention that is recorded.
pub(super) struct Attention {
    options: AttentionOptions,
    sequences: Option<Sequences>,
    /// Some tensor is tracked: the forward call keeps its lse.
    keep_lse: bool,
    lse: Mutex<Option<Tensor>>,
}

impl Attention {
    pub(super) fn of(
        options: &AttentionOptions,
        sequences: Option<Sequences>,
        tensors: &[&Tensor; 3],
    ) -> Result<Self> {
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

    /// The result, and the lse if it is wanted.
    pub(super) fn run(
        &self,
        place: &Place,
        inputs: &[Input],
        keep_lse: bool,
    ) -> Result<(Output, Option<Tensor>)> {
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
