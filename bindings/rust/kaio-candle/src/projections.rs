//! Projections of a layer in one call: queries, keys and values; gate and up. For inference.

use crate::library::kaio;
use crate::matmul::Epilogue;
use crate::operation::{dl, no_gradient, pointer, with_inputs, Held};
use crate::storage::Place;
use crate::view::View;
use crate::weights::{Form, PackedWeight};
use candle_core::{bail, Result, Tensor};
use kaio_sys::{
    kaio_gate_up_project_options, kaio_gate_up_weights, kaio_projection_weight, kaio_qkv_outputs,
    kaio_qkv_project_options, kaio_qkv_rotary, kaio_qkv_weights, kaio_w4_weights, kaio_w8_weights,
    kaio_x_norm, DLTensor,
};
use std::ptr::null;

/// A weight (n, k) of a projection.
#[derive(Clone, Copy, Debug)]
pub enum Weight<'a> {
    /// Elements of x. A matrix stored (k, n) is given as its transpose.
    Matrix(&'a Tensor),
    /// For x of f16 or bf16.
    Packed(&'a PackedWeight),
}

impl<'a> Weight<'a> {
    fn tensor(&self) -> &'a Tensor {
        match self {
            Self::Matrix(tensor) => tensor,
            Self::Packed(weight) => weight.memory(),
        }
    }

    fn outputs(&self) -> usize {
        match self {
            Self::Matrix(tensor) => tensor.dims().first().copied().unwrap_or(0),
            Self::Packed(weight) => weight.n(),
        }
    }
}

