//! Packed weights: codes of GPTQ, AWQ and GGUF made here by their layouts, against products with their numbers.
mod common;
use candle_core::{DType, Device, Result, Tensor, Var};
use common::*;
use kaio_candle::*;

const N: usize = 64;
const K: usize = 64;
const GROUP: usize = 32;

fn code(n: usize, k: usize, of: usize) -> u32 {
    ((n * 7 + k * 13 + (n * k) % 5) % of) as u32
}

fn scale(group: usize, n: usize) -> f32 {
    (1 + (n + group) % 4) as f32 / 16.0
}

fn scales(device: &Device) -> Result<Tensor> {
    let scales: Vec<f32> = (0..K / GROUP * N).map(|at| scale(at / N, at % N)).collect();
    Tensor::from_vec(scales, (K / GROUP, N), device)?.to_dtype(DType::F16)
}

/// The weight (N, K) of f32 that `number(n, k)` gives.
fn matrix(device: &Device, number: impl Fn(usize, usize) -> f32) -> Result<Tensor> {
    Tensor::from_vec(
        (0..N * K).map(|at| number(at / K, at % K)).collect(),
        (N, K),
        device,
    )
}

/// The packed weight has these numbers, and multiplies x (2, 3, K) and a bias with them.
#[track_caller]
fn check(packed: &PackedWeight, want: &Tensor) -> Result<()> {
    let device = want.device();
    assert_eq!((packed.n(), packed.k()), (N, K));
    close(&packed.dequantise(DType::F32)?, want, 1e-6)?;
    let x = tensor(&[2, 3, K], 1, device)?.to_dtype(DType::F16)?;
    let bias = tensor(&[N], 2, device)?.to_dtype(DType::F16)?;
    let wide = x.to_dtype(DType::F32)?.reshape((6, K))?.matmul(&want.t()?)?;
    let wide = wide
        .broadcast_add(&bias.to_dtype(DType::F32)?)?
        .reshape((2, 3, N))?;
    close(&packed.matmul(&x, Some(&bias), Some(DType::F32))?, &wide, 2e-3)?;
    assert_eq!(packed.matmul(&x, None, None)?.dtype(), DType::F16);
    let tracked = Var::from_tensor(&x)?;
    let half = want.to_dtype(DType::F16)?;
    gradients_agree(
        &[&tracked],
        2e-3,
        || packed.matmul(&tracked, None, None),
        || linear(&tracked, &half, None),
    )?;
    let bias = Var::from_tensor(&bias)?;
    assert!(packed.matmul(&x, Some(&bias), None).is_err());
    Ok(())
}

#[test]
fn gptq_of_four_and_eight_bits() -> Result<()> {
    for device in devices()? {
        for bits in [4, 8] {
            let (codes, per_word) = (1 << bits, 32 / bits);
            let mut words = vec![0u32; K / per_word * N];
            for (n, k) in (0..N).flat_map(|n| (0..K).map(move |k| (n, k))) {
                words[k / per_word * N + n] |= code(n, k, codes) << (bits * (k % per_word));
            }
            let qweight = Tensor::from_vec(words, (K / per_word, N), &device)?;
            // Zero points, which the older format stores less 1.
            let zero = |group: usize, n: usize| (3 + (n + 2 * group) % 5) as u32;
            let mut words = vec![0u32; K / GROUP * N / per_word];
            for (group, n) in (0..K / GROUP).flat_map(|group| (0..N).map(move |n| (group, n))) {
                words[group * N / per_word + n / per_word] |= (zero(group, n) - 1) << (bits * (n % per_word));
            }
            let qzeros = Tensor::from_vec(words, (K / GROUP, N / per_word), &device)?;
            let layer = Gptq {
                qweight: &qweight,
                scales: &scales(&device)?,
                qzeros: Some(&qzeros),
                g_idx: None,
                bits,
                v2: false,
            };
            let number = |n, k| scale(k / GROUP, n) * (code(n, k, codes) as f32 - zero(k / GROUP, n) as f32);
            check(&PackedWeight::gptq(layer)?, &matrix(&device, number)?)?;
            let middle = (codes / 2) as f32;
            let number = |n, k| scale(k / GROUP, n) * (code(n, k, codes) as f32 - middle);
            check(
                &PackedWeight::gptq(Gptq {
                    qzeros: None,
                    ..layer
                })?,
                &matrix(&device, number)?,
            )?;
        }
    }
    Ok(())
}

