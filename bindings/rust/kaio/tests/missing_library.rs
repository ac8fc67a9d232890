//! Without libkaio every call fails with the files that were tried, and another library is refused. One test: it changes the environment.
#![cfg(not(feature = "link"))]

use std::path::Path;

use kaio::{sys, Device, ErrorKind};

#[test]
fn a_library_that_is_not_there() {
    std::env::set_var("KAIO_LIBRARY", "/no/such/libkaio.so.0");
    let error = Device::open("emulator").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LibraryMissing);
    assert!(
        error.message().starts_with("kaio: libkaio was not found"),
        "{}",
        error
    );
    assert!(
        error.message().contains("/no/such/libkaio.so.0") && error.message().contains("KAIO_LIBRARY"),
        "{}",
        error
    );
    // What the first call has found is the answer of all.
    std::env::remove_var("KAIO_LIBRARY");
    assert_eq!(kaio::version().unwrap_err(), error);

    // SAFETY: the C library is loaded already.
    match unsafe { sys::open(Path::new("libc.so.6")) } {
        Err(sys::LoadError::Function { library, name }) => {
            assert_eq!((&library[..], &name[..]), ("libc.so.6", "kaio_abi_version"));
        }
        other => panic!("{:?}", other),
    }
}
