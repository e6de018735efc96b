//! An event: the image of three planes that is the network's input, and the correct classes.

mod synthetic;

use std::collections::BTreeMap;

use crate::error::Error;
use crate::network::{CLASSES, PLANES};
use crate::tensor::Tensor;

/// The most pixels of a plane that a file may state.
pub(crate) const LARGEST: u64 = 1 << 26;

/// One image, or several of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Charge by pixel, [images, 3 planes, height, width].
    pub picture: Tensor,
    /// The correct class of each pixel (0 background, 1 cosmic, 2 neutrino), with the image's shape, if it is known.
    pub labels: Option<Tensor>,
}

impl Event {
    /// Image size of the sparse events in CosmicTagger's data: height and width.
    pub const USUAL_SIZE: (usize, usize) = (1280, 2048);

    /// A synthetic event: cosmic tracks across the image, one neutrino interaction of tracks and a shower, and noise;
    /// with labels, and the same on every machine.
    ///
    /// The planes are three views of the same lines: they share the rows (drift time) and differ in the direction of
    /// their wires, which are the columns.
    pub fn synthetic(seed: u64, height: usize, width: usize) -> Event {
        synthetic::event(seed, height, width)
    }

    /// Finds an event among named tensors.
    ///
    /// Either a dense image, named `input` or the only tensor of the file, [images, 3, height, width] or [3, height,
    /// width], with `label` of the same shape if there is one; or one entry for each non-empty pixel: `plane`, `row`,
    /// `col`, `value`, and optionally `label`, `event`, and `image_size`: the height and width of the image. `number`
    /// selects the event of a sparse file. `size` replaces the file's image size; without either it is
    /// [`Event::USUAL_SIZE`].
    pub fn from_tensors(
        mut tensors: BTreeMap<String, Tensor>,
        number: usize,
        size: Option<(usize, usize)>,
    ) -> Result<Event, Error> {
        if ["plane", "row", "col", "value"].iter().all(|key| tensors.contains_key(*key)) {
            let size = match size {
                Some(size) => size,
                None => match tensors.get("image_size") {
                    Some(lengths) => Event::checked_size(lengths.data())?,
                    None => Event::USUAL_SIZE,
                },
            };
            return sparse(&tensors, number, size);
        }
        let labels = tensors.remove("label");
        let picture = match tensors.remove("input") {
            Some(picture) => picture,
            None if tensors.len() == 1 => tensors.into_values().next().expect("one tensor"),
            None => {
                let names: Vec<&str> = tensors.keys().take(5).map(String::as_str).collect();
                let problem = format!(
                    "the file has neither `input` nor `plane`, `row`, `col` and `value`; it begins with {}",
                    if names.is_empty() { "nothing".to_string() } else { names.join(", ") }
                );
                return Err(Error::Input(problem));
            }
        };
        let picture = stacked(picture)?;
        if picture.data().is_empty() {
            return Err(Error::Input(format!("it contains no image: its shape is {:?}", picture.shape())));
        }
        let labels = labels.map(stacked).transpose()?;
        if let Some(labels) = labels.as_ref().filter(|labels| labels.shape() != picture.shape()) {
            let (expected, found) = (picture.shape().to_vec(), labels.shape().to_vec());
            return Err(Error::Shape { key: "label".to_string(), expected, found });
        }
        if let Some(wrong) = labels.iter().flat_map(|labels| labels.data()).find(|&&class| !is_class(class)) {
            return Err(Error::Input(format!(
                "invalid label {wrong}: expected 0 (background), 1 (cosmic) or 2 (neutrino)"
            )));
        }
        Ok(Event { picture, labels })
    }

    /// The height and width in a sparse file's `image_size`.
    pub fn checked_size(lengths: &[f32]) -> Result<(usize, usize), Error> {
        let is_length = |length: f32| length >= 1.0 && length.fract() == 0.0;
        match *lengths {
            [height, width] if is_length(height) && is_length(width) && height * width <= LARGEST as f32 => {
                Ok((height as usize, width as usize))
            }
            _ => Err(Error::Input(format!(
                "invalid image_size: expected height and width with a product of at most {LARGEST}, found {:?}",
                &lengths[..lengths.len().min(4)]
            ))),
        }
    }

