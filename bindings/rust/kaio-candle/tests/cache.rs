//! Caches of keys and values: appending in place, pages, attention over them.
mod common;
use candle_core::{DType, Device, Result, Tensor};
use common::*;
use kaio_candle::{
    attention, rotary, rotary_table, AttentionOptions, CacheRotary, Causal, DecodeOptions, KvCache,
    RotaryOptions,
};

fn indices(values: &[u32], device: &Device) -> Result<Tensor> {
    Tensor::from_slice(values, values.len(), device)
}

#[test]
fn a_step_over_pages_is_the_attention_over_all_keys() -> Result<()> {
    for device in devices()? {
        // Two sequences of 5 and 3 keys in pages of 4 rows, in any order.
        let (heads, kv_heads, size) = (4, 2, 16);
        let kv = Tensor::zeros((2, 6, 4, kv_heads, size), DType::F32, &device)?;
        let table = Tensor::from_vec(vec![4u32, 1, 2, 5], (2, 2), &device)?;
        let (k, v) = (
            tensor(&[2, 6, kv_heads, size], 1, &device)?,
            tensor(&[2, 6, kv_heads, size], 2, &device)?,
        );
        let cache = |lengths: [u32; 2]| -> Result<KvCache> {
            Ok(KvCache {
                kv: kv.clone(),
                table: Some(table.clone()),
                lengths: Some(indices(&lengths, &device)?),
                k_scale: None,
                v_scale: None,
            })
        };
        let (cos, sin) = rotary_table(8, 8, 10000.0, DType::F32, &device)?;
        let turn = CacheRotary {
            cos: cos.clone(),
            sin: sin.clone(),
            interleaved: false,
        };
        // Sequence 0 gets three tokens and then two; sequence 1 gets three, and two that its length leaves out.
        cache([0, 0])?.append(&k.narrow(1, 0, 3)?, &v.narrow(1, 0, 3)?, Some(&turn))?;
        cache([3, 3])?.append(&k.narrow(1, 3, 2)?, &v.narrow(1, 3, 2)?, Some(&turn))?;
        let q = tensor(&[2, 1, heads, size], 3, &device)?;
        let got = cache([5, 3])?.attention(&q, &DecodeOptions::default())?;
        let turned = rotary(
            &k,
            &cos.narrow(0, 0, 6)?,
            &sin.narrow(0, 0, 6)?,
            &RotaryOptions::default(),
        )?;
        for (sequence, length) in [(0, 5), (1, 3)] {
            let part = |tensor: &Tensor| tensor.narrow(0, sequence, 1)?.narrow(1, 0, length);
            let query = q.narrow(0, sequence, 1)?;
            let want = attention(&query, &part(&turned)?, &part(&v)?, &AttentionOptions::default())?;
            close(&got.narrow(0, sequence, 1)?, &want, 1e-4)?;
        }
    }
    Ok(())
}

#[test]
fn contiguous_caches_and_several_queries() -> Result<()> {
    for device in devices()? {
        // The memory is (batch, 2, rows, heads, size), given as a view.
        let memory = Tensor::zeros((2, 2, 8, 1, 8), DType::F16, &device)?;
        let half = |dims: &[usize], seed| tensor(dims, seed, &device)?.to_dtype(DType::F16);
        let (k, v) = (half(&[2, 4, 1, 8], 1)?, half(&[2, 4, 1, 8], 2)?);
        let cache = |length: u32| -> Result<KvCache> {
            Ok(KvCache {
                kv: memory.transpose(0, 1)?,
                table: None,
                lengths: Some(indices(&[length, length], &device)?),
                k_scale: None,
                v_scale: None,
            })
        };
        cache(0)?.append(&k, &v, None)?;
        let q = half(&[2, 3, 2, 8], 3)?;
        let options = DecodeOptions {
            causal: Causal::BottomRight,
            max_length: 4,
            ..Default::default()
        };
        let got = cache(4)?.attention(&q, &options)?;
        let options = AttentionOptions {
            causal: Causal::BottomRight,
            ..Default::default()
        };
        close(&got, &attention(&q, &k, &v, &options)?, 2e-3)?;
        // Rows beyond the length are as they were.
        assert!(values(&memory.narrow(2, 4, 4)?)?.iter().all(|x| *x == 0.0));
    }
    Ok(())
}

#[test]
fn new_keys_are_not_in_the_cache() -> Result<()> {
    for device in devices()? {
        let cache = KvCache {
            kv: Tensor::zeros((2, 1, 8, 1, 16), DType::F32, &device)?,
            table: None,
            lengths: Some(indices(&[0], &device)?),
            k_scale: None,
            v_scale: None,
        };
        let key = cache.kv.get(0)?.narrow(1, 4, 2)?;
        let copy = key.affine(1.0, 0.0)?;
        let error = cache.append(&copy, &key, None).unwrap_err();
        assert!(error.to_string().contains("copy() it"), "{error}");
        cache.append(&copy, &copy, None)?;
    }
    Ok(())
}

#[test]
fn keys_and_values_of_eight_bits() -> Result<()> {
    for device in devices()? {
        let half = |dims: &[usize], seed| tensor(dims, seed, &device)?.to_dtype(DType::F16);
        let (k, v) = (half(&[1, 6, 1, 16], 1)?, half(&[1, 6, 1, 16], 2)?);
        let scale = |value: f32| Tensor::from_vec(vec![value], 1, &device);
        let cache = KvCache {
            kv: Tensor::zeros((2, 1, 8, 1, 16), DType::F8E4M3, &device)?,
            table: None,
            lengths: Some(indices(&[0], &device)?),
            k_scale: Some(scale(1.0 / 256.0)?),
            v_scale: Some(scale(1.0 / 128.0)?),
        };
        cache.append(&k, &v, None)?;
        let q = half(&[1, 1, 2, 16], 3)?;
        let full = KvCache {
            lengths: Some(indices(&[6], &device)?),
            ..cache.clone()
        };
        let want = attention(&q, &k, &v, &AttentionOptions::default())?;
        close(&full.attention(&q, &DecodeOptions::default())?, &want, 8e-2)?;
    }
    Ok(())
}
