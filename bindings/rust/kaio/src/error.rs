use std::ffi::{CStr, CString};
use std::fmt;

use kaio_sys::{kaio_status, Functions};

/// What every fallible function returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure: its kind, and a message that says what happened to which argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The call itself is wrong; nothing has run.
    InvalidArgument,
    /// The device has no kernel for the call.
    UnsupportedDevice,
    /// Any code of the CUDA driver without a kind of its own; the message has its name.
    Driver,
    /// Memory of the device or of the host is exhausted.
    OutOfMemory,
    /// A fault of kaio.
    Internal,
    /// No NVIDIA driver, or one that cannot be used.
    DriverMissing,
    /// There is a driver, but not this GPU.
    NoDevice,
    /// The driver's compiler refused a kernel.
    JitFailed,
    /// A launch failed.
    LaunchFailed,
    /// A kernel touched memory that it does not own; the device is lost.
    IllegalAccess,
    /// An earlier failure has lost the device.
    DeviceLost,
    /// The call is not allowed while work of the stream is being recorded.
    StreamCapturing,
    /// An assertion of a kernel failed.
    DeviceAssert,
    /// A kernel took too long.
    LaunchTimeout,
    /// The call was cancelled.
    Cancelled,
    /// A file cannot be opened or read.
    UnreadableFile,
    /// A file is damaged.
    DamagedFile,
    /// A file has a format that kaio does not know.
    UnsupportedFormat,
    /// A rank of a group is missing, has gone or has failed, or the group was ended.
    CommunicationFailed,
    /// libkaio cannot be loaded, or has another version.
    LibraryMissing,
}

/// The kinds in the order of the statuses of C, from 1.
pub(crate) const KINDS: [ErrorKind; 19] = [
    ErrorKind::InvalidArgument,
    ErrorKind::UnsupportedDevice,
    ErrorKind::Driver,
    ErrorKind::OutOfMemory,
    ErrorKind::Internal,
    ErrorKind::DriverMissing,
    ErrorKind::NoDevice,
    ErrorKind::JitFailed,
    ErrorKind::LaunchFailed,
    ErrorKind::IllegalAccess,
    ErrorKind::DeviceLost,
    ErrorKind::StreamCapturing,
    ErrorKind::DeviceAssert,
    ErrorKind::LaunchTimeout,
    ErrorKind::Cancelled,
    ErrorKind::UnreadableFile,
    ErrorKind::DamagedFile,
    ErrorKind::UnsupportedFormat,
    ErrorKind::CommunicationFailed,
];

impl Error {
    /// The kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What happened to which argument.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error {
            kind: ErrorKind::InvalidArgument,
            message: message.into(),
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Error {
        Error {
            kind: ErrorKind::Internal,
            message: message.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The functions of libkaio.
pub(crate) fn functions() -> Result<&'static Functions> {
    kaio_sys::load().map_err(|error| Error {
        kind: ErrorKind::LibraryMissing,
        message: error.to_string(),
    })
}

/// The error of a status. A later library may have statuses that this crate does not know: they are `Internal`.
pub(crate) fn check(functions: &Functions, status: kaio_status) -> Result<()> {
    if status == kaio_sys::KAIO_OK {
        return Ok(());
    }
    let kind = KINDS
        .get((status - 1) as usize)
        .copied()
        .unwrap_or(ErrorKind::Internal);
    // SAFETY: the text is never NULL, and lives until the next failure on this thread.
    let message = unsafe { text((functions.kaio_last_error)()) };
    Err(Error { kind, message })
}

/// A copy of a text of C; "" for NULL.
///
/// # Safety
/// The pointer is NULL, or a text that ends in a zero.
pub(crate) unsafe fn text(from: *const std::os::raw::c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

/// A text for C.
pub(crate) fn c_text(what: &str, from: &str) -> Result<CString> {
    CString::new(from)
        .map_err(|_| Error::invalid(format!("kaio: {} {:?} contains a zero; leave it out", what, from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every status has the kind of its name, and there is no status without a kind.
    #[test]
    fn kinds_have_the_names_of_statuses() {
        let functions = functions().unwrap();
        let name = |status| unsafe { text((functions.kaio_status_name)(status)) };
        for (number, kind) in KINDS.iter().enumerate() {
            let words = format!("{:?}", kind);
            let mut snake = String::new();
            for letter in words.chars() {
                if letter.is_uppercase() && !snake.is_empty() {
                    snake.push('_');
                }
                snake.extend(letter.to_lowercase());
            }
            assert_eq!(name(number as i32 + 1), snake);
        }
        assert_eq!(name(KINDS.len() as i32 + 1), "unknown");
    }
}