#[test]
fn awq() -> Result<()> {
    for device in devices()? {
        let order = [0, 2, 4, 6, 1, 3, 5, 7];
        let words = |rows: usize, of: &dyn Fn(usize, usize) -> u32| {
            let mut words = vec![0u32; rows * N / 8];
            for (row, word) in (0..rows).flat_map(|row| (0..N / 8).map(move |word| (row, word))) {
                for (nibble, column) in order.iter().enumerate() {
                    words[row * N / 8 + word] |= of(row, 8 * word + column) << (4 * nibble);
                }
            }
            Tensor::from_vec(words, (rows, N / 8), &device)
        };
        let zero = |group: usize, n: usize| ((n + 3 * group) % 16) as u32;
        let packed = PackedWeight::awq(
            &words(K, &|k, n| code(n, k, 16))?,
            &words(K / GROUP, &zero)?,
            &scales(&device)?,
        )?;
        let number = |n, k| scale(k / GROUP, n) * (code(n, k, 16) as f32 - zero(k / GROUP, n) as f32);
        check(&packed, &matrix(&device, number)?)?;
    }
    Ok(())
}

#[test]
fn gguf() -> Result<()> {
    for device in devices()? {
        // Scales of 2^-e as f16.
        let power = |n: usize, block: usize| (n + block) % 3 + 2;
        let half = |e: usize| (((15 - e) as u16) << 10).to_le_bytes();
        let (mut small, mut large) = (vec![], vec![]);
        for (n, block) in (0..N).flat_map(|n| (0..K / 32).map(move |block| (n, block))) {
            let at = |i: usize| code(n, 32 * block + i, 16) as u8;
            small.extend(half(power(n, block)));
            small.extend((0..16).map(|i| at(i) | at(i + 16) << 4));
            large.extend(half(power(n, block)));
            large.extend((0..32).map(|i| code(n, 32 * block + i, 256) as u8));
        }
        let bytes = |bytes: Vec<u8>| Tensor::from_vec(bytes.clone(), bytes.len(), &device);
        let (small, large) = (bytes(small)?, bytes(large)?);
        let unit = |n: usize, k: usize| 0.5f32.powi(power(n, k / 32) as i32);
        let want = matrix(&device, |n, k| unit(n, k) * (code(n, k, 16) as f32 - 8.0))?;
        check(&PackedWeight::gguf(&small, "Q4_0", N, K)?, &want)?;
        close(&dequantise_gguf(&small, "Q4_0", N, K, DType::F32)?, &want, 1e-6)?;
        let want = matrix(&device, |n, k| {
            unit(n, k) * f32::from(code(n, k, 256) as u8 as i8)
        })?;
        check(&PackedWeight::gguf(&large, "Q8_0", N, K)?, &want)?;
        let error = PackedWeight::gguf(&small, "Q4_9", N, K).unwrap_err().to_string();
        assert!(error.contains("Q4_9"), "{error}");
    }
    Ok(())
}