    /// The non-empty pixels, as [`Event::from_tensors`] reads them: `event`, which is `number` in all, `plane`, `row`,
    /// `col`, `value`, and `label` if there are labels. Of several images the first counts.
    pub fn to_sparse(&self, number: usize) -> BTreeMap<String, Tensor> {
        let [_, _, height, width] = self.picture.nchw();
        let mut columns: [Vec<f32>; 6] = Default::default();
        for (i, &value) in self.picture.data().iter().enumerate().take(PLANES * height * width) {
            let label = self.labels.as_ref().map_or(0.0, |labels| labels.data()[i]);
            if value != 0.0 || label != 0.0 {
                let places = [number, i / (height * width), i / width % height, i % width];
                let entry = places.map(|place| place as f32).into_iter().chain([value, label]);
                columns.iter_mut().zip(entry).for_each(|(column, value)| column.push(value));
            }
        }
        let names = ["event", "plane", "row", "col", "value", "label"];
        let named = names.into_iter().zip(columns).take(if self.labels.is_some() { 6 } else { 5 });
        let tensor = |data: Vec<f32>| Tensor::from_vec(&[data.len()], data).expect("a column");
        named.map(|(name, data)| (name.to_string(), tensor(data))).collect()
    }

    /// The event with `factor` by `factor` pixels combined into one: the mean of the charge, including empty pixels,
    /// and the largest label.
    pub fn downsampled(&self, factor: usize) -> Result<Event, Error> {
        let [_, _, height, width] = self.picture.nchw();
        if factor == 0 || !height.is_multiple_of(factor) || !width.is_multiple_of(factor) {
            return Err(Error::Input(format!("{height} x {width} pixels can't be downsampled {factor} by {factor}")));
        }
        let mean = |sum: f32, value: f32| sum + value / (factor * factor) as f32;
        let picture = reduced(&self.picture, factor, mean);
        let labels = self.labels.as_ref().map(|labels| reduced(labels, factor, f32::max));
        Ok(Event { picture, labels })
    }
}

/// Whether a label is one of the network's classes.
pub(crate) fn is_class(value: f32) -> bool {
    (0..CLASSES).any(|class| value == class as f32)
}

fn stacked(picture: Tensor) -> Result<Tensor, Error> {
    match *picture.shape() {
        [PLANES, height, width] => Ok(picture.reshaped(&[1, PLANES, height, width])),
        [_, PLANES, _, _] => Ok(picture),
        _ => Err(Error::Input(format!("expected [images, 3, height, width], found {:?}", picture.shape()))),
    }
}

fn reduced(map: &Tensor, factor: usize, combine: impl Fn(f32, f32) -> f32) -> Tensor {
    let [pictures, planes, height, width] = map.nchw();
    let mut small = Tensor::zeros(&[pictures, planes, height / factor, width / factor]);
    for (line, row) in map.data().chunks_exact(width.max(1)).enumerate() {
        let (image, y) = (line / height, line % height / factor);
        let start = (image * (height / factor) + y) * (width / factor);
        for (x, &value) in row.iter().enumerate() {
            let to = &mut small.data_mut()[start + x / factor];
            *to = combine(*to, value);
        }
    }
    small
}

