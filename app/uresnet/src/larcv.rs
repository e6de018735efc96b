//! Events in larcv 3's HDF5 files, which CosmicTagger reads.
//!
//! A producer's group, `Data/sparse2d_NAME_group`, has tables from an event to its voxels: `extents` (event to its
//! planes), `voxel_extents` (plane to its voxels), `voxels` (id and value), and next to the second `image_meta` (size
//! of the plane's image). A voxel's id counts down the image's columns.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use hdf5_pure::{Chunk, Dataset, Datatype, DatatypeByteOrder, File};

use crate::error::Error;
use crate::event::{LARGEST, is_class};
use crate::tensor::Tensor;
use crate::tensor_file::write_safetensors;

/// The producers in CosmicTagger's configuration: charge, and classes.
const CHARGE: &str = "sbndwire";
const CLASSES: &str = "sbnd_cosmicseg";

/// Reads events, numbered from 0, in the form that [`Event::from_tensors`](crate::Event::from_tensors) accepts:
/// `event`, `plane`, `row`, `col`, `value`, `label` if the file has classes, and `image_size`, which has room for each
/// plane's image.
///
/// Charge and classes are those of the producers in CosmicTagger's own configuration, otherwise of the only ones whose
/// values in the first of the events are not, or are, all classes.
pub fn read_larcv(file: &File, events: Range<u64>) -> Result<BTreeMap<String, Tensor>, Error> {
    let names = producers(file)?;
    let [charge, labels] = told_apart(file, &names, events.start)?;
    let Some(charge) = charge else {
        return Err(refusal(format!("no larcv producer contains charge; found {}", names.join(", "))));
    };

    let mut columns: [Vec<f32>; 6] = Default::default();
    let mut size = [0.0_f32; 2];
    for number in events {
        let classes = labels.as_ref().map(|labels| labels.event(number)).transpose()?.unwrap_or_default();
        for plane in charge.event(number)? {
            let classes = classes.iter().find(|labels| labels.plane == plane.plane);
            let classes: HashMap<u64, f32> = classes.map(|labels| labels.voxels().collect()).unwrap_or_default();
            size = [size[0].max(plane.rows as f32), size[1].max(plane.columns as f32)];
            for (id, value) in plane.voxels() {
                let (row, col) = (id % plane.rows, id / plane.rows);
                let label = classes.get(&id).copied().unwrap_or_default();
                let entry = [number as f32, plane.plane as f32, row as f32, col as f32, value, label];
                columns.iter_mut().zip(entry).for_each(|(column, value)| column.push(value));
            }
        }
    }
    let names = ["event", "plane", "row", "col", "value", "label"];
    let named = names.into_iter().zip(columns).take(if labels.is_some() { 6 } else { 5 });
    // An event without planes states none.
    let size = (size[0] > 0.0).then_some(("image_size", size.to_vec()));
    let tensor = |data: Vec<f32>| Tensor::from_vec(&[data.len()], data).expect("a column");
    Ok(named.chain(size).map(|(name, data)| (name.to_string(), tensor(data))).collect())
}

/// One event of a file in memory, as safetensors.
pub fn larcv_event(file: Vec<u8>, number: u64) -> Result<Vec<u8>, Error> {
    let file = File::from_bytes(file).map_err(|error| refusal(error.to_string()))?;
    let columns = read_larcv(&file, number..number.saturating_add(1))?;
    write_safetensors(columns.iter().map(|(name, tensor)| (name.as_str(), tensor)))
}

/// The producer of the charge and that of the classes: those in CosmicTagger's configuration, and instead of a missing
/// one the only one whose values in an event fit.
fn told_apart(file: &File, names: &[String], event: u64) -> Result<[Option<Producer>; 2], Error> {
    let mut found = [const { Vec::new() }; 2];
    for name in names {
        let producer = Producer::open(file, name)?;
        let known = [CHARGE, CLASSES].iter().position(|known| known == name);
        let kind = match known {
            Some(kind) => kind,
            None => {
                let planes = producer.event(event)?;
                usize::from(planes.iter().flat_map(|plane| &plane.values).all(|value| is_class(*value)))
            }
        };
        found[kind].push((known.is_some(), name, producer));
    }
    let mut only = |kind: usize, what: &str| {
        let is_named = found[kind].iter().any(|(named, ..)| *named);
        let mut left: Vec<_> = found[kind].drain(..).filter(|(named, ..)| *named || !is_named).collect();
        if left.len() > 1 {
            let names: Vec<&str> = left.iter().map(|(_, name, _)| name.as_str()).collect();
            let known = [CHARGE, CLASSES][kind];
            let problem =
                format!("ambiguous larcv producers for {what}: {}, none of them named {known}", names.join(", "));
            return Err(refusal(problem));
        }
        Ok(left.pop().map(|(_, _, producer)| producer))
    };
    Ok([only(0, "the charge")?, only(1, "the classes")?])
}

