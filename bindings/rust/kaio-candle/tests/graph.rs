//! Calls that are captured into a CUDA graph, and replayed with other numbers.
#![cfg(feature = "cuda")]
mod common;
use candle_core::cuda_backend::{cudarc::driver::DevicePtr, CudaStorageSlice};
use candle_core::{DType, Device, Result, Storage, Tensor};
use common::*;
use kaio_candle::{linear, DecodeOptions, KvCache};
use kaio_sys::{kaio_capture, kaio_graph, DLDevice};
use std::{ffi::c_void, ptr::null_mut};

/// A step: one new key and value are appended, and the query attends to all. All of it is on the device.
fn step(cache: &KvCache, full: &KvCache, x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let heads = linear(x, weight, None)?.reshape((1, 1, 4, 16))?;
    cache.append(&heads.narrow(2, 2, 1)?, &heads.narrow(2, 3, 1)?, None)?;
    full.attention(&heads.narrow(2, 0, 2)?, &DecodeOptions::default())
}

fn cache(kv: &Tensor, lengths: &Tensor, at: usize) -> Result<KvCache> {
    let lengths = Some(lengths.narrow(0, at, 1)?);
    Ok(KvCache {
        kv: kv.clone(),
        table: None,
        lengths,
        k_scale: None,
        v_scale: None,
    })
}

#[test]
fn a_captured_step_reads_its_numbers_when_it_is_replayed() -> Result<()> {
    let device = Device::new_cuda_with_stream(0)?;
    let Device::Cuda(cuda) = &device else {
        unreachable!()
    };
    let own = cuda.cuda_stream();
    let stream: *mut c_void = own.cu_stream().cast();
    let place = DLDevice {
        device_type: kaio_sys::kDLCUDA,
        device_id: 0,
    };
    let kaio = kaio_sys::load().expect("libkaio");
    let address = |tensor: &Tensor| match &*tensor.storage_and_layout().0 {
        Storage::Cuda(storage) => match &storage.slice {
            CudaStorageSlice::U32(slice) => slice.device_ptr(&own).0 as *mut c_void,
            CudaStorageSlice::F32(slice) => slice.device_ptr(&own).0 as *mut c_void,
            _ => unreachable!(),
        },
        _ => unreachable!(),
    };

    let (first, second) = (tensor(&[1, 64], 1, &device)?, tensor(&[1, 64], 3, &device)?);
    let weight = tensor(&[64, 64], 2, &device)?;
    let memory = || Tensor::zeros((2, 1, 8, 1, 16), DType::F32, &device);
    let lengths = |lengths: [u32; 2]| Tensor::from_slice(&lengths, 2, &device);

    // Two steps without a graph.
    let kv = memory()?;
    let (zero, one) = (lengths([0, 1])?, lengths([1, 2])?);
    let unchanged = values(&step(
        &cache(&kv, &zero, 0)?,
        &cache(&kv, &zero, 1)?,
        &first,
        &weight,
    )?)?;
    let want = values(&step(
        &cache(&kv, &one, 0)?,
        &cache(&kv, &one, 1)?,
        &second,
        &weight,
    )?)?;

    // The first step runs, the second one is captured with the first one's numbers. Then they change.
    let kv = memory()?;
    let (x, now) = (tensor(&[1, 64], 1, &device)?, lengths([0, 1])?);
    let (append, attend) = (cache(&kv, &now, 0)?, cache(&kv, &now, 1)?);
    assert_eq!(values(&step(&append, &attend, &x, &weight)?)?, unchanged);
    let (mut capture, mut graph): (*mut kaio_capture, *mut kaio_graph) = (null_mut(), null_mut());
    // SAFETY: a stream of the device, pointers to locals, and tensors that live as long as the graph.
    let got = unsafe {
        assert_eq!((kaio.kaio_capture_begin)(place, stream, &mut capture), 0);
        let out = step(&append, &attend, &x, &weight);
        assert_eq!((kaio.kaio_capture_end)(capture, &mut graph), 0);
        let (numbers, lengths) = (numbers(64, 3), [1u32, 2]);
        let copy = kaio.kaio_copy_to_device;
        assert_eq!(copy(place, stream, address(&x), numbers.as_ptr().cast(), 256), 0);
        assert_eq!(copy(place, stream, address(&now), lengths.as_ptr().cast(), 8), 0);
        assert_eq!((kaio.kaio_graph_launch)(graph, stream), 0);
        device.synchronize()?;
        let got = values(&out?)?;
        assert_eq!((kaio.kaio_graph_destroy)(graph), 0);
        got
    };
    assert_ne!(got, unchanged);
    assert_eq!(got, want);
    Ok(())
}