/// Options of [`qkv_project`].
#[derive(Clone, Copy, Debug, Default)]
pub struct QkvOptions<'a> {
    /// Biases of q, k and v, elements of x.
    pub biases: [Option<&'a Tensor>; 3],
    /// Weights (size) of an RMS norm of each head of q and of k.
    pub norms: [Option<&'a Tensor>; 2],
    /// Weight (k) of an RMS norm of x before the product, and its epsilon.
    pub x_norm: Option<(&'a Tensor, f32)>,
    /// cos and sin (positions, pairs), which turn q and k. Token i is at row i.
    pub rotary: Option<(&'a Tensor, &'a Tensor)>,
    /// Pairs are (0, 1), (2, 3), ..., as in GPT-J.
    pub interleaved: bool,
}

/// What C structs of weights point to.
struct Weights {
    tensors: Vec<DLTensor>,
    w4: Vec<Option<kaio_w4_weights>>,
    w8: Vec<Option<kaio_w8_weights>>,
}

impl Weights {
    fn of(weights: &[Weight], views: &[View]) -> Self {
        Self {
            tensors: views.iter().map(View::dl).collect(),
            w4: weights
                .iter()
                .map(|weight| match weight {
                    Weight::Packed(packed) => match packed.form() {
                        Form::W4(form) => Some(*form),
                        Form::W8(_) => None,
                    },
                    Weight::Matrix(_) => None,
                })
                .collect(),
            w8: weights
                .iter()
                .map(|weight| match weight {
                    Weight::Packed(packed) => match packed.form() {
                        Form::W8(form) => Some(*form),
                        Form::W4(_) => None,
                    },
                    Weight::Matrix(_) => None,
                })
                .collect(),
        }
    }

    /// The structs. They point into `self`, which stays where it is.
    fn raw(&mut self) -> Vec<kaio_projection_weight> {
        let mut all = vec![];
        for at in 0..self.tensors.len() {
            let tensor: *const DLTensor = &self.tensors[at];
            let mut raw = kaio_projection_weight::default();
            if let Some(form) = &mut self.w4[at] {
                form.memory = tensor;
                raw.w4 = form;
            } else if let Some(form) = &mut self.w8[at] {
                form.memory = tensor;
                raw.w8 = form;
            } else {
                raw.matrix = tensor;
            }
            all.push(raw);
        }
        all
    }
}

/// Queries (.., heads, size), keys and values (.., kv_heads, size) of x (tokens, k) or (batch, tokens, k), f16 or bf16:
/// norm of x, products, biases, norms of heads and rotation. Tracked tensors are refused.
pub fn qkv_project(
    x: &Tensor,
    weights: [Weight; 3],
    size: usize,
    options: &QkvOptions,
) -> Result<(Tensor, Tensor, Tensor)> {
    let QkvOptions {
        biases,
        norms,
        x_norm,
        rotary,
        ..
    } = options;
    let [wq, wk, wv] = weights.map(|weight| weight.tensor());
    no_gradient(
        "qkv_project",
        &[
            Some(x),
            Some(wq),
            Some(wk),
            Some(wv),
            biases[0],
            biases[1],
            biases[2],
        ],
    )?;
    let (cos, sin) = (rotary.map(|rotary| rotary.0), rotary.map(|rotary| rotary.1));
    no_gradient(
        "qkv_project",
        &[norms[0], norms[1], x_norm.map(|norm| norm.0), cos, sin],
    )?;
    with_inputs(&[x, wq, wk, wv], |place, inputs| {
        let Some((_, tokens)) = inputs[0].dims().split_last() else {
            bail!("kaio: qkv_project: x is a scalar")
        };
        if size == 0 || weights.iter().any(|weight| weight.outputs() % size != 0) {
            bail!(
                "kaio: qkv_project: outputs {:?} are not heads of {size}",
                weights.map(|weight| weight.outputs())
            )
        }
        let memory = |weight: &Weight| {
            let dims: Vec<usize> = tokens
                .iter()
                .copied()
                .chain([weight.outputs() / size, size])
                .collect();
            place.output(&dims, inputs[0].dtype())
        };
        let mut outputs = [memory(&weights[0])?, memory(&weights[1])?, memory(&weights[2])?];
        {
            let views = inputs
                .iter()
                .map(|input| place.view(input))
                .collect::<Result<Vec<_>>>()?;
            let mut raw = Weights::of(&weights, &views[1..]);
            let raw = raw.raw();
            let to = outputs
                .iter_mut()
                .map(|output| output.view(place))
                .collect::<Result<Vec<_>>>()?;
            let (x, q, k, v) = (views[0].dl(), to[0].dl(), to[1].dl(), to[2].dl());
            let weights = kaio_qkv_weights {
                q: &raw[0],
                k: &raw[1],
                v: &raw[2],
                ..Default::default()
            };
            let to = kaio_qkv_outputs {
                q: &q,
                k: &k,
                v: &v,
                ..Default::default()
            };
            let extra = [
                biases[0],
                biases[1],
                biases[2],
                norms[0],
                norms[1],
                x_norm.map(|norm| norm.0),
                cos,
                sin,
            ];
            with_tensors(place, extra, |extra| {
                let norm = x_norm.map(|norm| kaio_x_norm {
                    epsilon: norm.1,
                    weight: extra[5],
                    ..Default::default()
                });
                let turn = rotary.map(|_| kaio_qkv_rotary {
                    interleaved: i32::from(options.interleaved),
                    cos: extra[6],
                    sin: extra[7],
                    ..Default::default()
                });
                let mut how = kaio_qkv_project_options {
                    q_bias: extra[0],
                    k_bias: extra[1],
                    v_bias: extra[2],
                    q_norm: extra[3],
                    k_norm: extra[4],
                    x_norm: norm.as_ref().map_or(null(), |norm| norm),
                    rotary: turn.as_ref().map_or(null(), |turn| turn),
                    ..Default::default()
                };
                let mut bytes = 0;
                kaio!(kaio_qkv_project_workspace_bytes(
                    &x, &weights, &to, &how, &mut bytes
                ));
                let mut memory = place.workspace(bytes)?;
                let memory = memory.view(place)?.aligned();
                let workspace = memory.dl();
                how.workspace = &workspace;
                kaio!(kaio_qkv_project(place.stream(), &x, &weights, &to, &how));
                Ok(())
            })?;
        }
        let [q, k, v] = outputs.map(|output| output.tensor());
        Ok((q, k, v))
    })
}

/// `f(x gateᵀ) · (x upᵀ)` for x (..., k): the first half of a gated feed-forward block. Tracked tensors are refused.
pub fn gate_up_project(x: &Tensor, gate: Weight, up: Weight, f: Epilogue) -> Result<Tensor> {
    no_gradient(
        "gate_up_project",
        &[Some(x), Some(gate.tensor()), Some(up.tensor())],
    )?;
    with_inputs(&[x, gate.tensor(), up.tensor()], |place, inputs| {
        let Some((_, rows)) = inputs[0].dims().split_last() else {
            bail!("kaio: gate_up_project: x is a scalar")
        };
        let dims: Vec<usize> = rows.iter().copied().chain([gate.outputs()]).collect();
        let mut output = place.output(&dims, inputs[0].dtype())?;
        {
            let views = inputs
                .iter()
                .map(|input| place.view(input))
                .collect::<Result<Vec<_>>>()?;
            let mut raw = Weights::of(&[gate, up], &views[1..]);
            let raw = raw.raw();
            let (x, to) = (
                crate::weights::rows_of(&views[0])?,
                crate::weights::rows_of(&output.view(place)?)?,
            );
            let (x, to) = (x.dl(), to.dl());
            let weights = kaio_gate_up_weights {
                gate: &raw[0],
                up: &raw[1],
                ..Default::default()
            };
            let mut how = kaio_gate_up_project_options {
                activation: f.code(),
                ..Default::default()
            };
            let mut bytes = 0;
            kaio!(kaio_gate_up_project_workspace_bytes(
                &x, &weights, &to, &how, &mut bytes
            ));
            let mut memory = place.workspace(bytes)?;
            let memory = memory.view(place)?.aligned();
            let workspace = memory.dl();
            how.workspace = &workspace;
            kaio!(kaio_gate_up_project(place.stream(), &x, &weights, &to, &how));
        }
        Ok(output.tensor())
    })
}

/// Calls `f` with pointers to optional tensors.
fn with_tensors<const N: usize, R>(
    place: &Place,
    tensors: [Option<&Tensor>; N],
    f: impl FnOnce([*const DLTensor; N]) -> Result<R>,
) -> Result<R> {
    let held = tensors.map(Held::of);
    let views = held
        .iter()
        .map(|held| held.view(place))
        .collect::<Result<Vec<_>>>()?;
    let tensors: Vec<_> = views.iter().map(dl).collect();
    f(std::array::from_fn(|at| pointer(&tensors[at])))
}
