use std::os::raw::c_void;
use std::ptr::NonNull;

use crate::error::{check, functions};
use crate::{Device, Result};

/// A queue of work on a device: one of kaio's own, or one of another library.
///
/// Operations queue work and return. Work of one stream runs in its order; between streams there is an order only with an
/// [`Event`]. On an emulator, work is done when a call returns.
#[derive(Debug)]
pub struct Stream {
    device: Device,
    handle: *mut c_void,
    owned: Option<NonNull<kaio_sys::kaio_stream>>,
}

// SAFETY: all functions of the C interface may be called from several threads at once.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of its own, which does not wait for the legacy default stream.
    pub fn new(device: &Device) -> Result<Stream> {
        Stream::with_priority(device, 0)
    }

    /// A stream with a priority: pending blocks of streams with lower numbers start first. 0 is that of [`Stream::new`].
    pub fn with_priority(device: &Device, priority: i32) -> Result<Stream> {
        let functions = functions()?;
        let mut owned = std::ptr::null_mut();
        // SAFETY: a place for the result.
        check(functions, unsafe {
            (functions.kaio_stream_create_with_priority)(device.raw(), priority, &mut owned)
        })?;
        // SAFETY: a stream, just created.
        let handle = unsafe { (functions.kaio_stream_handle)(owned) };
        Ok(Stream {
            device: *device,
            handle,
            owned: NonNull::new(owned),
        })
    }

    /// The numbers of the lowest and of the highest priority; both are 0 if the device has none.
    pub fn priorities(device: &Device) -> Result<(i32, i32)> {
        let functions = functions()?;
        let (mut lowest, mut highest) = (0, 0);
        // SAFETY: places for the results.
        check(functions, unsafe {
            (functions.kaio_stream_priorities)(device.raw(), &mut lowest, &mut highest)
        })?;
        Ok((lowest, highest))
    }

    /// The device's default stream.
    pub fn default_of(device: &Device) -> Stream {
        Stream {
            device: *device,
            handle: std::ptr::null_mut(),
            owned: None,
        }
    }

    /// A stream of another library: a CUstream, or 1 or 2 for the driver's own streams. It is not destroyed.
    ///
    /// # Safety
    /// The handle is a stream of the device, and is not destroyed as long as the result is used.
    pub unsafe fn borrowed(device: &Device, handle: *mut c_void) -> Stream {
        Stream {
            device: *device,
            handle,
            owned: None,
        }
    }

    /// The stream's device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The CUstream; on an emulator kaio's own handle.
    pub fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// Waits until the stream is empty. Fails if work in it has failed.
    pub fn synchronize(&self) -> Result<()> {
        let functions = functions()?;
        // SAFETY: a stream of the device.
        check(functions, unsafe {
            (functions.kaio_stream_synchronize)(self.device.raw(), self.handle)
        })
    }

    /// Whether the stream is empty.
    pub fn is_done(&self) -> Result<bool> {
        let functions = functions()?;
        let mut done = 0;
        // SAFETY: a stream of the device, and a place for the result.
        check(functions, unsafe {
            (functions.kaio_stream_is_done)(self.device.raw(), self.handle, &mut done)
        })?;
        Ok(done != 0)
    }

    /// Whether work of the stream goes into a graph now.
    pub fn is_capturing(&self) -> Result<bool> {
        let functions = functions()?;
        let mut capturing = 0;
        // SAFETY: a stream of the device, and a place for the result.
        check(functions, unsafe {
            (functions.kaio_stream_is_capturing)(self.device.raw(), self.handle, &mut capturing)
        })?;
        Ok(capturing != 0)
    }

    /// Later work of the stream waits for the mark, which is of the same device.
    pub fn wait(&self, event: &Event) -> Result<()> {
        let functions = functions()?;
        // SAFETY: an event and a stream that live.
        check(functions, unsafe {
            (functions.kaio_event_wait)(event.raw, self.handle)
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let (Some(owned), Ok(functions)) = (self.owned, functions()) {
            // SAFETY: a stream of ours that nothing uses any more. Queued work still runs.
            unsafe { (functions.kaio_stream_destroy)(owned.as_ptr()) };
        }
    }
}

/// A mark in the work of a stream.
#[derive(Debug)]
pub struct Event {
    raw: *mut kaio_sys::kaio_event,
}

// SAFETY: all functions of the C interface may be called from several threads at once.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// A mark that is nowhere yet.
    pub fn new(device: &Device) -> Result<Event> {
        let functions = functions()?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for the result.
        check(functions, unsafe {
            (functions.kaio_event_create)(device.raw(), &mut raw)
        })?;
        Ok(Event { raw })
    }

    /// Puts the mark after the work that the stream has now.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        // SAFETY: an event and a stream that live.
        check(functions, unsafe {
            (functions.kaio_event_record)(self.raw, stream.handle())
        })
    }

    /// Waits for the work before the mark.
    pub fn synchronize(&self) -> Result<()> {
        let functions = functions()?;
        // SAFETY: an event that lives.
        check(functions, unsafe { (functions.kaio_event_synchronize)(self.raw) })
    }

    /// Whether the work before the mark is done; true if the event was never recorded.
    pub fn is_done(&self) -> Result<bool> {
        let functions = functions()?;
        let mut done = 0;
        // SAFETY: an event that lives, and a place for the result.
        check(functions, unsafe {
            (functions.kaio_event_is_done)(self.raw, &mut done)
        })?;
        Ok(done != 0)
    }

    /// The time from this mark to another, both recorded; waits for both.
    pub fn milliseconds_until(&self, end: &Event) -> Result<f64> {
        let functions = functions()?;
        let mut milliseconds = 0.0;
        // SAFETY: two events that live, and a place for the result.
        check(functions, unsafe {
            (functions.kaio_event_elapsed)(self.raw, end.raw, &mut milliseconds)
        })?;
        Ok(milliseconds)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: an event of ours that nothing uses any more.
            unsafe { (functions.kaio_event_destroy)(self.raw) };
        }
    }
}
