//! The only file that touches candle's storage: views of inputs, and outputs by candle's allocator.
//!
//! A view is shape, strides, offset and address of a tensor as it is: nothing is copied. On a CUDA device, the address
//! comes with cudarc's guard, which orders the work of several streams; views live until the launch has returned.

use crate::view::View;
#[cfg(feature = "cuda")]
use candle_core::cuda_backend::{
    cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut},
    CudaStorageSlice,
};
use candle_core::{bail, CpuStorage, DType, Error, Layout, Result, Shape, Storage, Tensor};
#[cfg(feature = "cuda")]
use candle_core::{CudaDevice, CudaStorage};
use kaio_sys::DLDevice;
use std::ffi::c_void;
#[cfg(feature = "cuda")]
use std::{rc::Rc, sync::Arc};

/// Where a call runs: on the emulator for tensors of the CPU, by a stream of the calling thread, or in the stream of a
/// CUDA device.
pub(crate) enum Place {
    Emulator(*mut c_void),
    #[cfg(feature = "cuda")]
    Gpu(CudaDevice, Arc<CudaStream>),
}

/// A tensor of a call, as candle hands it to an operation.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    Cpu(&'a CpuStorage, &'a Layout),
    #[cfg(feature = "cuda")]
    Gpu(&'a CudaStorage, &'a Layout),
}

impl<'a> Input<'a> {
    pub(crate) fn of(storage: &'a Storage, layout: &'a Layout) -> Result<Self> {
        match storage {
            Storage::Cpu(storage) => Ok(Self::Cpu(storage, layout)),
            #[cfg(feature = "cuda")]
            Storage::Cuda(storage) => Ok(Self::Gpu(storage, layout)),
            _ => bail!("kaio: a tensor is on a device that kaio has no kernels for: use CPU or CUDA tensors"),
        }
    }

    pub(crate) fn place(&self) -> Result<Place> {
        match self {
            Self::Cpu(..) => Ok(Place::Emulator(crate::library::emulator_stream()?)),
            #[cfg(feature = "cuda")]
            Self::Gpu(storage, _) => Ok(Place::Gpu(storage.device.clone(), storage.device.cuda_stream())),
        }
    }

    pub(crate) fn layout(&self) -> &'a Layout {
        match self {
            Self::Cpu(_, layout) => layout,
            #[cfg(feature = "cuda")]
            Self::Gpu(_, layout) => layout,
        }
    }

    pub(crate) fn dims(&self) -> &'a [usize] {
        self.layout().dims()
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Cpu(storage, _) => cpu_dtype(storage),
            #[cfg(feature = "cuda")]
            Self::Gpu(storage, _) => gpu_dtype(&storage.slice),
        }
    }
}

/// Calls `$body` with `$v` bound to the vector or slice of a storage, for every type that has elements of its own.
macro_rules! each_type {
    ($kind:ident, $storage:expr, $v:ident => $body:expr, _ => $other:expr) => {
        match $storage {
            $kind::U8($v) => $body,
            $kind::U32($v) => $body,
            $kind::I16($v) => $body,
            $kind::I32($v) => $body,
            $kind::I64($v) => $body,
            $kind::BF16($v) => $body,
            $kind::F16($v) => $body,
            $kind::F32($v) => $body,
            $kind::F64($v) => $body,
            $kind::F8E4M3($v) => $body,
            $kind::F8E8M0($v) => $body,
            _ => $other,
        }
    };
}

macro_rules! dtype_of {
    ($kind:ident, $storage:expr) => {
        match $storage {
            $kind::U8(_) => DType::U8,
            $kind::U32(_) => DType::U32,
            $kind::I16(_) => DType::I16,
            $kind::I32(_) => DType::I32,
            $kind::I64(_) => DType::I64,
            $kind::BF16(_) => DType::BF16,
            $kind::F16(_) => DType::F16,
            $kind::F32(_) => DType::F32,
            $kind::F64(_) => DType::F64,
            $kind::F8E4M3(_) => DType::F8E4M3,
            $kind::F6E2M3(_) => DType::F6E2M3,
            $kind::F6E3M2(_) => DType::F6E3M2,
            $kind::F4(_) => DType::F4,
            $kind::F8E8M0(_) => DType::F8E8M0,
        }
    };
}

fn cpu_dtype(storage: &CpuStorage) -> DType {
    dtype_of!(CpuStorage, storage)
}

#[cfg(feature = "cuda")]
fn gpu_dtype(slice: &CudaStorageSlice) -> DType {
    dtype_of!(CudaStorageSlice, slice)
}

impl Place {
    /// The stream that work goes into.
    pub(crate) fn stream(&self) -> *mut c_void {
        match self {
            Self::Emulator(stream) => *stream,
            #[cfg(feature = "cuda")]
            Self::Gpu(_, stream) => stream.cu_stream().cast(),
        }
    }

    fn device(&self) -> DLDevice {
        match self {
            Self::Emulator(_) => DLDevice {
                device_type: kaio_sys::kDLCPU,
                device_id: 0,
            },
            #[cfg(feature = "cuda")]
            Self::Gpu(_, stream) => DLDevice {
                device_type: kaio_sys::kDLCUDA,
                device_id: stream.context().ordinal() as i32,
            },
        }
    }

