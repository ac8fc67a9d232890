//! The functions of libcuda.so.1 that tensors need.
use super::driver::DriverError;
use std::ffi::{c_char, c_int, c_uint, c_void, CString};
use std::sync::OnceLock;

extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

macro_rules! functions {
    ($($field:ident = $symbol:literal: ($($argument:ty),*);)*) => {
        pub(super) struct Library {
            $(pub(super) $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        fn load() -> Option<Library> {
            let symbol = |library: *mut c_void, name: &str| {
                let name = CString::new(name).ok()?;
                // SAFETY: an open library, and a text that ends in a zero.
                let found = unsafe { dlsym(library, name.as_ptr()) };
                (!found.is_null()).then_some(found)
            };
            let file = CString::new("libcuda.so.1").ok()?;
            // SAFETY: a text that ends in a zero. The driver stays open.
            let library = unsafe { dlopen(file.as_ptr(), 2) };
            if library.is_null() {
                return None;
            }
            Some(Library {
                // SAFETY: the driver's functions have these types.
                $($field: unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(symbol(library, $symbol)?) },)*
            })
        }
    };
}

functions! {
    init = "cuInit": (c_uint);
    device_get = "cuDeviceGet": (*mut c_int, c_int);
    context_retain = "cuDevicePrimaryCtxRetain": (*mut *mut c_void, c_int);
    context_set = "cuCtxSetCurrent": (*mut c_void);
    allocate = "cuMemAllocAsync": (*mut u64, usize, *mut c_void);
    free = "cuMemFreeAsync": (u64, *mut c_void);
    upload = "cuMemcpyHtoDAsync_v2": (u64, *const c_void, usize, *mut c_void);
    download = "cuMemcpyDtoHAsync_v2": (*mut c_void, u64, usize, *mut c_void);
    synchronize = "cuStreamSynchronize": (*mut c_void);
    stream_create = "cuStreamCreate": (*mut *mut c_void, c_uint);
}

pub(super) fn library() -> Result<&'static Library, DriverError> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref().ok_or(DriverError(-1))
}

pub(super) fn checked(code: c_int) -> Result<(), DriverError> {
    if code == 0 {
        Ok(())
    } else {
        Err(DriverError(code))
    }
}
