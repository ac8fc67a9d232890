//! Heads before attention, and results of attention after it. For inference: tracked tensors are refused.

use crate::library::kaio;
use crate::operation::{no_gradient, with_inputs};
use candle_core::{bail, DType, Result, Tensor};
use kaio_sys::kaio_qk_norm_rotary_options;

/// The RMS norm of each head of q (B, S, Hq, D) and k (B, S, Hkv, D) by weights (D), and then its rotation: returns both.
///
/// cos and sin are (positions, pairs); token i is at row i, so tokens that begin at another position take
/// `cos.narrow(0, position, tokens)`. Halves of a head are rotated, as in Llama and Qwen.
pub fn qk_norm_rotary(
    [q, k]: [&Tensor; 2],
    [q_norm, k_norm]: [&Tensor; 2],
    cos: &Tensor,
    sin: &Tensor,
    epsilon: f32,
) -> Result<(Tensor, Tensor)> {
    let tensors = [q, k, q_norm, k_norm, cos, sin];
    no_gradient("qk_norm_rotary", &tensors.map(Some))?;
    with_inputs(&tensors, |place, inputs| {
        let mut to_q = place.output(inputs[0].dims(), inputs[0].dtype())?;
        let mut to_k = place.output(inputs[1].dims(), inputs[1].dtype())?;
        {
            let views = inputs
                .iter()
                .map(|input| place.view(input))
                .collect::<Result<Vec<_>>>()?;
            let (to_q, to_k) = (to_q.view(place)?, to_k.view(place)?);
            let [q, k, q_norm, k_norm, cos, sin] = std::array::from_fn(|at| views[at].dl());
            let how = kaio_qk_norm_rotary_options {
                q_norm: &q_norm,
                k_norm: &k_norm,
                epsilon,
                cos: &cos,
                sin: &sin,
                ..Default::default()
            };
            kaio!(kaio_qk_norm_rotary(
                place.stream(),
                &q,
                &k,
                &to_q.dl(),
                &to_k.dl(),
                &how
            ));
        }
        Ok((to_q.tensor(), to_k.tensor()))
    })
}

/// Joins two attentions of the same queries over different keys into the one over all of them: out (B, S, H, D) and lse
/// (B, H, S) of each, as [`crate::attention_with_lse`] returns them. Returns (out, lse).
pub fn merge_states([out_a, lse_a]: [&Tensor; 2], [out_b, lse_b]: [&Tensor; 2]) -> Result<(Tensor, Tensor)> {
    let tensors = [out_a, lse_a, out_b, lse_b];
    no_gradient("merge_states", &tensors.map(Some))?;
    if lse_a.dtype() != DType::F32 {
        bail!(
            "kaio: merge_states: lse has the type {:?}, and f32 is needed",
            lse_a.dtype()
        )
    }
    with_inputs(&tensors, |place, inputs| {
        let mut out = place.output(inputs[0].dims(), inputs[0].dtype())?;
        let mut lse = place.output(inputs[1].dims(), DType::F32)?;
        {
            let views = inputs
                .iter()
                .map(|input| place.view(input))
                .collect::<Result<Vec<_>>>()?;
            let (to, to_lse) = (out.view(place)?, lse.view(place)?);
            let [out_a, lse_a, out_b, lse_b] = std::array::from_fn(|at| views[at].dl());
            kaio!(kaio_merge_states(
                place.stream(),
                &out_a,
                &lse_a,
                &out_b,
                &lse_b,
                &to.dl(),
                &to_lse.dl()
            ));
        }
        Ok((out.tensor(), lse.tensor()))
    })
}
