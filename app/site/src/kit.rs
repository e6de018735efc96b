//! The twin run kit: `rehearsal/` as a downloadable archive, and the guides to which it applies.

use crate::SiteError;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use std::collections::BTreeMap;
use std::io::Write;

/// The path of the archive, from the site's root. The Port page and the guides link to it.
pub(crate) const ARCHIVE: &str = "portolan-rehearsal.zip";
/// The program of the kit; its table of targets lists what the kit covers.
const PROGRAM: &str = "rehearse.py";

/// Files of the kit: paths from its folder with `/`, and contents.
pub type Kit = BTreeMap<String, Vec<u8>>;

/// Packs the kit into a folder `rehearsal/`. Sorted by path, uncompressed and with a fixed date, so that the same kit
/// is the same archive on every machine.
pub(crate) fn pack(kit: &Kit) -> Result<Vec<u8>, SiteError> {
    write(kit).map_err(|error| SiteError::Kit(error.to_string()))
}

fn write(kit: &Kit) -> Result<Vec<u8>, rawzip::Error> {
    // The earliest date that an archive can contain.
    let date = UtcDateTime::from_components(1980, 1, 1, 0, 0, 0, 0).expect("it is a date");
    let mut archive = ZipArchiveWriter::new(Vec::new());
    for (path, bytes) in kit {
        let path = format!("rehearsal/{path}");
        let file = archive.new_file(path.as_str()).compression_method(CompressionMethod::STORE);
        let (mut entry, config) = file.last_modified(date).unix_permissions(0o644).start()?;
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes)?;
        let (_, sum) = writer.finish()?;
        entry.finish(sum)?;
    }
    archive.finish()
}

/// Targets of the kit's program, as named in its table.
pub(crate) fn targets(kit: &Kit) -> Vec<String> {
    let program = kit.get(PROGRAM).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
    let table = program.lines().skip_while(|line| !line.starts_with("TARGETS = {")).skip(1);
    let lines = table.take_while(|line| !line.starts_with('}'));
    lines
        .filter_map(|line| line.trim_start().strip_prefix('"')?.split_once('"'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The text about the kit on a guide's page: where to get it, and the command. `name` is the guide's.
pub(crate) fn offer(kit: &Kit, name: &str) -> String {
    if !targets(kit).iter().any(|target| target == name) {
        return String::new();
    }
    // For a TensorFlow script the kit only follows the calls.
    let needs = if name.starts_with("tensorflow") { "Python alone" } else { "Python with PyTorch" };
    format!(
        "<aside class=\"kit\"><p>Rehearse a port on a laptop, without the accelerator: unpack \
         <a href=\"../../{ARCHIVE}\" download>the twin run kit</a> (it needs {needs}) beside the ported script and run:</p>\n\
         <pre><code>python3 rehearsal/{PROGRAM} --target {name} -- train.py</code></pre></aside>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{Kit, offer, pack, targets};
    use rawzip::ZipArchive;

    fn kit() -> Kit {
        let program = "\"\"\"x\"\"\"\nTARGETS = {\n    \"cpu\": ([], \"cpu\"),\n    \"hpu\": ([\"gaudi\"], \"hpu\"),\n}\nx = {\n    \"no\": 1\n}\n";
        Kit::from([("rehearse.py".into(), program.into()), ("gaudi/a.py".into(), b"x = 1\n".to_vec())])
    }

    #[test]
    fn the_archive_is_the_kit() {
        let bytes = pack(&kit()).expect("it can be packed");
        assert_eq!(bytes, pack(&kit()).expect("it can be packed"));
        let archive = ZipArchive::from_slice(&bytes).expect("it is an archive");
        let mut entries = archive.entries();
        let mut paths = Vec::new();
        while let Some(entry) = entries.next_entry().expect("it is whole") {
            paths.push(entry.file_path().try_normalize().expect("a plain path").as_ref().to_owned());
        }
        assert_eq!(paths, ["rehearsal/gaudi/a.py", "rehearsal/rehearse.py"]);
    }

    #[test]
    fn a_guide_offers_the_kit_that_covers_it() {
        assert_eq!(targets(&kit()), ["cpu", "hpu"]);
        assert!(offer(&kit(), "hpu").contains("rehearse.py --target hpu -- train.py"));
        assert_eq!(offer(&kit(), "rdu"), "");
        assert_eq!(offer(&Kit::new(), "hpu"), "");
    }
}
