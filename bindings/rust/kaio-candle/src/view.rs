//! The only file that touches candle's storage: views of tensors for kaio, and outputs by candle's allocator.
//!
//! A view is shape, strides, offset and address of a tensor as it is: nothing is copied. On a CUDA device, the address
//! comes with cudarc's guard, which orders the work of several streams; views live until the launch has returned.

#[cfg(feature = "cuda")]
use candle_core::cuda_backend::{
    cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop},
    CudaStorageSlice,
};
use candle_core::{bail, CpuStorage, DType, Error, Layout, Result, Shape, Storage, Tensor};
#[cfg(feature = "cuda")]
use candle_core::{CudaDevice, CudaStorage};
use kaio_sys::{DLDataType, DLDevice, DLTensor};
use std::ffi::c_void;
use std::marker::PhantomData;
#[cfg(feature = "cuda")]
use std::{rc::Rc, sync::Arc};

/// The most dimensions of a view: those of candle's tensors in models, and one more.
pub(crate) const MOST_DIMENSIONS: usize = 6;

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

/// A tensor for kaio.
#[derive(Clone)]
pub(crate) struct View<'a> {
    rank: usize,
    shape: [i64; MOST_DIMENSIONS],
    strides: [i64; MOST_DIMENSIONS],
    data: *mut c_void,
    device: DLDevice,
    dtype: DLDataType,
    #[cfg(feature = "cuda")]
    _guard: Option<Rc<SyncOnDrop<'a>>>,
    lifetime: PhantomData<&'a ()>,
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