#[test]
fn codes_of_eight_bits() -> Result<()> {
    for device in devices()? {
        let w = tensor(&[N, K], 3, &device)?;
        let (codes, scales) = quantise_int8(&w)?;
        let packed = PackedWeight::int8(&codes, &scales)?;
        close(&packed.dequantise(DType::F32)?, &w, 1e-2)?;
        check(&packed, &packed.dequantise(DType::F32)?)?;
        let (codes, scales) = quantise_fp8(&w)?;
        let error = PackedWeight::int8(&codes, &scales).unwrap_err().to_string();
        assert!(error.contains("U8 is needed"), "{error}");
        let packed = PackedWeight::fp8(&codes, &scales)?;
        close(&packed.dequantise(DType::F32)?, &w, 7e-2)?;
        check(&packed, &packed.dequantise(DType::F32)?)?;
    }
    Ok(())
}

#[test]
fn products_of_eight_bits() -> Result<()> {
    for device in devices()? {
        let (x, w) = (tensor(&[8, K], 1, &device)?, tensor(&[N, K], 2, &device)?);
        let want = x.matmul(&w.t()?)?;
        let ((a, scale_a), (b, scale_b)) = (quantise_int8(&x)?, quantise_int8(&w)?);
        let options = EightBitOptions {
            scale_a: Some(scale_a),
            scale_b: Some(scale_b),
            ..Default::default()
        };
        close(&matmul_int8(&a, &b.t()?, &options)?, &want, 2e-2)?;
        let ((a, scale_a), (b, scale_b)) = (quantise_fp8(&x)?, quantise_fp8(&w)?);
        let options = EightBitOptions {
            scale_a: Some(scale_a),
            scale_b: Some(scale_b),
            ..Default::default()
        };
        close(&matmul_fp8(&a, &b.t()?, &options)?, &want, 8e-2)?;
    }
    Ok(())
}

#[test]
fn projections_of_a_layer() -> Result<()> {
    for device in devices()? {
        let half = |dims: &[usize], seed| tensor(dims, seed, &device)?.to_dtype(DType::F16);
        let (x, size) = (half(&[2, 5, K], 1)?, 16);
        let (wq, wk, wv) = (half(&[N, K], 2)?, half(&[32, K], 3)?, half(&[32, K], 4)?);
        let (cos, sin) = rotary_table(5, size / 2, 10000.0, DType::F32, &device)?;
        let options = QkvOptions {
            rotary: Some((&cos, &sin)),
            ..Default::default()
        };
        let weights = [Weight::Matrix(&wq), Weight::Matrix(&wk), Weight::Matrix(&wv)];
        let (q, k, v) = qkv_project(&x, weights, size, &options)?;
        let heads = |w: &Tensor| linear(&x, w, None)?.reshape((2, 5, w.dims()[0] / size, size));
        let turned = |x: &Tensor| rotary(x, &cos, &sin, &RotaryOptions::default());
        close(&q, &turned(&heads(&wq)?)?, 4e-3)?;
        close(&k, &turned(&heads(&wk)?)?, 4e-3)?;
        close(&v, &heads(&wv)?, 4e-3)?;
        let tracked = Var::from_tensor(&cos)?;
        let options = QkvOptions {
            rotary: Some((&tracked, &sin)),
            ..Default::default()
        };
        assert!(qkv_project(&x, weights, size, &options).is_err());
        let (gate, up) = (half(&[N, K], 5)?, half(&[N, K], 6)?);
        let want = gated(
            &linear(&x, &gate, None)?,
            &linear(&x, &up, None)?,
            Activation::Silu,
        )?;
        let got = gate_up_project(&x, Weight::Matrix(&gate), Weight::Matrix(&up), Epilogue::Silu)?;
        close(&got, &want, 4e-3)?;
        let (codes, scales) = quantise_int8(&gate)?;
        let packed = PackedWeight::int8(&codes, &scales)?;
        let got = gate_up_project(
            &x,
            Weight::Packed(&packed),
            Weight::Packed(&packed),
            Epilogue::Silu,
        )?;
        let gate = linear(&x, &packed.dequantise(DType::F16)?, None)?;
        close(&got, &gated(&gate, &gate, Activation::Silu)?, 4e-3)?;
    }
    Ok(())
}
