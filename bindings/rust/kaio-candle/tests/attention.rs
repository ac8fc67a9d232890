//! Attention against the formula in candle's operations: heads, masks, layouts, varlen, gradients.
mod common;
use candle_core::{DType, Device, Result, Tensor, Var};
use common::*;
use kaio_candle::{
    attention, attention_varlen, attention_with_lse, merge_states, AttentionOptions, Causal, Sequences,
};

/// The formula for q (B, Sq, Hq, D), k and v (B, Sk, Hkv, D); `keep(query, key)` is the mask.
fn formula(q: &Tensor, k: &Tensor, v: &Tensor, keep: impl Fn(usize, usize) -> bool) -> Result<Tensor> {
    let (batch, queries, heads, size) = q.dims4()?;
    let (_, keys, kv_heads, value_size) = v.dims4()?;
    let repeated = |tensor: &Tensor, size: usize| {
        let group = heads / kv_heads;
        let tensor = tensor
            .transpose(1, 2)?
            .unsqueeze(2)?
            .broadcast_as((batch, kv_heads, group, keys, size))?;
        tensor.contiguous()?.reshape((batch, heads, keys, size))
    };
    let scores = q
        .transpose(1, 2)?
        .contiguous()?
        .matmul(&repeated(k, size)?.transpose(2, 3)?.contiguous()?)?;
    let mask: Vec<f32> = (0..queries * keys)
        .map(|at| {
            if keep(at / keys, at % keys) {
                0.0
            } else {
                f32::NEG_INFINITY
            }
        })
        .collect();
    let mask = Tensor::from_vec(mask, (queries, keys), q.device())?;
    let p = softmax(
        &scores
            .affine(1.0 / (size as f64).sqrt(), 0.0)?
            .broadcast_add(&mask)?,
    )?;
    p.matmul(&repeated(v, value_size)?)?.transpose(1, 2)
}

fn heads(device: &Device, queries: usize, keys: usize) -> Result<[Var; 3]> {
    Ok([
        variable(&[2, queries, 4, 16], 1, device)?,
        variable(&[2, keys, 2, 16], 2, device)?,
        variable(&[2, keys, 2, 8], 3, device)?,
    ])
}

#[test]
fn groups_of_heads_masks_and_windows() -> Result<()> {
    for device in devices()? {
        let [q, k, v] = heads(&device, 5, 9)?;
        let of = |causal, window| AttentionOptions {
            causal,
            window,
            ..Default::default()
        };
        type Keep = fn(usize, usize) -> bool;
        let cases: [(AttentionOptions, Keep); 4] = [
            (of(Causal::No, (None, None)), |_, _| true),
            (of(Causal::TopLeft, (None, None)), |query, key| key <= query),
            (of(Causal::BottomRight, (None, None)), |query, key| {
                key <= query + 4
            }),
            (of(Causal::BottomRight, (Some(2), None)), |query, key| {
                key <= query + 4 && key + 2 >= query + 4
            }),
        ];
        for (options, keep) in cases {
            gradients_agree(
                &[&q, &k, &v],
                1e-4,
                || attention(&q, &k, &v, &options),
                || formula(&q, &k, &v, keep),
            )?;
        }
    }
    Ok(())
}

#[test]
fn heads_first_and_strided_tensors() -> Result<()> {
    for device in devices()? {
        let [q, k, v] = heads(&device, 6, 6)?;
        let options = AttentionOptions {
            heads_first: true,
            causal: Causal::TopLeft,
            ..Default::default()
        };
        // Tensors (batch, heads, sequence, size): views of (batch, sequence, heads, size), then contiguous ones.
        for copied in [false, true] {
            let turned = |tensor: &Tensor| match copied {
                true => tensor.transpose(1, 2)?.contiguous(),
                false => tensor.transpose(1, 2),
            };
            gradients_agree(
                &[&q, &k, &v],
                1e-4,
                || attention(&turned(&q)?, &turned(&k)?, &turned(&v)?, &options),
                || formula(&q, &k, &v, |query, key| key <= query)?.transpose(1, 2),
            )?;
        }
        // q, k and v as parts of one packed tensor.
        let packed = variable(&[1, 5, 6, 16], 7, &device)?;
        let part = |at: usize| packed.narrow(2, 2 * at, 2);
        let options = AttentionOptions::default();
        gradients_agree(
            &[&packed],
            1e-4,
            || attention(&part(0)?, &part(1)?, &part(2)?, &options),
            || formula(&part(0)?, &part(1)?, &part(2)?, |_, _| true),
        )?;
    }
    Ok(())
}

