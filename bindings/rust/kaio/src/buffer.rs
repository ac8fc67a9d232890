use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;

use crate::error::{check, functions};
use crate::{Device, Element, Error, Result, Stream, TensorView, TensorViewMut};

/// Device memory of `len` elements. It is freed when it is dropped, after the work that uses it.
///
/// ```
/// use kaio::{Buffer, Device, Stream};
/// let device = Device::open("emulator")?;
/// let stream = Stream::new(&device)?;
/// let x = Buffer::from_slice(&device, &[1.0f32, 2.0, 3.0])?;
/// assert_eq!(x.to_vec(&stream)?, [1.0, 2.0, 3.0]);
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Debug)]
pub struct Buffer<T: Element> {
    device: Device,
    memory: *mut c_void,
    len: usize,
    of: PhantomData<T>,
}

// SAFETY: the memory is the device's; all functions of the C interface may be called from several threads at once.
unsafe impl<T: Element> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for Buffer<T> {}

impl<T: Element> Buffer<T> {
    fn allocate(device: &Device, len: usize, zeros: bool) -> Result<Buffer<T>> {
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
            functions.kaio_allocate
        } else {
            functions.kaio_allocate_uninitialised
        };
        // SAFETY: a place for the result.
        check(functions, unsafe {
            allocate(device.raw(), bytes as u64, &mut memory)
        })?;
        Ok(Buffer {
            device: *device,
            memory,
            len,
            of: PhantomData,
        })
    }

    /// Memory of zeros.
    pub fn zeros(device: &Device, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(device, len, true)
    }

    /// Memory that holds whatever it held before.
    pub fn uninitialised(device: &Device, len: usize) -> Result<Buffer<T>> {
        Buffer::allocate(device, len, false)
    }

    /// Memory with these elements. Waits for the copy.
    pub fn from_slice(device: &Device, from: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::uninitialised(device, from.len())?;
        buffer.write(&Stream::default_of(device), from)?;
        Ok(buffer)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that has the memory.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The address, which only the device uses.
    pub fn as_ptr(&self) -> *mut c_void {
        self.memory
    }

    fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    fn check_length(&self, what: &str, len: usize) -> Result<()> {
        if len == self.len {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "kaio: {} has {} elements, and the buffer {}",
            what, len, self.len
        )))
    }

    /// Copies all elements from the host in the order of the stream, and waits for it.
    pub fn write(&mut self, stream: &Stream, from: &[T]) -> Result<()> {
        self.check_length("the source of a copy", from.len())?;
        let functions = functions()?;
        // SAFETY: memory of that many bytes on both sides; the host's lives until the stream is past the copy.
        let status = unsafe {
            (functions.kaio_copy_to_device)(
                self.device.raw(),
                stream.handle(),
                self.memory,
                from.as_ptr().cast(),
                self.bytes(),
            )
        };
        check(functions, status).and(stream.synchronize())
    }

    /// Copies all elements to the host in the order of the stream, and waits for it.
    pub fn read(&self, stream: &Stream, to: &mut [T]) -> Result<()> {
        self.check_length("the target of a copy", to.len())?;
        let functions = functions()?;
        // SAFETY: memory of that many bytes on both sides; the host's lives until the stream is past the copy.
        let status = unsafe {
            (functions.kaio_copy_to_host)(
                self.device.raw(),
                stream.handle(),
                to.as_mut_ptr().cast(),
                self.memory,
                self.bytes(),
            )
        };
        check(functions, status).and(stream.synchronize())
    }

    /// All elements, after the work that the stream has now.
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        // SAFETY: every pattern of bits is an element, that of zeros too.
        let mut result = vec![unsafe { std::mem::zeroed::<T>() }; self.len];
        self.read(stream, &mut result)?;
        Ok(result)
    }

    /// Queues a copy of all elements of another buffer, of this device or another, into a stream of either.
    pub fn copy_from(&mut self, stream: &Stream, from: &Buffer<T>) -> Result<()> {
        self.check_length("the source of a copy", from.len)?;
        let functions = functions()?;
        // SAFETY: memory of that many bytes on both sides, which is freed after the work that uses it.
        check(functions, unsafe {
            (functions.kaio_copy_between)(
                stream.device().raw(),
                stream.handle(),
                self.device.raw(),
                self.memory,
                from.device.raw(),
                from.memory,
                self.bytes(),
            )
        })
    }

    /// Queues setting every byte to `value`.
    pub fn fill_bytes(&mut self, stream: &Stream, value: u8) -> Result<()> {
        let functions = functions()?;
        // SAFETY: memory of that many bytes.
        check(functions, unsafe {
            (functions.kaio_fill)(
                self.device.raw(),
                stream.handle(),
                self.memory,
                value,
                self.bytes(),
            )
        })
    }

    /// Queues setting every element to `value`. Elements have 1, 2 or 4 bytes.
    pub fn fill(&mut self, stream: &Stream, value: T) -> Result<()> {
        let functions = functions()?;
        let bytes = size_of::<T>();
        let mut word = [0u8; 4];
        if bytes > word.len() {
            return Err(Error::invalid(format!(
                "kaio: a fill of {} bytes; elements have 1, 2 or 4",
                bytes
            )));
        }
        // SAFETY: an element has no padding, and the word has room for it.
        unsafe { std::ptr::copy_nonoverlapping((&value as *const T).cast(), word.as_mut_ptr(), bytes) };
        let word = u32::from_le_bytes(word);
        // SAFETY: memory of that many elements.
        check(functions, unsafe {
            (functions.kaio_fill_elements)(
                self.device.raw(),
                stream.handle(),
                self.memory,
                word,
                bytes as u32,
                self.len as u64,
            )
        })
    }

    /// All elements as a tensor, row by row. The extents' product is the number of elements.
    pub fn view(&self, shape: &[usize]) -> Result<TensorView<'_>> {
        self.check_length("the shape", TensorView::elements_of(shape)?)?;
        // SAFETY: the memory has these elements, and lives as long as the view.
        unsafe { TensorView::from_raw_parts(self.device, self.memory, T::DTYPE, shape, None) }
    }

    /// All elements as a tensor that operations write.
    pub fn view_mut(&mut self, shape: &[usize]) -> Result<TensorViewMut<'_>> {
        self.check_length("the shape", TensorView::elements_of(shape)?)?;
        // SAFETY: the memory has these elements, and is borrowed as long as the view lives.
        unsafe { TensorViewMut::from_raw_parts(self.device, self.memory, T::DTYPE, shape, None) }
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: memory of ours, which the library frees after the work that uses it.
            unsafe { (functions.kaio_free)(self.device.raw(), self.memory) };
        }
    }
}
