//! The layout of structs, the values of constants, the defaults and the types of functions are those of the C headers: a C program
//! prints them, and its functions are assigned to pointers of the types that Rust has for them.

use std::env;
use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::process::Command;

#[rustfmt::skip]
#[path = "generated/layout.rs"]
mod generated;

macro_rules! size {
    ($lines:ident, $type:ty) => {
        $lines.push(format!("{} {}", stringify!($type), std::mem::size_of::<$type>()))
    };
}
macro_rules! offset_of {
    ($type:ty, $member:ident) => {{
        let memory = std::mem::MaybeUninit::<$type>::uninit();
        let begin = memory.as_ptr();
        // SAFETY: the address of a member of a struct in memory of its size; nothing is read.
        unsafe { std::ptr::addr_of!((*begin).$member) as usize - begin as usize }
    }};
}
macro_rules! member {
    ($lines:ident, $type:ty, $member:ident, $name:expr) => {{
        let memory = std::mem::MaybeUninit::<$type>::uninit();
        // SAFETY: as above.
        let bytes = size_of_target(unsafe { std::ptr::addr_of!((*memory.as_ptr()).$member) });
        $lines.push(format!(
            "{}.{} {} {}",
            stringify!($type),
            $name,
            offset_of!($type, $member),
            bytes
        ));
    }};
}
pub(crate) use {member, offset_of, size};

fn size_of_target<T>(_: *const T) -> usize {
    size_of::<T>()
}

fn bytes_of<T>(value: &T, count: usize) -> String {
    assert!(count <= size_of::<T>());
    let begin: *const u8 = (value as *const T).cast();
    // SAFETY: the structs have no padding: reserved members fill their gaps, which the sizes of members show.
    (0..count)
        .map(|at| format!("{:02x}", unsafe { *begin.add(at) }))
        .collect()
}

fn headers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../include")
}

#[test]
fn layouts_are_those_of_c() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated/layout.c");
    let folder = env::temp_dir().join(format!("kaio-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("layout");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let library = kaio_library();
    let compiled = Command::new(compiler)
        .args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wincompatible-pointer-types",
            "-I",
        ])
        .arg(headers())
        .arg(&source)
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler");
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let printed = Command::new(&program).output().unwrap();
    assert!(printed.status.success());
    std::fs::remove_dir_all(&folder).unwrap();
    let of_c: Vec<String> = String::from_utf8(printed.stdout)
        .unwrap()
        .lines()
        .map(str::to_string)
        .collect();

    let mut lines = Vec::new();
    generated::structs(&mut lines);
    generated::constants(&mut lines);
    generated::defaults(&mut lines);
    assert!(lines.len() > 1000, "only {} lines", lines.len());
    for (rust, c) in lines.iter().zip(&of_c) {
        assert_eq!(rust, c);
    }
    assert_eq!(lines.len(), of_c.len());
}

/// The library whose functions are compared: the one that tests load.
fn kaio_library() -> PathBuf {
    PathBuf::from(env::var_os("KAIO_LIBRARY").expect("KAIO_LIBRARY: the path of libkaio.so.0"))
}