/// The number of events in a file.
pub fn count_larcv(file: &File) -> Result<u64, Error> {
    let names = producers(file)?;
    let name = names.iter().find(|name| *name == CHARGE).unwrap_or(&names[0]);
    Ok(Producer::open(file, name)?.extents.rows)
}

/// Names of the producers of sparse images; at least one.
fn producers(file: &File) -> Result<Vec<String>, Error> {
    let groups = file
        .group("Data")
        .and_then(|data| data.groups())
        .map_err(|error| refusal(format!("not a larcv file: it has no group `Data` ({error})")))?;
    let name = |group: &String| group.strip_prefix("sparse2d_")?.strip_suffix("_group").map(str::to_owned);
    let names: Vec<String> = groups.iter().filter_map(name).collect();
    if names.is_empty() {
        return Err(refusal(format!(
            "the larcv file contains no sparse images (sparse2d_…); it contains {}",
            groups.join(", ")
        )));
    }
    Ok(names)
}

/// The voxels of a plane.
#[derive(Default)]
struct Plane {
    plane: u64,
    /// Voxels in a column of its image.
    rows: u64,
    /// Voxels in a row of its image.
    columns: u64,
    ids: Vec<u64>,
    values: Vec<f32>,
}

impl Plane {
    fn voxels(&self) -> impl Iterator<Item = (u64, f32)> {
        self.ids.iter().copied().zip(self.values.iter().copied())
    }
}

struct Producer {
    extents: Table,
    voxel_extents: Table,
    image_meta: Table,
    voxels: Table,
}

impl Producer {
    fn open(file: &File, name: &str) -> Result<Self, Error> {
        let table = |table: &str| Table::open(file, format!("Data/sparse2d_{name}_group/{table}"));
        Ok(Self {
            extents: table("extents")?,
            voxel_extents: table("voxel_extents")?,
            image_meta: table("image_meta")?,
            voxels: table("voxels")?,
        })
    }

    fn event(&self, number: u64) -> Result<Vec<Plane>, Error> {
        if number >= self.extents.rows {
            let count = self.extents.rows;
            return Err(Error::Input(format!("no event {number}: the file has {count}, counted from 0")));
        }
        let planes = self.extents.read(number, 1)?;
        let (first, count) = (planes.whole(0, "first")?, planes.whole(0, "N")?);
        let (extents, metas) = (self.voxel_extents.read(first, count)?, self.image_meta.read(first, count)?);
        (0..count as usize)
            .map(|at| {
                // Width and height, in voxels.
                let length = |axis| metas.element(at, "number_of_voxels", axis);
                let (columns, rows) = (length(0)?, length(1)?);
                if !(1..=LARGEST).contains(&columns.saturating_mul(rows)) {
                    let problem = "the image must have at least one pixel and at most";
                    return Err(refusal(format!("{}: {problem} {LARGEST}, not {rows} x {columns}", metas.path)));
                }
                let voxels = self.voxels.read(extents.whole(at, "first")?, extents.whole(at, "N")?)?;
                let ids = (0..voxels.count).map(|i| voxels.whole(i, "id")).collect::<Result<_, _>>()?;
                let values = (0..voxels.count).map(|i| voxels.number(i, "value")).collect::<Result<_, _>>()?;
                Ok(Plane { plane: extents.whole(at, "ID")?, rows, columns, ids, values })
            })
            .collect()
    }
}

/// A dataset of records.
struct Table {
    path: String,
    dataset: Dataset,
    rows: u64,
    /// Bytes of a record.
    size: usize,
    fields: Vec<Field>,
    /// The maximum decompressed size of its file.
    most: u64,
}

/// The maximum number of decompressed bytes per byte.
const DEFLATED: u64 = 1032;

/// A size that is allowed for any file.
const FREE: u64 = 1 << 20;

/// The offset of a number in a record, or of several of one kind.
struct Field {
    name: String,
    start: usize,
    kind: Datatype,
    count: usize,
}

