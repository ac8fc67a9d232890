use std::error::Error;
use std::fmt;

use crate::{KAIO_ABI_MAJOR, KAIO_ABI_MINOR};

/// Why libkaio could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// No file could be opened. The dynamic loader's message for each that was tried.
    Missing {
        /// A message for each file.
        tried: Vec<String>,
    },
    /// The library has another version of the interface than this crate needs.
    Version {
        /// The library's file.
        library: String,
        /// The library's major version.
        major: u32,
        /// The library's minor version.
        minor: u32,
    },
    /// The library lacks a function.
    Function {
        /// The library's file.
        library: String,
        /// The name of the function.
        name: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Missing { tried } => write!(
                to,
                "kaio: libkaio was not found; set KAIO_LIBRARY to its path, or install it where the loader searches. Tried: {}",
                tried.join("; ")
            ),
            LoadError::Version { library, major, minor } => write!(
                to,
                "kaio: {} has interface {}.{}, and this program needs {}.{} or a later minor version; install that library",
                library, major, minor, KAIO_ABI_MAJOR, KAIO_ABI_MINOR
            ),
            LoadError::Function { library, name } => {
                write!(to, "kaio: {} has no function {}; install the library of this version", library, name)
            }
        }
    }
}

impl Error for LoadError {}