fn element(dtype: DType) -> Result<DLDataType> {
    let (code, bits) = match dtype {
        DType::U8 => (kaio_sys::kDLUInt, 8),
        DType::U32 => (kaio_sys::kDLUInt, 32),
        DType::I16 => (kaio_sys::kDLInt, 16),
        DType::I32 => (kaio_sys::kDLInt, 32),
        DType::I64 => (kaio_sys::kDLInt, 64),
        DType::BF16 => (kaio_sys::kDLBfloat, 16),
        DType::F16 => (kaio_sys::kDLFloat, 16),
        DType::F32 => (kaio_sys::kDLFloat, 32),
        DType::F64 => (kaio_sys::kDLFloat, 64),
        DType::F8E4M3 => (kaio_sys::kDLFloat8_e4m3fn, 8),
        DType::F8E8M0 => (kaio_sys::kDLFloat8_e8m0fnu, 8),
        other => bail!("kaio: a tensor has the type {other:?}, which kaio does not take"),
    };
    Ok(DLDataType { code, bits, lanes: 1 })
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
        let mut view = self.outline(layout, input.dtype())?;
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
                view._guard = Some(Rc::new(guard));
            }
            #[cfg(feature = "cuda")]
            _ => bail!("kaio: tensors of one call are on the CPU and on a CUDA device"),
        }
        Ok(view)
    }

    fn outline<'a>(&self, layout: &Layout, dtype: DType) -> Result<View<'a>> {
        let rank = layout.dims().len();
        if rank > MOST_DIMENSIONS {
            bail!("kaio: a tensor has {rank} dimensions, and {MOST_DIMENSIONS} is the most")
        }
        let mut view = View {
            rank,
            shape: [1; MOST_DIMENSIONS],
            strides: [1; MOST_DIMENSIONS],
            data: std::ptr::null_mut(),
            device: self.device(),
            dtype: element(dtype)?,
            #[cfg(feature = "cuda")]
            _guard: None,
            lifetime: PhantomData,
        };
        for d in 0..rank {
            view.shape[d] = layout.dims()[d] as i64;
            view.strides[d] = layout.stride()[d] as i64;
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
    let mut view = place.outline(layout, cpu_dtype(storage))?;
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
    let mut view = place.outline(layout, gpu_dtype(&storage.slice))?;
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
    view._guard = Some(Rc::new(guard));
    Ok(view)
}

impl View<'_> {
    /// The tensor for a call of kaio. It points into the view, which must stay where it is until the call returns.
    pub(crate) fn dl(&self) -> DLTensor {
        DLTensor {
            data: self.data,
            device: self.device,
            ndim: self.rank as i32,
            dtype: self.dtype,
            shape: self.shape.as_ptr().cast_mut(),
            strides: self.strides.as_ptr().cast_mut(),
            byte_offset: 0,
        }
    }

    pub(crate) fn dims(&self) -> &[i64] {
        &self.shape[..self.rank]
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> i64 {
        i64::from(self.dtype.bits) / 8
    }

    /// Dimensions in another order.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let mut view = self.clone();
        for (to, &from) in order.iter().enumerate() {
            view.shape[to] = self.shape[from];
            view.strides[to] = self.strides[from];
        }
        view
    }

    /// The last two dimensions swapped.
    pub(crate) fn transposed(&self) -> Self {
        let mut order: Vec<usize> = (0..self.rank).collect();
        order.swap(self.rank - 1, self.rank - 2);
        self.permuted(&order)
    }

    /// Element `at` of the first dimension.
    pub(crate) fn element(&self, at: i64) -> Self {
        let mut view = self.clone();
        view.data = self
            .data
            .cast::<u8>()
            .wrapping_offset((at * self.strides[0] * self.size()) as isize)
            .cast();
        view.shape.copy_within(1.., 0);
        view.strides.copy_within(1.., 0);
        view.rank -= 1;
        view
    }

    /// One dimension in place of `first` to `last`, if the elements of those are equally far apart.
    pub(crate) fn joined(&self, first: usize, last: usize) -> Option<Self> {
        let mut view = self.clone();
        let (mut extent, mut stride) = (1, 1);
        for d in (first..=last).rev() {
            if self.shape[d] == 1 {
                continue;
            }
            if extent == 1 {
                stride = self.strides[d];
            } else if self.strides[d] != stride * extent && self.shape[first..=last].iter().all(|&e| e > 0) {
                return None;
            }
            extent *= self.shape[d];
        }
        view.shape[first] = extent;
        view.strides[first] = stride;
        view.shape.copy_within(last + 1.., first + 1);
        view.strides.copy_within(last + 1.., first + 1);
        view.rank -= last - first;
        Some(view)
    }

    /// Repeated along new or single dimensions in front.
    pub(crate) fn broadcast(&self, leading: &[usize]) -> Self {
        let mut view = self.clone();
        let own = self.rank - 2;
        for d in 0..2 {
            view.shape[leading.len() + d] = self.shape[own + d];
            view.strides[leading.len() + d] = self.strides[own + d];
        }
        for (d, &extent) in leading.iter().enumerate() {
            let from = (d + own).checked_sub(leading.len());
            view.shape[d] = extent as i64;
            view.strides[d] = match from {
                Some(from) if self.shape[from] != 1 => self.strides[from],
                _ => 0,
            };
        }
        view.rank = leading.len() + 2;
        view
    }

    /// Another number of dimensions for a contiguous view.
    pub(crate) fn reshaped(&self, shape: &[i64]) -> Self {
        let mut view = self.clone();
        view.rank = shape.len();
        let mut stride = 1;
        for d in (0..shape.len()).rev() {
            view.shape[d] = shape[d];
            view.strides[d] = stride;
            stride *= shape[d];
        }
        view
    }

    /// Bytes of candle's U8 as signed integers.
    pub(crate) fn as_i8(&self) -> Self {
        self.with_type(kaio_sys::kDLUInt, 8, kaio_sys::kDLInt)
    }

    /// candle's U32 as I32: indices, which are below 2^31.
    pub(crate) fn as_index(&self) -> Self {
        self.with_type(kaio_sys::kDLUInt, 32, kaio_sys::kDLInt)
    }

    fn with_type(&self, from: u8, bits: u8, to: u8) -> Self {
        let mut view = self.clone();
        if view.dtype.code == from && view.dtype.bits == bits {
            view.dtype.code = to;
        }
        view
    }

    /// A workspace of U8: from the first multiple of 16 bytes on.
    pub(crate) fn aligned(&self) -> Self {
        let mut view = self.clone();
        let skip = (self.data as usize).wrapping_neg() % 16;
        view.data = self.data.cast::<u8>().wrapping_add(skip).cast();
        view.shape[0] -= 16;
        view
    }

    /// Bytes from the address to the next multiple of 16.
    pub(crate) fn misalignment(&self) -> usize {
        (self.data as usize).wrapping_neg() % 16
    }
}
