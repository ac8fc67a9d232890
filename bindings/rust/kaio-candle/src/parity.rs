//! The names of KAIO's candle bridge, so that code which uses them moves by changing its imports.
//!
//! There is no device argument: tensors say where a call runs. Contracts are wider: any rank and strides, batches, heads
//! and GQA for attention, gradients where [`crate::matmul`] and [`crate::attention`] have them, CPU tensors.

use crate::weights::PackedWeight;
use crate::{AttentionOptions, Causal, EightBitOptions, MatmulOptions, QkvOptions, Weight};
use candle_core::{bail, DType, Result, Tensor};

fn product(a: &Tensor, b: &Tensor, dtype: DType, name: &str) -> Result<Tensor> {
    if a.dtype() != dtype || b.dtype() != dtype {
        bail!(
            "kaio: {name}: operands have the types {:?} and {:?}, and {dtype:?} is needed",
            a.dtype(),
            b.dtype()
        )
    }
    crate::matmul_with(
        a,
        b,
        MatmulOptions {
            out: Some(DType::F32),
            ..Default::default()
        },
    )
}

/// `a b` of f16 into f32, with gradients.
pub fn matmul_tc(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    product(a, b, DType::F16, "matmul_tc")
}

/// [`matmul_tc`]: one kernel serves both names, and no call waits.
pub fn matmul_tc_async(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    product(a, b, DType::F16, "matmul_tc_async")
}

/// `a b` of bf16 into f32, with gradients.
pub fn matmul_tc_bf16(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    product(a, b, DType::BF16, "matmul_tc_bf16")
}

/// [`matmul_tc_bf16`]: one kernel serves both names, and no call waits.
pub fn matmul_tc_bf16_async(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    product(a, b, DType::BF16, "matmul_tc_bf16_async")
}

/// `scale · (a b)` for bytes of i8 in U8 tensors, a (m, k) and b (k, n), into f32.
pub fn matmul_int8(a: &Tensor, b: &Tensor, scale: f32) -> Result<Tensor> {
    crate::matmul_int8(
        a,
        b,
        &EightBitOptions {
            alpha: scale,
            ..Default::default()
        },
    )
}

/// KAIO's packed weights: U32 with eight codes in two's complement, `word = k / 8 + n · (K / 8)`, as (K / 8, N) or
/// (N, K / 8) or flat, and scales (groups, N).
fn packed(words: &Tensor, scales: &Tensor) -> Result<PackedWeight> {
    let &[_, n] = scales.dims() else {
        bail!(
            "kaio: int4: scales have the shape {:?}, and (groups, n) is needed",
            scales.dims()
        )
    };
    let flat = words.flatten_all()?;
    PackedWeight::int4(&flat.reshape((n, flat.elem_count() / n.max(1)))?, scales)
}

/// `a b` into f32 for a (m, k) of f16 and weights of four bits: `b_packed` of U32, scales (k / group, n) of f16.
///
/// The weights are repacked in each call: keep a [`PackedWeight::int4`] instead where that matters.
pub fn matmul_int4(a: &Tensor, b_packed: &Tensor, scales: &Tensor) -> Result<Tensor> {
    packed(b_packed, scales)?.matmul(a, None, Some(DType::F32))
}

fn attend(q: &Tensor, k: &Tensor, v: &Tensor, causal: Causal) -> Result<Tensor> {
    match q.rank() {
        // One head: (sequence, size).
        2 => {
            let whole = |tensor: &Tensor| tensor.unsqueeze(0)?.unsqueeze(2);
            let options = AttentionOptions { causal, ..Default::default() };
            crate::attention(&whole(q)?, &whole(k)?, &whole(v)?, &options)?.squeeze(2)?.squeeze(0)
        }
        4 => crate::attention(q, k, v, &AttentionOptions { causal, heads_first: true, ..Default::default() }),
        rank => bail!("kaio: attention: q has {rank} dimensions: give (sequence, size) or (batch, heads, sequence, size)"),
    }
}

/// Attention of f16: (sequence, size), or (batch, heads, sequence, size), with gradients. The result is f32.
pub fn attention_tc(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    attend(q, k, v, Causal::No)?.to_dtype(DType::F32)
}

/// [`attention_tc`] with the causal mask, key <= query.
pub fn attention_tc_causal(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    attend(q, k, v, Causal::TopLeft)?.to_dtype(DType::F32)
}

/// Attention of any of f32, f16 and bf16: (sequence, size), or (batch, heads, sequence, size), with gradients.
pub fn attention_flash(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    attend(q, k, v, Causal::No)
}

/// [`attention_flash`] with the causal mask, key <= query.
pub fn attention_flash_causal(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    attend(q, k, v, Causal::TopLeft)
}

fn project(x: &Tensor, weights: [PackedWeight; 3]) -> Result<(Tensor, Tensor, Tensor)> {
    let size = weights[0].n();
    if weights.iter().any(|weight| weight.n() % size != 0) {
        bail!(
            "kaio: qkv_project: weights have {:?} outputs: equal ones are needed",
            weights.map(|weight| weight.n())
        )
    }
    // One head as wide as all outputs, unless that is wider than a head can be.
    let head = (1..=size)
        .rev()
        .find(|head| size % head == 0 && *head <= 256)
        .unwrap_or(size);
    let [wq, wk, wv] = &weights;
    let all = [Weight::Packed(wq), Weight::Packed(wk), Weight::Packed(wv)];
    let (q, k, v) = crate::qkv_project(x, all, head, &QkvOptions::default())?;
    let flat = |heads: Tensor, n: usize| {
        let rank = heads.rank();
        let dims: Vec<usize> = heads.dims()[..rank - 2].iter().copied().chain([n]).collect();
        heads.reshape(dims)
    };
    Ok((flat(q, wq.n())?, flat(k, wk.n())?, flat(v, wv.n())?))
}

/// Three projections of x (m, k) of f16 by bytes of i8 (k, n) in U8 tensors with a scale each: three (m, n) of f16.
///
/// The weights are repacked in each call: keep [`PackedWeight::int8`] and [`crate::qkv_project`] where that matters.
#[allow(clippy::too_many_arguments)]
pub fn qkv_project_int8(
    x: &Tensor,
    w_q: &Tensor,
    w_k: &Tensor,
    w_v: &Tensor,
    scale_q: f32,
    scale_k: f32,
    scale_v: f32,
) -> Result<(Tensor, Tensor, Tensor)> {
    let pack = |weight: &Tensor, scale: f32| {
        PackedWeight::int8(&weight.t()?, &Tensor::from_vec(vec![scale], 1, x.device())?)
    };
    project(x, [pack(w_q, scale_q)?, pack(w_k, scale_k)?, pack(w_v, scale_v)?])
}

/// Three projections of x (m, k) of f16 by weights of four bits, as [`matmul_int4`] takes them: three (m, n) of f16.
#[allow(clippy::too_many_arguments)]
pub fn qkv_project_int4(
    x: &Tensor,
    w_q: &Tensor,
    w_k: &Tensor,
    w_v: &Tensor,
    scales_q: &Tensor,
    scales_k: &Tensor,
    scales_v: &Tensor,
) -> Result<(Tensor, Tensor, Tensor)> {
    project(
        x,
        [
            packed(w_q, scales_q)?,
            packed(w_k, scales_k)?,
            packed(w_v, scales_v)?,
        ],
    )
}
