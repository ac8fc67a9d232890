//! Kernels of a C++ library by name: `KAIO_TEST_KERNELS` is the path of tests/c/kernel_library.cpp, compiled.

mod support;

use std::env;

use kaio::kernels::{Access, Argument, Grid, KernelLibrary};
use kaio::{Bf16, Capture, DataType, E4m3, ErrorKind, Sanitizer, F16};
use support::{device, stream, upload, zeros};

fn library() -> KernelLibrary {
    let file = env::var("KAIO_TEST_KERNELS").expect("KAIO_TEST_KERNELS: the path of the kernels' library");
    // SAFETY: the kernels of the repository.
    unsafe { KernelLibrary::open(file) }.unwrap()
}

#[test]
#[ignore = "needs KAIO_TEST_KERNELS"]
fn what_a_library_has() {
    let library = library();
    assert_eq!(library.count().unwrap(), 10);
    assert_eq!(library.version().unwrap(), kaio::version().unwrap());
    assert_eq!(library.at(0).unwrap().name(), "saxpy");
    let saxpy = library.find("tests::saxpy").unwrap();
    let signature = "saxpy(in<f32>, inout<f32>, val<f32>, val<u32>)";
    assert_eq!((saxpy.signature(), saxpy.block()), (signature, [256, 1, 1]));
    assert!(saxpy.ptx().unwrap().contains(".entry saxpy"));
    let parameters = saxpy.parameters();
    assert_eq!(parameters.len(), 4);
    assert_eq!(
        (parameters[1].access, parameters[1].dtype),
        (Access::InOut, Some(DataType::F32))
    );
    assert_eq!(
        (parameters[3].access, &parameters[3].text[..]),
        (Access::Value, "val<u32>")
    );
    assert!(library.find_with_signature("saxpy", signature).is_ok());
    let other = library
        .find_with_signature("saxpy", "saxpy(in<f32>)")
        .unwrap_err();
    assert!(
        other.message().contains(signature) && other.message().contains("saxpy(in<f32>)"),
        "{}",
        other
    );
    assert_eq!(
        library.find("saxpi").unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    // SAFETY: there is no such file.
    let missing = unsafe { KernelLibrary::open("./none.so") }.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::UnreadableFile);
}

// A launch, one in a graph, and each argument that is refused before anything runs.
#[test]
#[ignore = "needs KAIO_TEST_KERNELS"]
fn launches() {
    let (device, library) = (device(), library());
    let stream = stream(&device);
    let saxpy = library.find("saxpy").unwrap();
    saxpy.warmup(&device).unwrap();
    let (x_memory, mut y_memory) = (
        upload(&device, &[1.0f32, 2.0, 3.0]),
        upload(&device, &[10.0f32, 20.0, 30.0]),
    );
    let (x, y) = (x_memory.view(&[3]).unwrap(), y_memory.view_mut(&[3]).unwrap());
    let grid = Grid::over(3);
    saxpy
        .launch(
            &stream,
            &grid,
            &[(&x).into(), (&y).into(), 2.0f32.into(), Argument::integer(3)],
        )
        .unwrap();
    let capture = Capture::begin(&stream).unwrap();
    saxpy
        .launch(
            &stream,
            &grid,
            &[(&x).into(), (&y).into(), Argument::number(0.5), 2u32.into()],
        )
        .unwrap();
    let graph = capture.end().unwrap();
    // SAFETY: the buffers live until the stream is empty.
    unsafe { graph.launch(&stream) }.unwrap();

    let refused = |arguments: &[Argument], words: &str| {
        let error = saxpy.launch(&stream, &grid, arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(
            error.message().contains("saxpy") && error.message().contains(words),
            "{}",
            error
        );
    };
    refused(
        &[(&x).into(), (&x).into(), 2.0f32.into(), 3u32.into()],
        "argument 2 is inout<f32>, which the kernel writes",
    );
    refused(
        &[(&x).into(), (&y).into(), 2.0f64.into(), 3u32.into()],
        "argument 3",
    );
    refused(
        &[(&x).into(), (&y).into(), 2.0f32.into(), Argument::integer(-1)],
        "argument 4",
    );
    refused(&[(&x).into(), (&y).into(), 2.0f32.into()], "4");
    assert_eq!(y_memory.to_vec(&stream).unwrap(), [12.5, 25.0, 36.0]);
}

// A number of every type, and a struct.
#[test]
#[ignore = "needs KAIO_TEST_KERNELS"]
fn numbers_and_structs() {
    let (device, library) = (device(), library());
    let stream = stream(&device);
    let mut y = zeros::<f64>(&device, 10);
    let arguments = [
        (&y.view_mut(&[10]).unwrap()).into(),
        1.5f32.into(),
        F16::from_f32(2.5).into(),
        Bf16::from_f32(-3.5).into(),
        4.25f64.into(),
        (-5i8).into(),
        60000u16.into(),
        i64::MIN.into(),
        (1u64 << 53).into(),
        true.into(),
        E4m3(0x38).into(),
    ];
    library
        .find("numbers")
        .unwrap()
        .launch(&stream, &Grid::blocks(1, 1, 1), &arguments)
        .unwrap();
    let expected = [
        1.5,
        2.5,
        -3.5,
        4.25,
        -5.0,
        60000.0,
        i64::MIN as f64,
        (1u64 << 53) as f64,
        1.0,
        1.0,
    ];
    assert_eq!(y.to_vec(&stream).unwrap(), expected);

    let mut x = upload(&device, &[1.0f32, 2.0]);
    let mut affine = Vec::new();
    affine.extend(3.0f32.to_ne_bytes());
    affine.extend(0.5f32.to_ne_bytes());
    affine.extend(2u32.to_ne_bytes());
    let arguments = [(&x.view_mut(&[2]).unwrap()).into(), Argument::bytes(&affine)];
    library
        .find("apply")
        .unwrap()
        .launch(&stream, &Grid::over(2), &arguments)
        .unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), [3.5, 6.5]);
}

// A kernel that reads beyond its memory: the sanitizer's report is the error, and the emulator stays of use.
#[test]
#[ignore = "needs KAIO_TEST_KERNELS"]
fn a_sanitized_launch() {
    let (device, library) = (kaio::Device::open("emulator").unwrap(), library());
    let stream = stream(&device);
    let saxpy = library.find("saxpy").unwrap();
    let (x, mut y) = (upload(&device, &[1.0f32; 3]), upload(&device, &[2.0f32; 4]));
    let launch = |n: u32, y: &kaio::TensorViewMut| {
        let arguments = [(&x.view(&[3]).unwrap()).into(), y.into(), 1.0f32.into(), n.into()];
        saxpy.launch(&stream, &Grid::over(4), &arguments)
    };
    let sanitizer = Sanitizer::begin(None).unwrap();
    let error = launch(4, &y.view_mut(&[4]).unwrap()).unwrap_err();
    assert!(error.message().contains("saxpy"), "{}", error);
    launch(3, &y.view_mut(&[4]).unwrap()).unwrap();
    let report = sanitizer.end().unwrap();
    assert_eq!((report.launches, report.failed), (2, 1));
    assert!(report.text.contains("saxpy"), "{}", report.text);
    drop(Sanitizer::begin(Some("memory")).unwrap());
    assert!(Sanitizer::begin(Some("magic"))
        .unwrap_err()
        .message()
        .contains("magic"));
    assert_eq!(y.to_vec(&stream).unwrap()[..3], [3.0; 3]);
}
