use super::*;
use crate::event::Event;
use hdf5_pure::{CompoundTypeBuilder, FileBuilder};

/// Rows of two images: per event, per plane, (id, value).
type Events<'a> = &'a [&'a [&'a [(u64, f32)]]];

fn records(group: &mut hdf5_pure::GroupBuilder, name: &str, datatype: Datatype, rows: Vec<Vec<u8>>) {
    let count = rows.len() as u64;
    group.create_dataset(name).with_compound_data(datatype, rows.concat(), count);
}

/// A file as written by larcv 3, with producers of images of 10 columns and `image_rows` rows.
fn file(producers: &[(&str, Events<'_>)], image_rows: u64) -> File {
    file_with(producers, array_of("number_of_voxels", 2), &|_| [10, image_rows])
}

/// The same with this type of `image_meta`, and each plane's columns and rows.
fn file_with(producers: &[(&str, Events<'_>)], meta: Datatype, image: &dyn Fn(usize) -> [u64; 2]) -> File {
    let mut builder = FileBuilder::new();
    let mut data = builder.create_group("Data");
    for (name, events) in producers {
        let mut group = data.create_group(&format!("sparse2d_{name}_group"));
        let pair = || CompoundTypeBuilder::with_size(16).u64_field("first", 0).u32_field("N", 8).build().unwrap();
        let triple = CompoundTypeBuilder::new().u64_field("first").u32_field("N").u32_field("ID").build().unwrap();
        let voxel = CompoundTypeBuilder::with_size(16).u64_field("id", 0).f32_field("value", 8).build().unwrap();
        let (mut extents, mut planes, mut metas, mut voxels) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for event in *events {
            extents.push([&(planes.len() as u64).to_le_bytes()[..], &(event.len() as u64).to_le_bytes()].concat());
            for (plane, pixels) in event.iter().enumerate() {
                let (first, count) = ((voxels.len() as u64).to_le_bytes(), (pixels.len() as u32).to_le_bytes());
                planes.push([&first[..], &count, &(plane as u32).to_le_bytes()].concat());
                let size = image(plane).map(u64::to_le_bytes).concat();
                metas.push(size[..meta.type_size() as usize].to_vec());
                let record = |(id, value): &(u64, f32)| [&id.to_le_bytes()[..], &value.to_le_bytes(), &[0; 4]].concat();
                voxels.extend(pixels.iter().map(record));
            }
        }
        records(&mut group, "extents", pair(), extents);
        records(&mut group, "voxel_extents", triple, planes);
        records(&mut group, "image_meta", meta.clone(), metas);
        records(&mut group, "voxels", voxel, voxels);
        data.add_group(group.finish());
    }
    builder.add_group(data.finish());
    File::from_bytes(builder.finish().unwrap()).unwrap()
}

/// A record of one field, an array of whole numbers.
fn array_of(name: &str, count: u32) -> Datatype {
    let whole = CompoundTypeBuilder::new().u64_field("x").build().unwrap();
    let Datatype::Compound { members, .. } = whole else { unreachable!("a compound was built") };
    let array = Datatype::Array { base_type: Box::new(members[0].datatype.clone()), dimensions: vec![count] };
    CompoundTypeBuilder::new().field(name, array).build().unwrap()
}

fn column(tensors: &BTreeMap<String, Tensor>, name: &str) -> Vec<f32> {
    tensors[name].data().to_vec()
}

const CHARGES: Events<'_> =
    &[&[&[(0, 5.5), (9, 6.0)], &[], &[(25, 7.25)]], &[&[(3, 8.0)], &[(4, 9.0)], &[(5, 10.0), (7, 11.0)]]];
const LABELS: Events<'_> = &[&[&[(9, 2.0), (0, 1.0)], &[], &[(25, 1.0)]], &[&[(3, 1.0)], &[(4, 2.0)], &[(7, 2.0)]]];

#[test]
fn events_come_with_places_and_the_classes_of_the_same_voxels() {
    let file = file(&[("sbnd_cosmicseg", LABELS), ("sbndwire", CHARGES)], 8);
    assert_eq!(count_larcv(&file), Ok(2));
    let all = read_larcv(&file, 0..2).unwrap();
    assert_eq!(column(&all, "event"), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(column(&all, "plane"), [0.0, 0.0, 2.0, 0.0, 1.0, 2.0, 2.0]);
    assert_eq!(column(&all, "row"), [0.0, 1.0, 1.0, 3.0, 4.0, 5.0, 7.0]);
    assert_eq!(column(&all, "col"), [0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(column(&all, "value"), [5.5, 6.0, 7.25, 8.0, 9.0, 10.0, 11.0]);
    assert_eq!(column(&all, "label"), [1.0, 2.0, 1.0, 1.0, 2.0, 0.0, 2.0]);
    let second = read_larcv(&file, 1..2).unwrap();
    assert_eq!(column(&second, "value"), [8.0, 9.0, 10.0, 11.0]);
}

#[test]
fn the_image_has_room_for_each_plane() {
    let two = || array_of("number_of_voxels", 2);
    let check = |image: &dyn Fn(usize) -> [u64; 2], expected: [f32; 2]| {
        let all = read_larcv(&file_with(&[("sbndwire", CHARGES)], two(), image), 0..2).unwrap();
        assert_eq!(column(&all, "image_size"), expected);
    };
    check(&|_| [2048, 1280], [1280.0, 2048.0]);
    // Planes with different numbers of wires.
    check(&|plane| [[10, 8], [12, 8], [9, 30]][plane], [30.0, 12.0]);
    let file = file(&[("sbndwire", CHARGES)], 8);
    let event = |size| Event::from_tensors(read_larcv(&file, 1..2).unwrap(), 1, size).unwrap().picture;
    assert_eq!((event(None).shape(), event(Some((16, 32))).shape()), (&[1, 3, 8, 10][..], &[1, 3, 16, 32][..]));
    let empty: Events<'_> = &[&[]];
    let empty = read_larcv(&file_with(&[("sbndwire", empty)], two(), &|_| [10, 8]), 0..1).unwrap();
    assert!(!empty.contains_key("image_size"));
}

#[test]
fn an_image_without_a_usable_size_is_refused() {
    let check = |meta: Datatype, image: &dyn Fn(usize) -> [u64; 2], part: &str| {
        let file = file_with(&[("sbndwire", CHARGES)], meta, image);
        let error = read_larcv(&file, 0..1).unwrap_err().to_string();
        assert!(error.contains("sparse2d_sbndwire_group/image_meta") && error.contains(part), "{error}");
    };
    let two = || array_of("number_of_voxels", 2);
    check(array_of("sizes", 2), &|_| [10, 8], "no number `number_of_voxels`");
    check(array_of("number_of_voxels", 1), &|_| [10, 8], "no number `number_of_voxels`");
    check(two(), &|_| [0, 8], "at least one pixel");
    check(two(), &|_| [10, 0], "at least one pixel");
    check(two(), &|_| [1 << 20, 1 << 20], "at most 67108864, not 1048576 x 1048576");
    check(two(), &|plane| [[10, 8], [u64::MAX, u64::MAX], [10, 8]][plane], "at most");
}

#[test]
fn producers_of_other_names_are_told_apart_by_their_values() {
    let named = read_larcv(&file(&[("hits", CHARGES), ("truth", LABELS)], 8), 0..1).unwrap();
    assert_eq!(column(&named, "label"), [1.0, 2.0, 1.0]);
    let alone = read_larcv(&file(&[("hits", CHARGES)], 8), 0..1).unwrap();
    assert!(!alone.contains_key("label"));
}

#[test]
fn what_is_no_event_is_refused() {
    let check = |file: &File, events: Range<u64>, part: &str| {
        let error = read_larcv(file, events).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    check(&file(&[("sbndwire", CHARGES)], 8), 2..3, "no event 2: the file has 2");
    check(
        &file(&[("a", CHARGES), ("b", CHARGES)], 8),
        0..1,
        "producers for the charge: a, b, none of them named sbndwire",
    );
    let classes = file(&[("sbndwire", CHARGES), ("a", LABELS), ("b", LABELS)], 8);
    check(&classes, 0..1, "producers for the classes: a, b, none of them named sbnd_cosmicseg");
    check(&file(&[("truth", LABELS)], 8), 0..1, "no larcv producer contains charge; found truth");
    check(&file(&[], 8), 0..1, "no sparse images");
    let mut other = FileBuilder::new();
    other.create_dataset("x").with_f32_data(&[1.0]);
    check(&File::from_bytes(other.finish().unwrap()).unwrap(), 0..1, "no group `Data`");
}

#[test]
fn data_that_would_be_longer_than_the_file_are_refused() {
    let bytes = include_bytes!("../../../cli/tests/portolan/larcv.h5");
    let file = File::from_bytes(bytes.to_vec()).unwrap();
    let parts = file.dataset("Data/sparse2d_sbndwire_group/voxels").unwrap().chunks().unwrap();
    let size = (parts[0].storage_size as u32).to_le_bytes();
    let places = (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(&size));
    // More than a gigabyte in place of each number that may be the size of the part: one of them is.
    let said = places.filter_map(|at| {
        let longer = [&bytes[..at], &0x7000_0000_u32.to_le_bytes(), &bytes[at + 4..]].concat();
        larcv_event(longer, 0).err()
    });
    let said: Vec<String> = said.map(|error| error.to_string()).collect();
    assert!(said.iter().any(|said| said.contains("voxels: the file ends before the data that it lists")), "{said:?}");
}
