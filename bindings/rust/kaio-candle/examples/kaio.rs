//! The three examples of KAIO's candle bridge: a product of halves with its gradients, a product of bytes, and causal
//! attention. Each is compared with candle's operations; the program fails if they differ.
//!
//!     cargo run --release --example kaio [--features cuda -- cuda]

use candle_core::{DType, Device, Result, Tensor, Var, D};
use kaio_candle::parity::{attention_tc_causal, matmul_int8, matmul_tc};

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / 8388608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// The largest difference, in units of the largest number of `want`.
fn difference(got: &Tensor, want: &Tensor) -> Result<f32> {
    let list = |t: &Tensor| {
        t.to_device(&Device::Cpu)?
            .to_dtype(DType::F32)?
            .flatten_all()?
            .to_vec1::<f32>()
    };
    let (got, want) = (list(got)?, list(want)?);
    let largest = want.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    Ok(got
        .iter()
        .zip(&want)
        .fold(0f32, |most, (x, y)| most.max((x - y).abs()))
        / largest)
}

fn report(name: &str, difference: f32, bound: f32) -> Result<()> {
    println!("{name}: largest difference {difference:.1e}, bound {bound:.0e}");
    if difference > bound || difference.is_nan() {
        candle_core::bail!("{name} differs from candle")
    }
    Ok(())
}

fn main() -> Result<()> {
    let device = match std::env::args().nth(1).as_deref() {
        Some("cuda") => Device::new_cuda(0)?,
        _ => Device::Cpu,
    };
    let random = |dims: (usize, usize), seed| Tensor::from_vec(numbers(dims.0 * dims.1, seed), dims, &device);

    // matmul_tc: f16 into f32, with gradients of f16.
    let a = Var::from_tensor(&random((64, 32), 1)?.to_dtype(DType::F16)?)?;
    let b = Var::from_tensor(&random((32, 48), 2)?.to_dtype(DType::F16)?)?;
    let c = matmul_tc(&a, &b)?;
    let wide = |t: &Tensor| t.to_dtype(DType::F32);
    let want = wide(&a)?.matmul(&wide(&b)?)?;
    report("matmul_tc", difference(&c, &want)?, 1e-3)?;
    let (got, want) = (
        c.sqr()?.sum_all()?.backward()?,
        want.sqr()?.sum_all()?.backward()?,
    );
    for (name, variable) in [("matmul_tc, gradient of a", &a), ("matmul_tc, gradient of b", &b)] {
        let (Some(got), Some(want)) = (got.get(variable), want.get(variable)) else {
            candle_core::bail!("{name} is missing")
        };
        report(name, difference(got, want)?, 5e-3)?;
    }

    // matmul_int8: bytes of i8 in U8 tensors; sums are exact.
    let byte = |x: f32| (x * 127.0).round() as i8;
    let (x, y) = (numbers(32 * 64, 3), numbers(64 * 16, 4));
    let codes = |list: &[f32], dims: (usize, usize)| {
        Tensor::from_vec(list.iter().map(|&x| byte(x) as u8).collect(), dims, &device)
    };
    let whole = |list: &[f32], dims: (usize, usize)| {
        Tensor::from_vec(list.iter().map(|&x| f32::from(byte(x))).collect(), dims, &device)
    };
    let got = matmul_int8(&codes(&x, (32, 64))?, &codes(&y, (64, 16))?, 1.0 / 127.0)?;
    let want = whole(&x, (32, 64))?
        .matmul(&whole(&y, (64, 16))?)?
        .affine(1.0 / 127.0, 0.0)?;
    report("matmul_int8", difference(&got, &want)?, 1e-6)?;

    // attention_tc_causal: one head of 64 queries.
    let half = |seed| random((64, 32), seed)?.to_dtype(DType::F16);
    let (q, k, v) = (half(5)?, half(6)?, half(7)?);
    let mask = (0..64 * 64)
        .map(|at| if at % 64 > at / 64 { f32::NEG_INFINITY } else { 0.0 })
        .collect::<Vec<f32>>();
    let scores = wide(&q)?
        .matmul(&wide(&k)?.t()?.contiguous()?)?
        .affine(1.0 / 32f64.sqrt(), 0.0)?;
    let e = scores.add(&Tensor::from_vec(mask, (64, 64), &device)?)?.exp()?;
    let want = e.broadcast_div(&e.sum_keepdim(D::Minus1)?)?.matmul(&wide(&v)?)?;
    report(
        "attention_tc_causal",
        difference(&attention_tc_causal(&q, &k, &v)?, &want)?,
        2e-3,
    )?;
    println!("PASS");
    Ok(())
}
