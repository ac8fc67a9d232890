use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::os::raw::c_void;

use kaio_sys::DLTensor;

use crate::{DataType, Device, Error, Result};

/// The most dimensions of a tensor.
pub const MAX_RANK: usize = 8;

/// A tensor in memory that somebody else has: an address, a shape and strides. Operations read it.
///
/// ```
/// # use kaio::{Buffer, Device};
/// # let device = Device::open("emulator")?;
/// let memory = Buffer::from_slice(&device, &[0.0f32; 12])?;
/// let x = memory.view(&[3, 4])?;
/// assert_eq!(x.transpose(0, 1)?.shape(), [4, 3]);
/// assert_eq!(x.slice(1, 1..3)?.strides(), [4, 1]);
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct TensorView<'a> {
    device: Device,
    data: *mut c_void,
    dtype: DataType,
    rank: usize,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    memory: PhantomData<&'a ()>,
}

// SAFETY: a view does not touch the memory; calls do, from any thread.
unsafe impl Send for TensorView<'_> {}
// SAFETY: as above.
unsafe impl Sync for TensorView<'_> {}

/// A tensor that operations write. It is also a [`TensorView`]: an operation that allows it can read and write the same memory.
pub struct TensorViewMut<'a>(TensorView<'a>);

impl<'a> TensorView<'a> {
    /// The product of the extents.
    pub(crate) fn elements_of(shape: &[usize]) -> Result<usize> {
        let product = shape
            .iter()
            .try_fold(1usize, |product, extent| product.checked_mul(*extent));
        product
            .filter(|product| i64::try_from(*product).is_ok())
            .ok_or_else(|| {
                Error::invalid(format!(
                    "kaio: a tensor of shape {:?} has too many elements",
                    shape
                ))
            })
    }

