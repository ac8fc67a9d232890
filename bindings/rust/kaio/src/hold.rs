//! Places for the structs of C that a call points to.

use std::cell::{Cell, RefCell, UnsafeCell};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::raw::c_char;

use kaio_sys::DLTensor;

use crate::error::c_text;
use crate::{Result, TensorView};

const ROOM: usize = 16;

/// What a call points to: it lives until the call has returned. The first tensors need no allocation.
pub(crate) struct Hold {
    tensors: UnsafeCell<MaybeUninit<[DLTensor; ROOM]>>,
    used: Cell<usize>,
    more: RefCell<Vec<Kept>>,
}

struct Kept {
    memory: *mut (),
    free: unsafe fn(*mut ()),
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: `keep` made both of the same Box.
        unsafe { (self.free)(self.memory) }
    }
}

/// # Safety
/// `memory` is a Box<T>, which nothing uses any more.
unsafe fn free<T>(memory: *mut ()) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(memory as *mut T) });
}

impl Hold {
    pub(crate) fn new() -> Hold {
        Hold {
            tensors: UnsafeCell::new(MaybeUninit::uninit()),
            used: Cell::new(0),
            more: RefCell::new(Vec::new()),
        }
    }

    /// A place for a value. The pointer is valid as long as the `Hold` is not moved nor dropped.
    pub(crate) fn keep<T: 'static>(&self, value: T) -> *const T {
        let memory = Box::into_raw(Box::new(value));
        self.more.borrow_mut().push(Kept {
            memory: memory.cast(),
            free: free::<T>,
        });
        memory
    }

    /// The tensor of a view, which has to live as long.
    pub(crate) fn tensor(&self, view: &TensorView<'_>) -> *const DLTensor {
        let at = self.used.get();
        if at == ROOM {
            return self.keep(view.raw());
        }
        self.used.set(at + 1);
        // SAFETY: a place in the array that is written once, before anybody reads it.
        unsafe {
            let place = (self.tensors.get() as *mut DLTensor).add(at);
            place.write(view.raw());
            place
        }
    }

    /// NULL for None.
    pub(crate) fn optional(&self, view: &Option<TensorView<'_>>) -> *const DLTensor {
        view.as_ref().map_or(std::ptr::null(), |view| self.tensor(view))
    }

    /// An array of the tensors of views.
    pub(crate) fn tensors(&self, views: &[TensorView<'_>]) -> *const DLTensor {
        let all: Vec<DLTensor> = views.iter().map(TensorView::raw).collect();
        // SAFETY: the vector is not changed, so its elements stay where they are.
        unsafe { (*self.keep(all)).as_ptr() }
    }

    /// A text that ends in a zero; NULL for None.
    pub(crate) fn text(&self, what: &str, text: &Option<String>) -> Result<*const c_char> {
        match text {
            None => Ok(std::ptr::null()),
            Some(text) => {
                let kept: *const CString = self.keep(c_text(what, text)?);
                // SAFETY: it lives as long as `self`.
                Ok(unsafe { (*kept).as_ptr() })
            }
        }
    }
}
