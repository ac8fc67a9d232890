//! Devices, streams, events, graphs, memory, and threads.

mod support;

use kaio::{
    ops, Buffer, Capture, DataType, Device, ErrorKind, Event, Pool, Stream, TensorView, TensorViewMut, F16,
};
use support::{device, stream, upload, zeros};

#[test]
fn devices() {
    let device = device();
    let properties = device.properties().unwrap();
    assert!(
        properties.sm >= 70 && !properties.name.is_empty() && properties.total_memory > 0,
        "{:?}",
        properties
    );
    let (free, total) = device.memory_info().unwrap();
    assert!(free <= total && total > 0);
    assert!(device.can_access(&device).unwrap());
    device.synchronize().unwrap();
    assert_eq!(Device::from_raw(device.raw()), device);
    assert_eq!(Device::open(&device.to_string()).unwrap(), device);
    assert!(kaio::version().unwrap().contains('.'));
}

#[test]
fn streams_and_events() {
    let device = device();
    let (lowest, highest) = Stream::priorities(&device).unwrap();
    assert!(highest <= lowest);
    let (first, second) = (stream(&device), Stream::with_priority(&device, highest).unwrap());
    let (begin, end) = (Event::new(&device).unwrap(), Event::new(&device).unwrap());
    let mut x = zeros::<u8>(&device, 1000);
    begin.record(&first).unwrap();
    x.fill_bytes(&first, 7).unwrap();
    end.record(&first).unwrap();
    second.wait(&end).unwrap();
    assert_eq!(x.to_vec(&second).unwrap(), [7; 1000]);
    end.synchronize().unwrap();
    assert!(end.is_done().unwrap() && first.is_done().unwrap() && !first.is_capturing().unwrap());
    assert!(begin.milliseconds_until(&end).unwrap() >= 0.0);
}

#[test]
fn a_borrowed_stream_is_not_destroyed() {
    let device = device();
    let owned = stream(&device);
    // SAFETY: `owned` lives longer.
    let borrowed = unsafe { Stream::borrowed(&device, owned.handle()) };
    let x = upload(&device, &[1.0f32, 2.0]);
    assert_eq!(x.to_vec(&borrowed).unwrap(), [1.0, 2.0]);
    drop(borrowed);
    assert_eq!(x.to_vec(&owned).unwrap(), [1.0, 2.0]);
    assert_eq!(x.to_vec(&Stream::default_of(&device)).unwrap(), [1.0, 2.0]);
}

fn doubled(stream: &Stream, x: &TensorView, out: &TensorViewMut) -> kaio::Result<()> {
    ops::matmul(x, x, out).alpha(2.0).run(stream)
}

// A replay reads what the memory holds then; an update changes the memory.
#[test]
fn graphs() {
    let device = device();
    let stream = stream(&device);
    let mut x = upload(&device, &[1.0f32]);
    let other = upload(&device, &[5.0f32]);
    let mut out = zeros::<f32>(&device, 1);
    doubled(
        &stream,
        &x.view(&[1, 1]).unwrap(),
        &out.view_mut(&[1, 1]).unwrap(),
    )
    .unwrap();

    let capture = Capture::begin(&stream).unwrap();
    assert!(capture.stream().is_capturing().unwrap());
    doubled(
        &stream,
        &x.view(&[1, 1]).unwrap(),
        &out.view_mut(&[1, 1]).unwrap(),
    )
    .unwrap();
    let mut graph = capture.end().unwrap();
    assert!(!stream.is_capturing().unwrap());
    graph.upload(&stream).unwrap();
    x.write(&stream, &[3.0]).unwrap();
    // SAFETY: the buffers live until the stream is empty.
    unsafe { graph.launch(&stream) }.unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [18.0]);

    let capture = Capture::begin(&stream).unwrap();
    doubled(
        &stream,
        &other.view(&[1, 1]).unwrap(),
        &out.view_mut(&[1, 1]).unwrap(),
    )
    .unwrap();
    graph.update(capture).unwrap();
    // SAFETY: as above.
    unsafe { graph.launch(&stream) }.unwrap();
    assert_eq!(out.to_vec(&stream).unwrap(), [50.0]);
}

// The work of a capture that is dropped does not run, and the stream is of use again.
#[test]
fn a_dropped_capture() {
    let device = device();
    let stream = stream(&device);
    let x = upload(&device, &[1.0f32]);
    let mut out = zeros::<f32>(&device, 1);
    doubled(
        &stream,
        &x.view(&[1, 1]).unwrap(),
        &out.view_mut(&[1, 1]).unwrap(),
    )
    .unwrap();
    out.fill_bytes(&stream, 0).unwrap();
    stream.synchronize().unwrap();
    let capture = Capture::begin(&stream).unwrap();
    doubled(
        &stream,
        &x.view(&[1, 1]).unwrap(),
        &out.view_mut(&[1, 1]).unwrap(),
    )
    .unwrap();
    assert_eq!(
        stream.synchronize().unwrap_err().kind(),
        ErrorKind::StreamCapturing
    );
    drop(capture);
    let fresh = Stream::new(&device).unwrap();
    assert_eq!(out.to_vec(&fresh).unwrap(), [0.0]);
}

