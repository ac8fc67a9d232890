use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;
use std::ptr::NonNull;

use kaio_sys as sys;

use crate::call::{call, check, functions, Hold};
use crate::ops::{PoolOptions, PoolStatistics};
use crate::{Device, Element, Error, Result, Stream, TensorView, TensorViewMut};

/// A pool of device memory. Its memory is allocated and freed in the order of a stream, and waits for nothing.
///
/// ```
/// use kaio::{ops, Device, Pool, Stream};
/// let device = Device::open("emulator")?;
/// let stream = Stream::new(&device)?;
/// let pool = Pool::new(&device, &ops::PoolOptions::new())?;
/// let temporary = pool.zeros::<f32>(&stream, 1000)?;
/// assert_eq!(temporary.view(&[10, 100])?.elements(), 1000);
/// drop(temporary);
/// assert_eq!(pool.statistics()?.in_use, 0);
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Debug)]
pub struct Pool {
    device: Device,
    raw: NonNull<sys::kaio_pool>,
}

// SAFETY: all functions of the C interface may be called from several threads at once.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// A pool of its own.
    pub fn new(device: &Device, options: &PoolOptions) -> Result<Pool> {
        let hold = Hold::new();
        let mut raw = std::ptr::null_mut();
        call!(kaio_pool_create(
            device.raw(),
            hold.keep(options.raw(&hold)?),
            &mut raw
        ))?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::internal("kaio: the pool has no handle"))?;
        Ok(Pool { device: *device, raw })
    }

    fn allocate<'a, T: Element>(
        &'a self,
        stream: &'a Stream,
        len: usize,
        zeros: bool,
    ) -> Result<PoolBuffer<'a, T>> {
        let functions = functions()?;
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(|| {
            Error::invalid(format!(
                "kaio: a buffer of {} elements of {} bytes is too large",
                len,
                size_of::<T>()
            ))
        })?;
        let mut memory = std::ptr::null_mut();
        let allocate = if zeros {
            functions.kaio_pool_allocate
        } else {
            functions.kaio_pool_allocate_uninitialised
        };
        // SAFETY: a pool and a stream that live, and a place for the result.
        check(functions, unsafe {
            allocate(self.raw.as_ptr(), bytes as u64, stream.handle(), &mut memory)
        })?;
        Ok(PoolBuffer {
            pool: self,
            stream,
            memory,
            len,
            of: PhantomData,
        })
    }

    /// Memory of zeros, in the order of the stream. Other streams use it after an event.
    pub fn zeros<'a, T: Element>(&'a self, stream: &'a Stream, len: usize) -> Result<PoolBuffer<'a, T>> {
        self.allocate(stream, len, true)
    }

    /// Memory that holds whatever it held before.
    pub fn uninitialised<'a, T: Element>(
        &'a self,
        stream: &'a Stream,
        len: usize,
    ) -> Result<PoolBuffer<'a, T>> {
        self.allocate(stream, len, false)
    }

    /// How the pool is used.
    pub fn statistics(&self) -> Result<PoolStatistics> {
        let mut raw = sys::kaio_pool_statistics::default();
        call!(kaio_pool_statistics_of(self.raw.as_ptr(), &mut raw))?;
        PoolStatistics::from_raw(&raw)
    }

    /// Gives unused memory beyond `keep` bytes back to the device, after waiting for its work.
    pub fn trim(&self, keep: u64) -> Result<()> {
        call!(kaio_pool_trim(self.raw.as_ptr(), keep))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: a pool of ours; buffers borrow it, so there are none.
            unsafe { (functions.kaio_pool_destroy)(self.raw.as_ptr()) };
        }
    }
}

/// Memory of a pool. It is freed when it is dropped, after the work that its stream has then.
#[derive(Debug)]
pub struct PoolBuffer<'a, T: Element> {
    pool: &'a Pool,
    stream: &'a Stream,
    memory: *mut c_void,
    len: usize,
    of: PhantomData<T>,
}

// SAFETY: the memory is the device's; all functions of the C interface may be called from several threads at once.
unsafe impl<T: Element> Send for PoolBuffer<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for PoolBuffer<'_, T> {}

impl<T: Element> PoolBuffer<'_, T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn check_shape(&self, shape: &[usize]) -> Result<()> {
        let elements = TensorView::elements_of(shape)?;
        if elements == self.len {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "kaio: the shape has {} elements, and the buffer {}",
            elements, self.len
        )))
    }

    /// All elements as a tensor, row by row.
    pub fn view(&self, shape: &[usize]) -> Result<TensorView<'_>> {
        self.check_shape(shape)?;
        // SAFETY: the memory has these elements, and lives as long as the view.
        unsafe { TensorView::from_raw_parts(self.pool.device, self.memory, T::DTYPE, shape, None) }
    }

    /// All elements as a tensor that operations write.
    pub fn view_mut(&mut self, shape: &[usize]) -> Result<TensorViewMut<'_>> {
        self.check_shape(shape)?;
        // SAFETY: the memory has these elements, and is borrowed as long as the view lives.
        unsafe { TensorViewMut::from_raw_parts(self.pool.device, self.memory, T::DTYPE, shape, None) }
    }
}

impl<T: Element> Drop for PoolBuffer<'_, T> {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: memory of the pool, freed after the work that the stream has now.
            unsafe { (functions.kaio_pool_free)(self.pool.raw.as_ptr(), self.memory, self.stream.handle()) };
        }
    }
}
