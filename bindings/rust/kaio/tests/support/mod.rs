//! What tests share: the device, and numbers. Not every test uses all of it.
#![allow(dead_code)]

use kaio::{Buffer, Device, Element, Stream};

/// The device that `KAIO_DEVICE` names, else the emulator.
pub fn device() -> Device {
    Device::open(&std::env::var("KAIO_DEVICE").unwrap_or_else(|_| "emulator".to_string())).unwrap()
}

/// Numbers between -1 and 1 that look random, and are the same in every run.
pub fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(1);
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect()
}

pub fn upload<T: Element>(device: &Device, from: &[T]) -> Buffer<T> {
    Buffer::from_slice(device, from).unwrap()
}

pub fn zeros<T: Element>(device: &Device, len: usize) -> Buffer<T> {
    Buffer::zeros(device, len).unwrap()
}

pub fn stream(device: &Device) -> Stream {
    Stream::new(device).unwrap()
}

#[track_caller]
pub fn assert_close(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!(
            (got - expected).abs() <= tolerance,
            "element {}: {} instead of {}",
            at,
            got,
            expected
        );
    }
}