    /// A view of an input. Fails if the input is on another device, or if its layout leaves its storage.
    pub(crate) fn view<'a>(&'a self, input: &Input<'a>) -> Result<View<'a>> {
        let layout = input.layout();
        let mut view = View::outline(self.device(), layout, input.dtype())?;
        match (self, input) {
            (Self::Emulator(_), Input::Cpu(storage, _)) => {
                let offset = layout.start_offset();
                let (base, length, size) = each_type!(CpuStorage, storage,
                    v => (v.as_ptr() as *mut c_void, v.len(), size_of_element(v)), _ => return Err(no_elements()));
                inside(layout, length)?;
                // SAFETY: the offset is inside of the vector, or the view is empty and nobody reads it.
                view.data = unsafe { base.cast::<u8>().add(offset.min(length) * size) }.cast();
            }
            #[cfg(feature = "cuda")]
            (Self::Gpu(_, stream), Input::Gpu(storage, _)) => {
                let device = storage.device.cuda_stream().context().ordinal();
                if device != stream.context().ordinal() {
                    bail!(
                        "kaio: tensors of one call are on the CUDA devices {device} and {}",
                        stream.context().ordinal()
                    )
                }
                let (pointer, guard, length, size) = each_type!(CudaStorageSlice, &storage.slice, v => {
                    let (pointer, guard) = v.device_ptr(stream);
                    (pointer, guard, v.len(), v.num_bytes().checked_div(v.len()).unwrap_or(1))
                }, _ => return Err(no_elements()));
                inside(layout, length)?;
                view.data = (pointer + (layout.start_offset().min(length) * size) as u64) as *mut c_void;
                view.guard = Some(Rc::new(guard));
            }
            #[cfg(feature = "cuda")]
            _ => bail!("kaio: tensors of one call are on the CPU and on a CUDA device"),
        }
        Ok(view)
    }

    /// Memory for a result, uninitialised on a GPU, by candle's allocator.
    pub(crate) fn output(&self, dims: &[usize], dtype: DType) -> Result<Output> {
        let elements = dims.iter().product::<usize>();
        let storage = match self {
            Self::Emulator(_) => Storage::Cpu(cpu_memory(elements, dtype)?),
            #[cfg(feature = "cuda")]
            Self::Gpu(device, _) => Storage::Cuda(gpu_memory(device, elements, dtype)?),
        };
        Ok(Output {
            storage,
            layout: Layout::contiguous(Shape::from(dims)),
        })
    }

    /// Memory for a result that the operation does not write as a whole: zeros.
    pub(crate) fn zeros(&self, dims: &[usize], dtype: DType) -> Result<Output> {
        let output = self.output(dims, dtype)?; // zeros already on the CPU
        #[cfg(feature = "cuda")]
        if let Self::Gpu(..) = self {
            let mut output = output;
            let bytes = output.layout.shape().elem_count() * dtype.size_in_bytes();
            if bytes > 0 {
                let memory = output.view(self)?.data;
                crate::library::kaio!(kaio_fill(self.device(), self.stream(), memory, 0, bytes as u64));
            }
            return Ok(output);
        }
        Ok(output)
    }

    /// Bytes at a multiple of 16 for the length of a call. candle frees them in the order of the stream.
    pub(crate) fn workspace(&self, bytes: u64) -> Result<Output> {
        self.output(&[bytes as usize + 16], DType::U8)
    }
}

/// A type has no elements that memory can hold.
fn no_elements() -> Error {
    Error::msg("kaio: a tensor has a type without elements of its own, such as F4, which kaio does not take")
}

fn size_of_element<T>(_: &[T]) -> usize {
    std::mem::size_of::<T>()
}

/// Checks that every element of a layout is one of the storage's.
fn inside(layout: &Layout, length: usize) -> Result<()> {
    if layout.dims().contains(&0) {
        return Ok(());
    }
    let steps = layout.dims().iter().zip(layout.stride());
    let last = layout.start_offset()
        + steps
            .map(|(&extent, &stride)| (extent - 1) * stride)
            .sum::<usize>();
    if last >= length {
        bail!("kaio: a layout reaches element {last} of a storage with {length}: {layout:?}")
    }
    Ok(())
}

fn cpu_memory(elements: usize, dtype: DType) -> Result<CpuStorage> {
    /// Zeros of a type whose bits may be all 0, as numbers' may.
    fn zeros<T: Copy>(elements: usize) -> Vec<T> {
        // SAFETY: T is a number, for which zero bits are 0.
        vec![unsafe { std::mem::zeroed() }; elements]
    }
    Ok(match dtype {
        DType::U8 => CpuStorage::U8(zeros(elements)),
        DType::U32 => CpuStorage::U32(zeros(elements)),
        DType::I16 => CpuStorage::I16(zeros(elements)),
        DType::I32 => CpuStorage::I32(zeros(elements)),
        DType::I64 => CpuStorage::I64(zeros(elements)),
        DType::BF16 => CpuStorage::BF16(zeros(elements)),
        DType::F16 => CpuStorage::F16(zeros(elements)),
        DType::F32 => CpuStorage::F32(zeros(elements)),
        DType::F8E4M3 => CpuStorage::F8E4M3(zeros(elements)),
        other => bail!("kaio: no operation has results of type {other:?}"),
    })
}

