//! What the files of operations share.

pub(crate) use crate::error::{check, functions, text};
pub(crate) use crate::hold::Hold;
pub(crate) use crate::{Device, Error, Result, Stream, TensorView, TensorViewMut};
pub(crate) use kaio_sys as sys;

/// A call of the C interface. What its arguments point to lives in the operation and in its `Hold`, which outlive the call.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let functions = functions()?;
        // SAFETY: pointers are valid for the call, as above.
        check(functions, unsafe { (functions.$name)($($argument),*) })
    }};
}
pub(crate) use call;

/// What is stored of a parameter.
macro_rules! stored {
    (value $name:ident) => {
        $name
    };
    (view $name:ident) => {
        Some(*$name)
    };
    (written $name:ident) => {
        Some(**$name)
    };
    (record $name:ident) => {
        Some($name.clone())
    };
    (text $name:ident) => {
        Some($name.to_string())
    };
    (list $name:ident) => {
        $name.to_vec()
    };
}
pub(crate) use stored;

/// Methods that set a member and return the whole: `view bias(&TensorView<'a>) => options.bias;`.
macro_rules! setters {
    ($($(#[$said:meta])* $how:ident $name:ident($type:ty) => $($to:ident).+;)*) => {$(
        $(#[$said])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($to).+ = stored!($how $name);
            self
        }
    )*};
}
pub(crate) use setters;

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
