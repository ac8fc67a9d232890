//! With the feature `link`: says where the linker finds libkaio. `KAIO_LIB_DIR` names the folder; without it, `pkg-config kaio-c` is
//! asked; without that, the linker searches its own folders.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=KAIO_LIB_DIR");
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    println!("cargo:rustc-link-lib=dylib=kaio");
    if let Ok(folder) = env::var("KAIO_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
        return;
    }
    let asked = Command::new("pkg-config")
        .args(["--variable=libdir", "kaio-c"])
        .output();
    if let Ok(answer) = asked {
        let folder = String::from_utf8_lossy(&answer.stdout).trim().to_string();
        if answer.status.success() && !folder.is_empty() {
            println!("cargo:rustc-link-search=native={}", folder);
        }
    }
}
