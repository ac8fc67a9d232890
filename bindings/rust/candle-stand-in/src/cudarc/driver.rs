//! Contexts, streams and memory. Memory is allocated and freed in the order of a stream.
use super::library::{checked, library};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::Arc;

/// Types of the driver's header.
pub mod sys {
    #![allow(non_camel_case_types)]
    pub type CUdeviceptr = ::std::os::raw::c_ulonglong;
    #[repr(C)]
    pub struct CUstream_st {
        opaque: [u8; 0],
    }
    pub type CUstream = *mut CUstream_st;
}

/// A code of the driver; -1: there is no driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DriverError(pub(crate) i32);

impl std::fmt::Display for DriverError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CUDA driver: {}", self.0)
    }
}

impl std::error::Error for DriverError {}

#[derive(Debug)]
pub struct CudaContext {
    handle: *mut c_void,
    ordinal: usize,
}

// SAFETY: the driver's handles serve all threads.
unsafe impl Send for CudaContext {}
unsafe impl Sync for CudaContext {}

impl CudaContext {
    pub fn new(ordinal: usize) -> Result<Arc<Self>, DriverError> {
        let (driver, mut device, mut handle) = (library()?, 0, std::ptr::null_mut());
        // SAFETY: pointers to locals.
        unsafe {
            checked((driver.init)(0))?;
            checked((driver.device_get)(&mut device, ordinal as i32))?;
            checked((driver.context_retain)(&mut handle, device))?;
        }
        let context = Arc::new(Self { handle, ordinal });
        context.bind_to_thread()?;
        Ok(context)
    }

    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    pub fn bind_to_thread(&self) -> Result<(), DriverError> {
        // SAFETY: a context of the driver, which is never released.
        checked(unsafe { (library()?.context_set)(self.handle) })
    }

    pub fn default_stream(self: &Arc<Self>) -> Arc<CudaStream> {
        self.stream(std::ptr::null_mut())
    }

    /// The handle 2, CU_STREAM_PER_THREAD.
    pub fn per_thread_stream(self: &Arc<Self>) -> Arc<CudaStream> {
        self.stream(2 as *mut c_void)
    }

    pub fn new_stream(self: &Arc<Self>) -> Result<Arc<CudaStream>, DriverError> {
        let mut handle = std::ptr::null_mut();
        self.bind_to_thread()?;
        // SAFETY: a pointer to a local. The flag is CU_STREAM_NON_BLOCKING.
        checked(unsafe { (library()?.stream_create)(&mut handle, 1) })?;
        Ok(self.stream(handle))
    }

    fn stream(self: &Arc<Self>, handle: *mut c_void) -> Arc<CudaStream> {
        Arc::new(CudaStream {
            handle,
            context: self.clone(),
        })
    }
}

#[derive(Debug)]
pub struct CudaStream {
    handle: *mut c_void,
    context: Arc<CudaContext>,
}

// SAFETY: the driver's handles serve all threads.
unsafe impl Send for CudaStream {}
unsafe impl Sync for CudaStream {}

impl CudaStream {
    pub fn cu_stream(&self) -> sys::CUstream {
        self.handle.cast()
    }

    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    pub fn synchronize(&self) -> Result<(), DriverError> {
        self.context.bind_to_thread()?;
        // SAFETY: a stream of the driver.
        checked(unsafe { (library()?.synchronize)(self.handle) })
    }

    /// # Safety
    /// The memory is written before it is read.
    pub unsafe fn alloc<T: DeviceRepr>(self: &Arc<Self>, len: usize) -> Result<CudaSlice<T>, DriverError> {
        let mut pointer = 0;
        self.context.bind_to_thread()?;
        let bytes = (len * std::mem::size_of::<T>()).max(1);
        checked((library()?.allocate)(&mut pointer, bytes, self.handle))?;
        Ok(CudaSlice {
            pointer,
            len,
            stream: self.clone(),
            elements: PhantomData,
        })
    }

    pub(crate) fn upload<T>(&self, from: *const u8, to: &mut CudaSlice<T>) -> Result<(), DriverError> {
        self.context.bind_to_thread()?;
        // SAFETY: the caller's storage and the slice have as many bytes.
        checked(unsafe { (library()?.upload)(to.pointer, from.cast(), to.num_bytes(), self.handle) })
    }

    pub(crate) fn download<T>(&self, from: &CudaSlice<T>, to: *mut u8) -> Result<(), DriverError> {
        self.context.bind_to_thread()?;
        // SAFETY: as above.
        checked(unsafe { (library()?.download)(to.cast(), from.pointer, from.num_bytes(), self.handle) })?;
        self.synchronize()
    }
}

/// Types that memory of a device holds.
/// # Safety
/// All bits are a value.
pub unsafe trait DeviceRepr {}
macro_rules! device_repr {
    ($($t:ty),*) => { $(unsafe impl DeviceRepr for $t {})* };
}
device_repr!(
    u8,
    u32,
    i16,
    i32,
    i64,
    f32,
    f64,
    crate::dtype::f16,
    crate::dtype::bf16,
    crate::dtype::F8E4M3
);

#[derive(Debug)]
pub struct CudaSlice<T> {
    pointer: sys::CUdeviceptr,
    len: usize,
    stream: Arc<CudaStream>,
    elements: PhantomData<*const T>,
}

unsafe impl<T: Send> Send for CudaSlice<T> {}
unsafe impl<T: Sync> Sync for CudaSlice<T> {}

impl<T> Drop for CudaSlice<T> {
    fn drop(&mut self) {
        if let (Ok(driver), Ok(())) = (library(), self.stream.context.bind_to_thread()) {
            // SAFETY: memory of alloc, freed once, in the order of its stream.
            unsafe { (driver.free)(self.pointer, self.stream.handle) };
        }
    }
}

impl<T> CudaSlice<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn num_bytes(&self) -> usize {
        self.len * std::mem::size_of::<T>()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

/// cudarc records an event when this is dropped. Here it only has to outlive the launch.
pub enum SyncOnDrop<'a> {
    Record(Option<&'a CudaStream>),
}

#[allow(clippy::len_without_is_empty)]
pub trait DeviceSlice<T> {
    fn len(&self) -> usize;
}

impl<T> DeviceSlice<T> for CudaSlice<T> {
    fn len(&self) -> usize {
        self.len
    }
}

pub trait DevicePtr<T>: DeviceSlice<T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>);
}

impl<T> DevicePtr<T> for CudaSlice<T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        (self.pointer, SyncOnDrop::Record(Some(stream)))
    }
}

pub trait DevicePtrMut<T>: DeviceSlice<T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>);
}

impl<T> DevicePtrMut<T> for CudaSlice<T> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        (self.pointer, SyncOnDrop::Record(Some(stream)))
    }
}