fn sparse(tensors: &BTreeMap<String, Tensor>, number: usize, (height, width): (usize, usize)) -> Result<Event, Error> {
    let count = tensors["value"].data().len();
    let column = |key: &str| match tensors.get(key) {
        Some(tensor) if tensor.shape() != [count] => {
            Err(Error::Shape { key: key.to_string(), expected: vec![count], found: tensor.shape().to_vec() })
        }
        found => Ok(found.map(Tensor::data)),
    };
    let (Some(planes), Some(rows), Some(columns), Some(values)) =
        (column("plane")?, column("row")?, column("col")?, column("value")?)
    else {
        return Err(Error::Input("a sparse event needs `plane`, `row`, `col` and `value`".to_string()));
    };
    let (classes, events) = (column("label")?, column("event")?);
    let shape = [1, PLANES, height, width];
    let mut event = Event { picture: Tensor::zeros(&shape), labels: classes.map(|_| Tensor::zeros(&shape)) };
    let mut any = false;
    for entry in 0..count {
        if events.is_some_and(|events| events[entry] != number as f32) {
            continue;
        }
        any = true;
        let place = |key: &str, value: f32, end: usize| {
            if value >= 0.0 && value.fract() == 0.0 && value < end as f32 {
                return Ok(value as usize);
            }
            Err(Error::Input(format!("entry {entry}: {key} {value} is not an integer below {end}")))
        };
        let plane = place("plane", planes[entry], PLANES)?;
        let row = place("row", rows[entry], height)?;
        let pixel = (plane * height + row) * width + place("col", columns[entry], width)?;
        event.picture.data_mut()[pixel] = values[entry];
        if let (Some(labels), Some(classes)) = (&mut event.labels, classes) {
            labels.data_mut()[pixel] = place("label", classes[entry], CLASSES)? as f32;
        }
    }
    match any || events.is_none() {
        true => Ok(event),
        false => Err(Error::Input(format!("the file has no event {number}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(columns: &[(&str, &[f32])]) -> BTreeMap<String, Tensor> {
        let tensor = |data: &[f32]| Tensor::from_vec(&[data.len()], data.to_vec()).unwrap();
        columns.iter().map(|(name, data)| (name.to_string(), tensor(data))).collect()
    }

    #[test]
    fn a_sparse_event_is_laid_out_and_made_smaller() {
        let columns: [(&str, &[f32]); 6] = [
            ("event", &[0.0, 1.0, 1.0]),
            ("plane", &[0.0, 2.0, 2.0]),
            ("row", &[0.0, 1.0, 0.0]),
            ("col", &[0.0, 3.0, 2.0]),
            ("value", &[9.0, 8.0, 4.0]),
            ("label", &[1.0, 2.0, 1.0]),
        ];
        let event = Event::from_tensors(file(&columns), 1, Some((2, 4))).unwrap();
        assert_eq!(event.picture.data()[16..], [0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 8.0]);
        assert_eq!(event.picture.data().iter().sum::<f32>(), 12.0);
        let small = event.downsampled(2).unwrap();
        assert_eq!(small.picture.shape(), [1, 3, 1, 2]);
        assert_eq!(small.picture.data()[4..], [0.0, 3.0]);
        assert_eq!(small.labels.unwrap().data()[4..], [0.0, 2.0]);
        assert!(event.downsampled(3).is_err());
    }

    #[test]
    fn a_sparse_event_is_the_dense_one() {
        let event = Event::synthetic(3, 32, 48);
        let columns = event.to_sparse(7);
        assert!(columns["value"].data().len() < 3 * 32 * 48);
        assert_eq!(Event::from_tensors(columns, 7, Some((32, 48))).unwrap(), event);
        assert!(!Event { labels: None, ..event }.to_sparse(0).contains_key("label"));
    }

    #[test]
    fn the_image_size_is_the_given_one_or_the_files_or_the_usual_one() {
        let base: [(&str, &[f32]); 4] = [("plane", &[0.0]), ("row", &[1.0]), ("col", &[3.0]), ("value", &[1.0])];
        let size = |stated: &[f32], given| {
            let stated = (!stated.is_empty()).then_some(("image_size", stated));
            let columns: Vec<_> = base.into_iter().chain(stated).collect();
            let event = Event::from_tensors(file(&columns), 0, given)?;
            let [_, _, height, width] = event.picture.nchw();
            Ok((height, width))
        };
        assert_eq!(size(&[2.0, 4.0], None), Ok((2, 4)));
        assert_eq!(size(&[2.0, 4.0], Some((8, 6))), Ok((8, 6)));
        assert_eq!(size(&[], None), Ok(Event::USUAL_SIZE));
        for wrong in [&[2.0][..], &[0.0, 4.0], &[2.0, f32::NAN], &[2.5, 4.0], &[1e9, 1e9], &[-8.0, -8.0], &[1.0; 9]] {
            let Err(Error::Input(problem)) = size(wrong, None) else { panic!("{wrong:?}") };
            assert!(problem.starts_with("invalid image_size"), "{problem}");
            assert_eq!(size(wrong, Some((2, 4))), Ok((2, 4)));
        }
    }

    #[test]
    fn refusals_say_where() {
        let check = |columns: &[(&str, &[f32])], number, expected: &str| {
            let found = Event::from_tensors(file(columns), number, Some((2, 4))).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        };
        let base: [(&str, &[f32]); 3] = [("plane", &[0.0]), ("row", &[0.0]), ("value", &[1.0])];
        let with = |more: &[(&'static str, &'static [f32])]| [&base[..], more].concat();
        check(&with(&[("col", &[4.0])]), 0, "entry 0: col 4 is not an integer below 4");
        check(&with(&[("col", &[f32::NAN])]), 0, "col NaN");
        check(&with(&[("col", &[1.0, 2.0])]), 0, "col: expected shape [1], found [2]");
        check(&with(&[("col", &[1.0]), ("event", &[0.0])]), 3, "no event 3");
        check(&base, 0, "neither `input` nor");
        check(&[("input", &[1.0])], 0, "found [1]");
    }
}