// Memory of a pool is freed when its buffer is dropped, and is used by operations meanwhile.
#[test]
fn pools() {
    let device = device();
    let stream = stream(&device);
    let pool = Pool::new(&device, &ops::PoolOptions::new().limit(1 << 20)).unwrap();
    let mut out = zeros::<f32>(&device, 4);
    {
        let mut ones = pool.zeros::<f32>(&stream, 4).unwrap();
        let other = pool.uninitialised::<u8>(&stream, 100).unwrap();
        assert!(other.len() == 100 && !other.is_empty());
        assert!(pool.statistics().unwrap().in_use >= 116);
        let ones = ones.view_mut(&[2, 2]).unwrap();
        let x = upload(&device, &[1.0f32, 2.0, 3.0, 4.0]);
        ops::copy_tensor(&ones, &x.view(&[2, 2]).unwrap())
            .run(&stream)
            .unwrap();
        ops::copy_tensor(&out.view_mut(&[2, 2]).unwrap(), &ones)
            .run(&stream)
            .unwrap();
        assert!(other.view(&[99]).is_err());
    }
    assert_eq!(out.to_vec(&stream).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(pool.statistics().unwrap().in_use, 0);
    let error = pool.zeros::<u8>(&stream, 2 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    pool.trim(0).unwrap();
}

#[test]
fn fills() {
    let device = device();
    let stream = stream(&device);
    let (mut x, mut h) = (zeros::<f32>(&device, 3), zeros::<F16>(&device, 3));
    x.fill(&stream, -1.5).unwrap();
    h.fill(&stream, F16::from_f32(2.0)).unwrap();
    assert_eq!(x.to_vec(&stream).unwrap(), [-1.5; 3]);
    assert_eq!(h.to_vec(&stream).unwrap(), [F16::from_f32(2.0); 3]);
    assert_eq!(
        zeros::<f64>(&device, 1).fill(&stream, 1.0).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn copies_and_empty_buffers() {
    let device = device();
    let stream = stream(&device);
    let from = upload(&device, &[1i64, -2, 3]);
    let mut to = Buffer::<i64>::uninitialised(&device, 3).unwrap();
    to.copy_from(&stream, &from).unwrap();
    assert_eq!(to.to_vec(&stream).unwrap(), [1, -2, 3]);
    let mut empty = zeros::<f32>(&device, 0);
    assert!(empty.is_empty() && empty.to_vec(&stream).unwrap().is_empty());
    let out = empty.view_mut(&[0, 4]).unwrap();
    ops::activate(ops::Activation::Relu, &out, &out)
        .run(&stream)
        .unwrap();
}

// Memory of two devices, and a stream of the wrong one.
#[test]
fn two_devices() {
    let (first, second) = (Device::emulator(1).unwrap(), Device::emulator(2).unwrap());
    let (stream, other) = (stream(&first), Stream::new(&second).unwrap());
    let from = upload(&first, &[1.0f32, 2.0]);
    let mut to = zeros::<f32>(&second, 2);
    to.copy_from(&stream, &from).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(to.to_vec(&other).unwrap(), [1.0, 2.0]);
    assert_eq!(
        from.to_vec(&other).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    let x = from.view(&[1, 2]).unwrap();
    let y = to.view_mut(&[1, 2]).unwrap();
    assert_eq!(
        ops::softmax(&x, &y).run(&stream).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
    let mut out = zeros::<f32>(&first, 2);
    let error = ops::softmax(&x, &out.view_mut(&[1, 2]).unwrap())
        .run(&other)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}", error);
    assert_eq!(
        Event::new(&first).unwrap().record(&other).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

// A view of memory that another library has.
#[test]
fn views_of_foreign_memory() {
    let device = device();
    let stream = stream(&device);
    let memory = upload(&device, &[1.0f32, 2.0, 3.0, 4.0]);
    // SAFETY: the memory has these elements, and lives longer.
    let every_second =
        unsafe { TensorView::from_raw_parts(device, memory.as_ptr(), DataType::F32, &[2], Some(&[2])) }
            .unwrap();
    let mut sum = zeros::<f32>(&device, 1);
    ops::reduce(ops::Reduction::Sum, &every_second, &sum.view_mut(&[1]).unwrap())
        .run(&stream)
        .unwrap();
    assert_eq!(sum.to_vec(&stream).unwrap(), [4.0]);
}

// Threads share a device and the memory that they read; each has its stream and its output.
#[test]
fn threads() {
    let device = device();
    let x = std::sync::Arc::new(upload(&device, &[1.0f32, 2.0, 3.0, 4.0]));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let x = x.clone();
            std::thread::spawn(move || {
                let stream = stream(&device);
                for round in 0..10 {
                    let mut out = zeros::<f32>(&device, 4);
                    let view = x.view(&[2, 2]).unwrap();
                    let alpha = (number * 10 + round) as f32;
                    ops::matmul(&view, &view, &out.view_mut(&[2, 2]).unwrap())
                        .alpha(alpha)
                        .run(&stream)
                        .unwrap();
                    assert_eq!(
                        out.to_vec(&stream).unwrap(),
                        [7.0, 10.0, 15.0, 22.0].map(|x| x * alpha)
                    );
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}
