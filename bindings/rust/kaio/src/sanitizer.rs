use std::marker::PhantomData;
use std::ptr;

use crate::call::{call, check, functions};
use crate::error::{c_text, text};
use crate::Result;

/// What the emulator's sanitizer has found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Launches that were checked.
    pub launches: u64,
    /// Launches with reports. Each has failed.
    pub failed: u64,
    /// The reports; empty if there are none.
    pub text: String,
}

/// Runs the emulator's sanitizer in all that this thread launches on emulators, kernels of kaio's operations among them, until
/// [`Sanitizer::end`] or its drop. A launch with reports fails, and its error has them; it does not lose the emulator.
///
/// ```
/// use kaio::{ops, Buffer, Device, Sanitizer, Stream};
/// let device = Device::open("emulator")?;
/// let stream = Stream::new(&device)?;
/// let mut x = Buffer::from_slice(&device, &[1.0f32, 2.0])?;
/// let sanitizer = Sanitizer::begin(Some("memory,races"))?;
/// let view = x.view_mut(&[2])?;
/// ops::activate(ops::Activation::Relu, &view, &view).run(&stream)?;
/// let report = sanitizer.end()?;
/// assert_eq!((report.launches, report.failed), (1, 0));
/// # Ok::<(), kaio::Error>(())
/// ```
#[derive(Debug)]
pub struct Sanitizer {
    // It belongs to the thread, so it is neither Send nor Sync.
    thread: PhantomData<*const ()>,
}

impl Sanitizer {
    /// Begins. `checks` is a list such as `memory,races` or `all,-async`; None: all.
    pub fn begin(checks: Option<&str>) -> Result<Sanitizer> {
        let checks = checks.map(|checks| c_text("the checks", checks)).transpose()?;
        call!(kaio_sanitizer_begin(
            checks.as_ref().map_or(ptr::null(), |checks| checks.as_ptr()),
            0
        ))?;
        Ok(Sanitizer { thread: PhantomData })
    }

    /// Ends.
    pub fn end(self) -> Result<Report> {
        std::mem::forget(self);
        let (mut launches, mut failed, mut found) = (0, 0, ptr::null());
        call!(kaio_sanitizer_end(&mut launches, &mut failed, &mut found))?;
        // SAFETY: the text lives until this thread's next call of the function.
        Ok(Report {
            launches,
            failed,
            text: unsafe { text(found) },
        })
    }
}

impl Drop for Sanitizer {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // SAFETY: all results may be NULL.
            unsafe { (functions.kaio_sanitizer_end)(ptr::null_mut(), ptr::null_mut(), ptr::null_mut()) };
        }
    }
}