    /// A tensor at an address. `strides` are in elements; without them, it is row by row.
    ///
    /// # Safety
    /// The address is memory of the device that has all elements, and lives as long as `'a`: also until the work that uses it is done.
    pub unsafe fn from_raw_parts(
        device: Device,
        data: *mut c_void,
        dtype: DataType,
        shape: &[usize],
        strides: Option<&[isize]>,
    ) -> Result<TensorView<'a>> {
        let rank = shape.len();
        if rank > MAX_RANK {
            return Err(Error::invalid(format!(
                "kaio: a tensor has {} dimensions; {} are the most",
                rank, MAX_RANK
            )));
        }
        TensorView::elements_of(shape)?;
        let mut view = TensorView {
            device,
            data,
            dtype,
            rank,
            shape: [0; MAX_RANK],
            strides: [0; MAX_RANK],
            memory: PhantomData,
        };
        let mut next = 1i64;
        for at in (0..rank).rev() {
            view.shape[at] = shape[at] as i64;
            view.strides[at] = next;
            next = next.saturating_mul(shape[at].max(1) as i64);
        }
        if let Some(strides) = strides {
            if strides.len() != rank {
                return Err(Error::invalid(format!(
                    "kaio: {} strides for {} dimensions",
                    strides.len(),
                    rank
                )));
            }
            for (to, from) in view.strides.iter_mut().zip(strides) {
                *to = *from as i64;
            }
        }
        Ok(view)
    }

    /// The device that has the memory.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        // SAFETY: usize has 64 bits, and extents are not negative.
        unsafe { std::slice::from_raw_parts(self.shape.as_ptr().cast(), self.rank) }
    }

    /// The strides, in elements.
    pub fn strides(&self) -> &[isize] {
        // SAFETY: isize has 64 bits.
        unsafe { std::slice::from_raw_parts(self.strides.as_ptr().cast(), self.rank) }
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape().iter().product()
    }

    /// The address of the first element.
    pub fn as_ptr(&self) -> *mut c_void {
        self.data
    }

    /// Whether the elements are row by row, without gaps.
    pub fn is_contiguous(&self) -> bool {
        let mut next = 1i64;
        for at in (0..self.rank).rev() {
            if self.shape[at] != 1 && self.strides[at] != next {
                return self.elements() == 0;
            }
            next *= self.shape[at];
        }
        true
    }

    fn check_dimension(&self, dimension: usize) -> Result<()> {
        if dimension < self.rank {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "kaio: a tensor of shape {:?} has no dimension {}",
            self.shape(),
            dimension
        )))
    }

    /// The tensor with two dimensions exchanged.
    pub fn transpose(&self, first: usize, second: usize) -> Result<TensorView<'a>> {
        self.check_dimension(first)?;
        self.check_dimension(second)?;
        let mut result = *self;
        result.shape.swap(first, second);
        result.strides.swap(first, second);
        Ok(result)
    }

    /// A part of a dimension.
    pub fn slice(&self, dimension: usize, range: Range<usize>) -> Result<TensorView<'a>> {
        self.check_dimension(dimension)?;
        if range.start > range.end || range.end > self.shape()[dimension] {
            return Err(Error::invalid(format!(
                "kaio: {:?} is no part of dimension {} of shape {:?}",
                range,
                dimension,
                self.shape()
            )));
        }
        let mut result = *self;
        result.shape[dimension] = (range.end - range.start) as i64;
        let skipped = range.start as i64 * self.strides[dimension] * self.dtype.bytes() as i64;
        if result.elements() != 0 {
            result.data = (self.data as *mut u8).wrapping_offset(skipped as isize).cast();
        }
        Ok(result)
    }

    /// The elements in another shape. The tensor has to be contiguous.
    pub fn reshape(&self, shape: &[usize]) -> Result<TensorView<'a>> {
        if !self.is_contiguous() || TensorView::elements_of(shape)? != self.elements() {
            return Err(Error::invalid(format!(
                "kaio: a tensor of shape {:?} and strides {:?} has no view of shape {:?}; copy it first",
                self.shape(),
                self.strides(),
                shape
            )));
        }
        // SAFETY: the same elements.
        unsafe { TensorView::from_raw_parts(self.device, self.data, self.dtype, shape, None) }
    }

    /// A dimension of extent 1 as `extent` equal parts, by a stride of 0.
    pub fn expand(&self, dimension: usize, extent: usize) -> Result<TensorView<'a>> {
        self.check_dimension(dimension)?;
        if self.shape[dimension] != 1 {
            return Err(Error::invalid(format!(
                "kaio: dimension {} of shape {:?} is repeated, and has to be 1",
                dimension,
                self.shape()
            )));
        }
        let mut result = *self;
        result.shape[dimension] = extent as i64;
        result.strides[dimension] = 0;
        TensorView::elements_of(result.shape())?;
        Ok(result)
    }

    /// The tensor as the C interface has it. It points into `self`.
    pub fn raw(&self) -> DLTensor {
        DLTensor {
            data: self.data,
            device: self.device.raw(),
            ndim: self.rank as i32,
            dtype: self.dtype.raw(),
            shape: self.shape.as_ptr() as *mut i64,
            strides: self.strides.as_ptr() as *mut i64,
            byte_offset: 0,
        }
    }
}

impl std::fmt::Debug for TensorView<'_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            to,
            "{:?}{:?} with strides {:?} on {}",
            self.dtype,
            self.shape(),
            self.strides(),
            self.device
        )
    }
}

impl<'a> TensorViewMut<'a> {
    /// A tensor at an address, which operations write.
    ///
    /// # Safety
    /// As for [`TensorView::from_raw_parts`]; and nothing else uses the memory meanwhile.
    pub unsafe fn from_raw_parts(
        device: Device,
        data: *mut c_void,
        dtype: DataType,
        shape: &[usize],
        strides: Option<&[isize]>,
    ) -> Result<TensorViewMut<'a>> {
        // SAFETY: as the caller promises.
        unsafe { TensorView::from_raw_parts(device, data, dtype, shape, strides) }.map(TensorViewMut)
    }

    /// The tensor with two dimensions exchanged.
    pub fn transpose(&self, first: usize, second: usize) -> Result<TensorViewMut<'a>> {
        self.0.transpose(first, second).map(TensorViewMut)
    }

    /// A part of a dimension.
    pub fn slice(&self, dimension: usize, range: Range<usize>) -> Result<TensorViewMut<'a>> {
        self.0.slice(dimension, range).map(TensorViewMut)
    }

    /// The elements in another shape. The tensor has to be contiguous.
    pub fn reshape(&self, shape: &[usize]) -> Result<TensorViewMut<'a>> {
        self.0.reshape(shape).map(TensorViewMut)
    }
}

impl<'a> Deref for TensorViewMut<'a> {
    type Target = TensorView<'a>;
    fn deref(&self) -> &TensorView<'a> {
        &self.0
    }
}

impl std::fmt::Debug for TensorViewMut<'_> {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(to)
    }
}
