//! libkaio, and its failures as candle's errors.

use candle_core::{Error, Result};
use kaio_sys::{kaio_stream, DLDevice};
use std::{cell::RefCell, ffi::c_void, ffi::CStr, ptr::null_mut};

/// The functions of libkaio.
pub(crate) fn functions() -> Result<&'static kaio_sys::Functions> {
    kaio_sys::load().map_err(Error::msg)
}

/// Turns a status that is not `KAIO_OK` into an error with kaio's message.
pub(crate) fn checked(kaio: &kaio_sys::Functions, status: kaio_sys::kaio_status) -> Result<()> {
    if status == kaio_sys::KAIO_OK {
        return Ok(());
    }
    // SAFETY: the text is never NULL, and lives until the next failure of this thread.
    let message = unsafe { CStr::from_ptr((kaio.kaio_last_error)()) };
    Err(Error::msg(message.to_string_lossy()))
}

/// A stream of the emulator for one thread. Work of a shared stream may wait for another thread's, beyond the end of
/// its call, and CPU tensors are not kept that long.
struct EmulatorStream(*mut kaio_stream);

impl Drop for EmulatorStream {
    fn drop(&mut self) {
        if let Ok(kaio) = functions() {
            // SAFETY: the stream is the thread's own, and its calls have ended.
            unsafe { (kaio.kaio_stream_destroy)(self.0) };
        }
    }
}

/// The emulator's stream of the calling thread.
pub(crate) fn emulator_stream() -> Result<*mut c_void> {
    thread_local! {
        static STREAM: RefCell<Option<EmulatorStream>> = const { RefCell::new(None) };
    }
    let kaio = functions()?;
    STREAM.with_borrow_mut(|stream| {
        if stream.is_none() {
            let (mut made, device) = (
                null_mut(),
                DLDevice {
                    device_type: kaio_sys::kDLExtDev,
                    device_id: 0,
                },
            );
            // SAFETY: a pointer to a local.
            checked(kaio, unsafe { (kaio.kaio_stream_create)(device, &mut made) })?;
            *stream = Some(EmulatorStream(made));
        }
        let made = stream.as_ref().map_or(null_mut(), |stream| stream.0);
        // SAFETY: NULL, or a stream that the thread keeps.
        Ok(unsafe { (kaio.kaio_stream_handle)(made) })
    })
}

/// Calls a function of libkaio, and returns from the caller if it fails. Arguments are references to tensors and
/// structs that outlive the call.
macro_rules! kaio {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let kaio = $crate::library::functions()?;
        // SAFETY: pointers come from references that live until the call returns. Views check that a layout is
        // inside of its storage, and kaio checks shapes and types.
        $crate::library::checked(kaio, unsafe { (kaio.$name)($($argument),*) })?
    }};
}
pub(crate) use kaio;