#[test]
fn sequences_of_different_lengths() -> Result<()> {
    for device in devices()? {
        let lengths = [3usize, 0, 4];
        let cu: Vec<u32> = vec![0, 3, 3, 7];
        let cu = Tensor::from_vec(cu, 4, &device)?;
        let sequences = Sequences {
            cu_q: cu.clone(),
            cu_k: cu,
            max_q: 4,
            max_k: 4,
        };
        let (q, k) = (
            variable(&[7, 2, 16], 1, &device)?,
            variable(&[7, 1, 16], 2, &device)?,
        );
        let v = variable(&[7, 1, 16], 3, &device)?;
        let options = AttentionOptions {
            causal: Causal::BottomRight,
            ..Default::default()
        };
        let reference = || {
            let mut parts = vec![];
            let mut start = 0;
            for length in lengths {
                if length > 0 {
                    let part = |tensor: &Tensor| tensor.narrow(0, start, length)?.unsqueeze(0);
                    let out = formula(&part(&q)?, &part(&k)?, &part(&v)?, |query, key| key <= query)?;
                    parts.push(out.squeeze(0)?);
                }
                start += length;
            }
            Tensor::cat(&parts, 0)
        };
        gradients_agree(
            &[&q, &k, &v],
            1e-4,
            || attention_varlen(&q, &k, &v, &sequences, &options),
            reference,
        )?;
    }
    Ok(())
}

#[test]
fn halves_bias_keep_and_lse() -> Result<()> {
    for device in devices()? {
        let half = |dims: &[usize], seed| tensor(dims, seed, &device)?.to_dtype(DType::F16);
        let (q, k, v) = (
            half(&[1, 4, 2, 16], 1)?,
            half(&[1, 4, 2, 16], 2)?,
            half(&[1, 4, 2, 16], 3)?,
        );
        let wide = |tensor: &Tensor| tensor.to_dtype(DType::F32);
        let keep = Tensor::from_vec(vec![1u8, 0, 1, 1], (1, 1, 1, 4), &device)?;
        let bias = Tensor::from_vec(vec![0f32; 16], (1, 1, 4, 4), &device)?;
        let options = AttentionOptions {
            keep: Some(keep),
            bias: Some(bias),
            ..Default::default()
        };
        let (out, lse) = attention_with_lse(&q, &k, &v, &options)?;
        assert_eq!((out.dtype(), lse.dims()), (DType::F16, &[1, 2, 4][..]));
        let (q, k, v) = (wide(&q)?, wide(&k)?, wide(&v)?);
        close(&out, &formula(&q, &k, &v, |_, key| key != 1)?, 3e-3)?;
        // lse of head 1, query 2, by hand.
        let row = |tensor: &Tensor, at: usize| values(&tensor.narrow(1, at, 1)?.narrow(2, 1, 1)?);
        let query = row(&q, 2)?;
        let mut sum = 0f32;
        for key in [0, 2, 3] {
            let score: f32 = query.iter().zip(row(&k, key)?).map(|(x, y)| x * y).sum();
            sum += (score / 4.0).exp();
        }
        assert!((values(&lse)?[6] - sum.ln()).abs() < 1e-3);
    }
    Ok(())
}

#[test]
fn attentions_over_parts_of_the_keys_are_joined() -> Result<()> {
    for device in devices()? {
        let (q, k) = (
            tensor(&[2, 3, 4, 16], 1, &device)?,
            tensor(&[2, 8, 2, 16], 2, &device)?,
        );
        let v = tensor(&[2, 8, 2, 16], 3, &device)?;
        let options = AttentionOptions::default();
        let of = |first, count| {
            attention_with_lse(
                &q,
                &k.narrow(1, first, count)?,
                &v.narrow(1, first, count)?,
                &options,
            )
        };
        let ((out_a, lse_a), (out_b, lse_b), (out, lse)) = (of(0, 3)?, of(3, 5)?, of(0, 8)?);
        let (got, got_lse) = merge_states([&out_a, &lse_a], [&out_b, &lse_b])?;
        close(&got, &out, 1e-4)?;
        close(&got_lse, &lse, 1e-4)?;
    }
    Ok(())
}

#[test]
fn gradients_that_would_be_lost_are_refused() -> Result<()> {
    let device = Device::Cpu;
    let [q, k, v] = heads(&device, 4, 4)?;
    let sinks = variable(&[4], 5, &device)?;
    let options = AttentionOptions {
        sinks: Some(sinks.as_tensor().clone()),
        ..Default::default()
    };
    let error = attention(&q, &k, &v, &options).unwrap_err().to_string();
    assert!(error.contains("detach()"), "{error}");
    assert!(attention_with_lse(&q, &k, &v, &AttentionOptions::default()).is_err());
    let error = attention(&q, &k.narrow(2, 0, 1)?, &v, &AttentionOptions::default())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("kaio: "), "{error}");
    Ok(())
}
