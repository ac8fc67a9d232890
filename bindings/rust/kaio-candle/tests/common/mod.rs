//! Numbers, devices and comparisons of the tests.
#![allow(dead_code)]

use candle_core::{DType, Device, Result, Tensor, Var, D};

/// The CPU, on which the emulator runs. With the feature cuda, CUDA device 0 too, by the stream of each thread (handle 2)
/// and by a stream of its own.
pub fn devices() -> Result<Vec<Device>> {
    #[allow(unused_mut)]
    let mut devices = vec![Device::Cpu];
    #[cfg(feature = "cuda")]
    devices.extend([Device::new_cuda(0)?, Device::new_cuda_with_stream(0)?]);
    Ok(devices)
}

/// Numbers from -1 to 1, the same for the same seed.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2654435761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f32 / 8388608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub fn tensor(dims: &[usize], seed: u32, device: &Device) -> Result<Tensor> {
    Tensor::from_vec(numbers(dims.iter().product(), seed), dims, device)
}

pub fn variable(dims: &[usize], seed: u32, device: &Device) -> Result<Var> {
    Var::from_tensor(&tensor(dims, seed, device)?)
}

pub fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor
        .to_device(&Device::Cpu)?
        .to_dtype(DType::F32)?
        .flatten_all()?
        .to_vec1()
}

/// The shapes are equal, and no number is farther from `want` than `tolerance` times the largest one.
#[track_caller]
pub fn close(got: &Tensor, want: &Tensor, tolerance: f32) -> Result<()> {
    assert_eq!(got.dims(), want.dims());
    let (got, want) = (values(got)?, values(want)?);
    let largest = want.iter().fold(1e-3f32, |largest, x| largest.max(x.abs()));
    for (at, (got, want)) in got.iter().zip(&want).enumerate() {
        assert!(
            (got - want).abs() <= tolerance * largest,
            "element {at}: {got}, and {want} was expected"
        );
    }
    Ok(())
}

/// Gradients of `f` and `reference` agree for a loss whose gradient differs from element to element.
#[track_caller]
pub fn gradients_agree(
    variables: &[&Var],
    tolerance: f32,
    f: impl Fn() -> Result<Tensor>,
    reference: impl Fn() -> Result<Tensor>,
) -> Result<()> {
    let (got, want) = (f()?, reference()?);
    close(&got, &want, tolerance)?;
    let weights = tensor(got.dims(), 99, got.device())?.to_dtype(got.dtype())?;
    let got = got.mul(&weights)?.sum_all()?.backward()?;
    let want = want
        .mul(&weights.to_dtype(want.dtype())?)?
        .sum_all()?
        .backward()?;
    for variable in variables {
        let (got, want) = (
            got.get(variable).expect("a gradient"),
            want.get(variable).expect("a gradient"),
        );
        assert_eq!(got.dtype(), variable.dtype());
        close(got, want, tolerance)?;
    }
    Ok(())
}

/// softmax along the last dimension by candle's operations. A row of -infinity becomes 0.
pub fn softmax(x: &Tensor) -> Result<Tensor> {
    let shifted = x.broadcast_sub(&x.detach().max_keepdim(D::Minus1)?.affine(1.0, 0.0)?)?;
    let e = shifted.exp()?;
    e.broadcast_div(&e.sum_keepdim(D::Minus1)?)
}
