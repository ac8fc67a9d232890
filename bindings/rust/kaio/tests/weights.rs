//! Weight files, which the tests make.

use std::env;
use std::fs;

use kaio::ops::{WeightFormat, WeightPart, WeightsKind, WeightsType};
use kaio::weights::Weights;
use kaio::{DataType, ErrorKind};

fn text(to: &mut Vec<u8>, value: &str) {
    to.extend((value.len() as u64).to_le_bytes());
    to.extend(value.as_bytes());
}

fn align(to: &mut Vec<u8>) {
    while to.len() % 32 != 0 {
        to.push(0);
    }
}

/// "norm" (3) of f32, and "w" (2, 32) of Q8_0 with scales 0.5.
fn gguf() -> Vec<u8> {
    let mut file = b"GGUF".to_vec();
    file.extend(3u32.to_le_bytes());
    file.extend(2u64.to_le_bytes());
    file.extend(2u64.to_le_bytes());
    text(&mut file, "general.name");
    file.extend(8u32.to_le_bytes());
    text(&mut file, "a model");
    text(&mut file, "llama.offset");
    file.extend(5u32.to_le_bytes());
    file.extend((-3i32).to_le_bytes());
    text(&mut file, "norm");
    file.extend(1u32.to_le_bytes());
    file.extend(3u64.to_le_bytes());
    file.extend(0u32.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    text(&mut file, "w");
    file.extend(2u32.to_le_bytes());
    file.extend(32u64.to_le_bytes());
    file.extend(2u64.to_le_bytes());
    file.extend(8u32.to_le_bytes());
    file.extend(32u64.to_le_bytes());
    align(&mut file);
    for value in [1.0f32, -2.0, 0.5] {
        file.extend(value.to_le_bytes());
    }
    align(&mut file);
    for row in 0..2u8 {
        file.extend([0, 0x38]);
        file.extend((0..32).map(|i| i + row));
    }
    file
}

#[test]
fn a_gguf_in_memory() {
    let file = gguf();
    let model = Weights::from_bytes(&file, "model").unwrap();
    let info = model.info().unwrap();
    assert_eq!(
        (info.kind, info.version, info.tensors, info.metadata),
        (WeightsKind::Gguf, 3, 2, 2)
    );
    let norm = model.tensor(0).unwrap();
    assert_eq!(
        (&norm.name[..], &norm.shape[..], norm.dtype),
        ("norm", &[3][..], Some(DataType::F32))
    );
    assert_eq!((norm.format, norm.bytes.len()), (WeightFormat::F32, 12));
    let index = model.find("w").unwrap().unwrap();
    let w = model.tensor(index).unwrap();
    assert_eq!(
        (&w.shape[..], w.format, &w.format_name[..], w.dtype),
        (&[2, 32][..], WeightFormat::Q8_0, "Q8_0", None)
    );
    assert_eq!(
        (w.block_elements, w.block_bytes, &w.operation[..]),
        (32, 34, "matmul_w8 after repack")
    );
    let values = model.values(index).unwrap();
    assert_eq!(
        values,
        (0..64)
            .map(|i| 0.5 * (i % 32 + i / 32) as f32)
            .collect::<Vec<f32>>()
    );
    let mut part = [0.0; 2];
    model.read_values(index, 33, &mut part).unwrap();
    assert_eq!(part, [1.0, 1.5]);
    assert_eq!(model.find("other").unwrap(), None);

    let offset = model
        .value(model.find_value("llama.offset").unwrap().unwrap())
        .unwrap();
    assert_eq!(
        (offset.kind, offset.integer, offset.natural, offset.number),
        (WeightsType::I32, Some(-3), None, Some(-3.0))
    );
    let name = model.value(0).unwrap();
    assert_eq!(
        (&name.key[..], name.text.as_deref(), name.number),
        ("general.name", Some("a model"), None)
    );
    assert_eq!(model.find_value("other").unwrap(), None);
    assert_eq!(model.tensor(2).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        model.read_values(0, 2, &mut part).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn damaged_and_missing_files() {
    let mut file = gguf();
    let damaged = Weights::from_bytes(&file[..file.len() - 1], "short").unwrap_err();
    assert_eq!(damaged.kind(), ErrorKind::DamagedFile);
    assert!(damaged.message().contains("short"), "{}", damaged);
    file[4] = 99; // a version of GGUF
    assert_eq!(
        Weights::from_bytes(&file, "new").unwrap_err().kind(),
        ErrorKind::UnsupportedFormat
    );
    // SAFETY: there is no such file.
    let missing = unsafe { Weights::open("no/such/file.gguf") }.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::UnreadableFile);
}

// A layer of compressed-tensors in a safetensors file: its parts, and their bytes.
#[test]
fn quantised_layers() {
    let header = concat!(
        r#"{"l.weight":{"dtype":"F8_E4M3","shape":[2,4],"data_offsets":[0,8]},"#,
        r#""l.weight_scale":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}}"#
    );
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend([0x38u8; 8]);
    file.extend(2.0f32.to_le_bytes());
    file.extend(4.0f32.to_le_bytes());
    let folder = env::temp_dir().join(format!("kaio-weights-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.safetensors");
    fs::write(&path, &file).unwrap();
    // SAFETY: nobody else knows the file.
    let model = unsafe { Weights::open(&path) }.unwrap();
    let layers = model.layers(None).unwrap();
    assert_eq!(layers.info().unwrap().layers, 1);
    let layer = layers.layer(0).unwrap();
    assert_eq!(
        (&layer.name[..], layer.n, layer.k, &layer.problem[..]),
        ("l", 2, 4, "")
    );
    let parts: Vec<WeightPart> = (0..layer.parts)
        .map(|i| layers.part(0, i as usize).unwrap().part)
        .collect();
    assert!(
        parts.contains(&WeightPart::Codes) && parts.contains(&WeightPart::Scales),
        "{:?}",
        parts
    );
    assert_eq!(layers.part_bytes(0, WeightPart::Codes).unwrap(), [0x38; 8]);
    assert_eq!(
        layers.part_bytes(0, WeightPart::Scales).unwrap(),
        [2.0f32.to_le_bytes(), 4.0f32.to_le_bytes()].concat()
    );
    assert!(layers.part_bytes(0, WeightPart::ZeroPoints).unwrap().is_empty());
    drop(layers);
    drop(model);
    fs::remove_dir_all(&folder).unwrap();
}
