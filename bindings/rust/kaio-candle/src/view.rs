//! Views of tensors for kaio, and their geometry: other orders of dimensions, joined ones, broadcast ones.

#[cfg(feature = "cuda")]
use candle_core::cuda_backend::cudarc::driver::SyncOnDrop;
use candle_core::{bail, DType, Layout, Result};
use kaio_sys::{DLDataType, DLDevice, DLTensor};
use std::ffi::c_void;
use std::marker::PhantomData;
#[cfg(feature = "cuda")]
use std::rc::Rc;

/// The most dimensions of a view: those of candle's tensors in models, and one more.
pub(crate) const MOST_DIMENSIONS: usize = 6;

/// A tensor for kaio.
#[derive(Clone)]
pub(crate) struct View<'a> {
    rank: usize,
    shape: [i64; MOST_DIMENSIONS],
    strides: [i64; MOST_DIMENSIONS],
    pub(crate) data: *mut c_void,
    device: DLDevice,
    dtype: DLDataType,
    #[cfg(feature = "cuda")]
    /// Dropped after the launch.
    pub(crate) guard: Option<Rc<SyncOnDrop<'a>>>,
    lifetime: PhantomData<&'a ()>,
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

impl View<'_> {
    /// A view without an address.
    pub(crate) fn outline(device: DLDevice, layout: &Layout, dtype: DType) -> Result<Self> {
        let rank = layout.dims().len();
        if rank > MOST_DIMENSIONS {
            bail!("kaio: a tensor has {rank} dimensions, and {MOST_DIMENSIONS} is the most")
        }
        let mut view = Self {
            rank,
            shape: [1; MOST_DIMENSIONS],
            strides: [1; MOST_DIMENSIONS],
            data: std::ptr::null_mut(),
            device,
            dtype: element(dtype)?,
            #[cfg(feature = "cuda")]
            guard: None,
            lifetime: PhantomData,
        };
        for d in 0..rank {
            view.shape[d] = layout.dims()[d] as i64;
            view.strides[d] = layout.stride()[d] as i64;
        }
        Ok(view)
    }

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

    /// A vector as a matrix of one row, whose elements are as far apart as before. Others as they are.
    pub(crate) fn as_matrix(&self) -> Self {
        let mut view = self.clone();
        if self.rank != 1 {
            return view;
        }
        let (extent, stride) = (self.shape[0], self.strides[0]);
        view.shape[..2].copy_from_slice(&[1, extent]);
        // Products take a matrix if one of its strides is 1.
        view.strides[..2].copy_from_slice(&[if stride == 1 { extent.max(1) } else { 1 }, stride]);
        view.rank = 2;
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
