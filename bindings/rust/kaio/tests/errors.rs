//! Refused calls: their kinds, and the argument that the message names.

mod support;

use kaio::{ops, Buffer, Device, Error, ErrorKind, Stream};
use support::{device, upload, zeros};

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, kind: ErrorKind, words: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), kind, "{}", error);
    assert!(error.message().starts_with("kaio: "), "{}", error);
    for word in words {
        assert!(
            error.to_string().contains(word),
            "{:?} is not in: {}",
            word,
            error
        );
    }
}

#[test]
fn devices() {
    refused(
        Device::open("emulator:99"),
        ErrorKind::InvalidArgument,
        &["name", "99"],
    );
    refused(
        Device::open("a\0b"),
        ErrorKind::InvalidArgument,
        &["contains a zero"],
    );
    let none = Device::cuda(63).unwrap_err().kind();
    assert!(
        none == ErrorKind::NoDevice || none == ErrorKind::DriverMissing,
        "{:?}",
        none
    );
}

#[test]
fn views() {
    let device = device();
    let mut x = zeros::<f32>(&device, 12);
    refused(
        x.view(&[3, 5]),
        ErrorKind::InvalidArgument,
        &["15 elements", "12"],
    );
    refused(x.view_mut(&[11]), ErrorKind::InvalidArgument, &["11 elements"]);
    refused(
        x.view(&[usize::MAX, 2]),
        ErrorKind::InvalidArgument,
        &["too many elements"],
    );
    refused(
        x.view(&[1, 1, 1, 1, 1, 1, 1, 1, 12]),
        ErrorKind::InvalidArgument,
        &["9 dimensions"],
    );
    let view = x.view(&[3, 4]).unwrap();
    refused(
        view.slice(0, 2..4),
        ErrorKind::InvalidArgument,
        &["2..4", "[3, 4]"],
    );
    refused(
        view.slice(2, 0..1),
        ErrorKind::InvalidArgument,
        &["no dimension 2"],
    );
    refused(
        view.transpose(0, 1).unwrap().reshape(&[12]),
        ErrorKind::InvalidArgument,
        &["copy it first"],
    );
    refused(view.reshape(&[5]), ErrorKind::InvalidArgument, &["[5]"]);
    refused(view.expand(0, 7), ErrorKind::InvalidArgument, &["has to be 1"]);
    assert_eq!(view.slice(0, 1..1).unwrap().elements(), 0);
}

#[test]
fn buffers() {
    let device = device();
    let stream = Stream::new(&device).unwrap();
    let mut x = upload(&device, &[1.0f32, 2.0]);
    refused(
        x.write(&stream, &[1.0]),
        ErrorKind::InvalidArgument,
        &["1 elements", "2"],
    );
    refused(
        x.read(&stream, &mut [0.0; 3]),
        ErrorKind::InvalidArgument,
        &["3 elements"],
    );
    refused(
        Buffer::<f64>::zeros(&device, usize::MAX),
        ErrorKind::InvalidArgument,
        &["too large"],
    );
    refused(Buffer::<u8>::zeros(&device, 1 << 60), ErrorKind::OutOfMemory, &[]);
}

#[test]
fn operations() {
    let device = device();
    let stream = Stream::new(&device).unwrap();
    let (x, codes) = (zeros::<f32>(&device, 6), zeros::<i8>(&device, 6));
    let mut c = zeros::<f32>(&device, 4);
    let c = c.view_mut(&[2, 2]).unwrap();
    let (a, b) = (x.view(&[2, 3]).unwrap(), x.view(&[3, 2]).unwrap());
    refused(
        ops::matmul(&a, &a, &c).run(&stream),
        ErrorKind::InvalidArgument,
        &["matmul"],
    );
    let integers = codes.view(&[2, 3]).unwrap();
    refused(
        ops::matmul(&integers, &b, &c).run(&stream),
        ErrorKind::InvalidArgument,
        &["argument a"],
    );
    refused(
        ops::matmul(&a, &b, &c).bias(&integers).run(&stream),
        ErrorKind::InvalidArgument,
        &["argument bias"],
    );
    refused(
        ops::matmul(&a, &b, &c).variant("none").run(&stream),
        ErrorKind::InvalidArgument,
        &["none"],
    );
    refused(
        ops::matmul(&a, &b, &c).variant("a\0").run(&stream),
        ErrorKind::InvalidArgument,
        &["variant"],
    );
    refused(
        ops::block_format_named("Q9_9"),
        ErrorKind::InvalidArgument,
        &["Q9_9"],
    );
}

// A failure on one thread does not change the message of another.
#[test]
fn messages_belong_to_threads() {
    static NAMES: [&str; 3] = ["emulator:77", "emulator:78", "emulator:79"];
    let threads: Vec<_> = NAMES
        .iter()
        .map(|name| {
            std::thread::spawn(move || {
                for _ in 0..200 {
                    refused(Device::open(name), ErrorKind::InvalidArgument, &[&name[9..]]);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
