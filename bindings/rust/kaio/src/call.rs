//! What the files of operations share.

pub(crate) use crate::error::{check, functions, text};
pub(crate) use crate::hold::Hold;
pub(crate) use crate::{Device, Error, Result, Stream, TensorView, TensorViewMut};
pub(crate) use kaio_sys as sys;

/// An array for C; NULL if it is empty.
pub(crate) fn list<T>(from: &[T]) -> *const T {
    if from.is_empty() {
        std::ptr::null()
    } else {
        from.as_ptr()
    }
}

/// The text in an array, up to its zero.
pub(crate) fn array_text(from: &[std::os::raw::c_char]) -> String {
    let bytes: Vec<u8> = from
        .iter()
        .take_while(|letter| **letter != 0)
        .map(|letter| *letter as u8)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The length that all lists have.
pub(crate) fn same_length(operation: &str, lists: &[(&str, usize)]) -> Result<usize> {
    for (name, length) in lists {
        if *length != lists[0].1 {
            return Err(Error::invalid(format!(
                "kaio: {}: argument {} has {} tensors, and {} has {}; give lists of one length",
                operation, name, length, lists[0].0, lists[0].1
            )));
        }
    }
    Ok(lists[0].1)
}
