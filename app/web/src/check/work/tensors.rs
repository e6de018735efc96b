//! The outputs of a run in the form that a ported project uses: one tensor per plane.

use std::collections::BTreeMap;
use uresnet::{Error, PLANES, Tensor, one_plane};

/// `output.plane0` to `output.plane2`, each [images, 3 classes, height, width].
pub(crate) fn outputs(logits: &Tensor) -> Result<BTreeMap<String, Tensor>, Error> {
    let mut planes = BTreeMap::new();
    for plane in 0..PLANES {
        planes.insert(format!("output.plane{plane}"), one_plane(logits, plane)?);
    }
    Ok(planes)
}

/// The logits in another run's file; `shape` is [images, 3 planes, 3 classes, height, width].
pub(crate) fn logits_of(found: &mut BTreeMap<String, Tensor>, shape: &[usize; 5]) -> Result<Tensor, String> {
    let &[pictures, _, classes, height, width] = shape;
    let expected = [pictures, classes, height, width];
    let mut planes = Vec::new();
    for plane in 0..PLANES {
        let name = format!("output.plane{plane}");
        let Some(tensor) = found.remove(&name) else {
            let others: Vec<&str> = found.keys().take(4).map(String::as_str).collect();
            let others = if others.is_empty() { "nothing".to_string() } else { others.join(", ") };
            return Err(format!("{name} is missing; expected it with shape {expected:?}. The file contains {others}"));
        };
        if tensor.shape() != expected {
            return Err(format!("{name}: expected shape {expected:?}, found {:?}", tensor.shape()));
        }
        planes.push(tensor);
    }
    let length = classes * height * width;
    let parts = (0..pictures).flat_map(|picture| planes.iter().map(move |plane| &plane.data()[picture * length..]));
    let data = parts.flat_map(|image| image[..length].iter().copied()).collect();
    Tensor::from_vec(shape, data).ok_or_else(|| "logits of another size".to_string())
}
