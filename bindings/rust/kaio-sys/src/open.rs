//! Finding and opening libkaio with the dynamic loader.

use std::env;
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::{check_version, Functions, LoadError, KAIO_ABI_MAJOR};

#[cfg_attr(target_os = "linux", link(name = "dl"))]
extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

/// The loader's last message on this thread.
fn loader_message() -> String {
    // SAFETY: dlerror returns NULL or a text that lives until the thread's next call.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "the loader gives no reason".to_string();
    }
    // SAFETY: it is not NULL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Opens the library of a path, or of a name without `/`, which the dynamic loader searches. It stays open.
///
/// # Safety
/// The library is libkaio: loading runs its code.
pub unsafe fn open(path: &Path) -> Result<Functions, LoadError> {
    let library = path.display().to_string();
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| LoadError::Missing {
        tried: vec![format!("{:?}: a path has no zero", path)],
    })?;
    // SAFETY: a text that ends in a zero; the caller vouches for the code that runs.
    let opened = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
    if opened.is_null() {
        return Err(LoadError::Missing {
            tried: vec![loader_message()],
        });
    }
    let symbol = |name: &'static str| {
        // SAFETY: an open library, and a name that ends in a zero.
        let found = unsafe { dlsym(opened, name.as_ptr().cast()) };
        if found.is_null() {
            let name = name.trim_end_matches('\0').to_string();
            return Err(LoadError::Function {
                library: library.clone(),
                name,
            });
        }
        Ok(found)
    };
    // The version comes first: it explains a function that is missing.
    let version = symbol("kaio_abi_version\0")?;
    // SAFETY: every version has this function, with this type.
    let version = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u32>(version) };
    // SAFETY: as above.
    check_version(unsafe { version() }, &library)?;
    // SAFETY: the addresses are libkaio's.
    unsafe { Functions::find(symbol) }
}

/// The files that are tried, in order.
fn candidates() -> Vec<PathBuf> {
    if let Some(given) = env::var_os("KAIO_LIBRARY") {
        return vec![PathBuf::from(given)];
    }
    let name = format!("libkaio.so.{}", KAIO_ABI_MAJOR);
    let next_to_program = env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(|folder| folder.join(&name)));
    let mut files: Vec<PathBuf> = next_to_program.into_iter().filter(|file| file.exists()).collect();
    files.push(PathBuf::from(name));
    files.push(PathBuf::from("libkaio.so"));
    files
}

/// Opens the first file that can be opened.
pub(crate) fn find() -> Result<Functions, LoadError> {
    let mut all = Vec::new();
    for file in candidates() {
        // SAFETY: the user's environment and installation say which library is kaio's.
        match unsafe { open(&file) } {
            Err(LoadError::Missing { tried }) => all.extend(tried),
            result => return result,
        }
    }
    Err(LoadError::Missing { tried: all })
}