#[cfg(feature = "cuda")]
fn gpu_memory(device: &CudaDevice, elements: usize, dtype: DType) -> Result<CudaStorage> {
    // SAFETY: the operation that asked for the memory writes it before anybody reads it.
    let slice = unsafe {
        match dtype {
            DType::U8 => CudaStorageSlice::U8(device.alloc(elements)?),
            DType::U32 => CudaStorageSlice::U32(device.alloc(elements)?),
            DType::I16 => CudaStorageSlice::I16(device.alloc(elements)?),
            DType::I32 => CudaStorageSlice::I32(device.alloc(elements)?),
            DType::I64 => CudaStorageSlice::I64(device.alloc(elements)?),
            DType::BF16 => CudaStorageSlice::BF16(device.alloc(elements)?),
            DType::F16 => CudaStorageSlice::F16(device.alloc(elements)?),
            DType::F32 => CudaStorageSlice::F32(device.alloc(elements)?),
            DType::F8E4M3 => CudaStorageSlice::F8E4M3(device.alloc(elements)?),
            other => bail!("kaio: no operation has results of type {other:?}"),
        }
    };
    Ok(CudaStorage {
        slice,
        device: device.clone(),
    })
}

/// A result, or memory of a call.
pub(crate) struct Output {
    storage: Storage,
    layout: Layout,
}

impl Output {
    /// A view that the call writes.
    pub(crate) fn view<'a>(&'a mut self, place: &'a Place) -> Result<View<'a>> {
        written(&mut self.storage, &self.layout, place)
    }

    pub(crate) fn parts(self) -> (Storage, Shape) {
        (self.storage, self.layout.shape().clone())
    }

    pub(crate) fn cpu(self) -> Result<(CpuStorage, Shape)> {
        match self.storage {
            Storage::Cpu(storage) => Ok((storage, self.layout.shape().clone())),
            _ => bail!("kaio: a result is not on the CPU"),
        }
    }

    #[cfg(feature = "cuda")]
    pub(crate) fn gpu(self) -> Result<(CudaStorage, Shape)> {
        match self.storage {
            Storage::Cuda(storage) => Ok((storage, self.layout.shape().clone())),
            _ => bail!("kaio: a result is not on a CUDA device"),
        }
    }

    /// A tensor without a history.
    pub(crate) fn tensor(self) -> Tensor {
        let (storage, shape) = self.parts();
        Tensor::from_storage(storage, shape, candle_core::op::BackpropOp::none(), false)
    }
}

fn written<'a>(storage: &'a mut Storage, layout: &Layout, place: &'a Place) -> Result<View<'a>> {
    match storage {
        Storage::Cpu(storage) => written_cpu(storage, layout, place),
        #[cfg(feature = "cuda")]
        Storage::Cuda(storage) => written_gpu(storage, layout, place),
        _ => bail!("kaio: a result is on a device that kaio has no kernels for"),
    }
}

/// A view of a CPU storage that the call writes.
pub(crate) fn written_cpu<'a>(
    storage: &'a mut CpuStorage,
    layout: &Layout,
    place: &'a Place,
) -> Result<View<'a>> {
    let mut view = View::outline(place.device(), layout, cpu_dtype(storage))?;
    let (base, length, size) = each_type!(CpuStorage, storage,
        v => (v.as_mut_ptr().cast::<u8>(), v.len(), size_of_element(v)), _ => return Err(no_elements()));
    inside(layout, length)?;
    // SAFETY: the offset is inside of the vector, or the view is empty and nobody uses it.
    view.data = unsafe { base.add(layout.start_offset().min(length) * size) }.cast();
    Ok(view)
}

/// A view of a CUDA storage that the call writes.
#[cfg(feature = "cuda")]
pub(crate) fn written_gpu<'a>(
    storage: &'a mut CudaStorage,
    layout: &Layout,
    place: &'a Place,
) -> Result<View<'a>> {
    let mut view = View::outline(place.device(), layout, gpu_dtype(&storage.slice))?;
    let Place::Gpu(_, stream) = place else {
        bail!("kaio: a result is on a CUDA device, and inputs are not")
    };
    let (pointer, guard, length, size) = each_type!(CudaStorageSlice, &mut storage.slice, v => {
        let (length, bytes) = (v.len(), v.num_bytes());
        let (pointer, guard) = v.device_ptr_mut(stream);
        (pointer, guard, length, bytes.checked_div(length).unwrap_or(1))
    }, _ => return Err(no_elements()));
    inside(layout, length)?;
    view.data = (pointer + (layout.start_offset().min(length) * size) as u64) as *mut c_void;
    view.guard = Some(Rc::new(guard));
    Ok(view)
}