impl Table {
    fn open(file: &File, path: String) -> Result<Self, Error> {
        let fault = |error: hdf5_pure::Error| refusal(format!("{path}: {error}"));
        let dataset = file.dataset(&path).map_err(fault)?;
        // Memory for a part that claims to be longer than its file would be allocated before the end of the file is
        // noticed.
        let is_cut = |chunk: &Chunk| chunk.address.saturating_add(chunk.storage_size) > file.file_size();
        if dataset.is_chunked() && dataset.chunks().is_ok_and(|chunks| chunks.iter().any(is_cut)) {
            return Err(refusal(format!("{path}: the file ends before the data that it lists")));
        }
        let rows = dataset.shape().map_err(fault)?.first().copied().unwrap_or(0);
        let Datatype::Compound { size, members } = dataset.datatype().map_err(fault)? else {
            return Err(refusal(format!("{path} is not a table of records")));
        };
        if size == 0 {
            return Err(refusal(format!("{path} has records of length 0")));
        }
        let fields = members.into_iter().map(|member| {
            let (kind, count) = match member.datatype {
                Datatype::Array { base_type, dimensions } => {
                    (*base_type, dimensions.iter().fold(1_usize, |all, d| all.saturating_mul(*d as usize)))
                }
                kind => (kind, 1),
            };
            Field { name: member.name, start: member.byte_offset as usize, kind, count }
        });
        let most = file.file_size().saturating_mul(DEFLATED).saturating_add(FREE);
        Ok(Self { fields: fields.collect(), size: size as usize, rows, dataset, path, most })
    }

    fn read(&self, first: u64, count: u64) -> Result<Rows<'_>, Error> {
        let end = first.checked_add(count).filter(|end| *end <= self.rows);
        if end.is_none() {
            let rows = self.rows;
            return Err(refusal(format!("{} has {rows} rows, but {count} from row {first} were requested", self.path)));
        }
        if count.saturating_mul(self.size as u64) > self.most {
            return Err(refusal(format!("{} claims {count} rows, more than its file can hold", self.path)));
        }
        let bytes = self.dataset.read_raw_rows(first, count);
        let bytes = bytes.map_err(|error| refusal(format!("{}: {error}", self.path)))?;
        let count = count as usize;
        if bytes.len() != count.saturating_mul(self.size) {
            return Err(refusal(format!("{}: the row length does not match the type", self.path)));
        }
        Ok(Rows { path: &self.path, size: self.size, fields: &self.fields, count, bytes })
    }
}

/// Some rows of a table.
struct Rows<'t> {
    path: &'t str,
    size: usize,
    fields: &'t [Field],
    count: usize,
    bytes: Vec<u8>,
}

impl Rows<'_> {
    /// Bytes of a number, little-endian, and its type.
    fn bytes_of(&self, row: usize, name: &str, element: usize) -> Result<(&[u8], &Datatype), Error> {
        let field = self.fields.iter().find(|field| field.name == name && element < field.count);
        let bytes = field.and_then(|field| {
            let size = match field.kind {
                Datatype::FixedPoint { size, byte_order: DatatypeByteOrder::LittleEndian, .. }
                | Datatype::FloatingPoint { size, byte_order: DatatypeByteOrder::LittleEndian, .. } => size as usize,
                _ => return None,
            };
            let record = self.bytes.chunks_exact(self.size).nth(row)?;
            Some((record.get(field.start + element * size..)?.get(..size)?, &field.kind))
        });
        bytes.ok_or_else(|| refusal(format!("{} has no number `{name}` in larcv 3's format", self.path)))
    }

    fn element(&self, row: usize, name: &str, element: usize) -> Result<u64, Error> {
        let (bytes, kind) = self.bytes_of(row, name, element)?;
        if !matches!(kind, Datatype::FixedPoint { .. }) || bytes.len() > 8 {
            return Err(refusal(format!("{}: `{name}` is not an integer", self.path)));
        }
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn whole(&self, row: usize, name: &str) -> Result<u64, Error> {
        self.element(row, name, 0)
    }

    fn number(&self, row: usize, name: &str) -> Result<f32, Error> {
        let (bytes, kind) = self.bytes_of(row, name, 0)?;
        match (kind, bytes) {
            (Datatype::FloatingPoint { .. }, &[a, b, c, d]) => Ok(f32::from_le_bytes([a, b, c, d])),
            (Datatype::FloatingPoint { .. }, &[a, b, c, d, e, f, g, h]) => {
                Ok(f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32)
            }
            _ => Err(refusal(format!("{}: `{name}` is not a floating-point number", self.path))),
        }
    }
}

fn refusal(problem: String) -> Error {
    Error::File(problem)
}

#[cfg(test)]
mod tests;
