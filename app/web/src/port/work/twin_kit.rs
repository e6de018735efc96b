//! The download for a twin run: the kit, the original, the port and its report, as one archive.

use rawzip::{CompressionMethod, ZipArchive};

/// The port's part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TwinFiles {
    /// The report, as JSON.
    pub report: String,
    /// Path, original and port of each file.
    pub texts: Vec<(String, String, String)>,
}

impl TwinFiles {
    /// From paths, and texts that are the report, followed by the original and the port of each file.
    pub fn new(paths: Vec<String>, texts: Vec<String>) -> TwinFiles {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        TwinFiles { report: next(), texts: paths.into_iter().map(|path| (path, next(), next())).collect() }
    }
}

/// The texts of the twin run kit's archive, by path. It is not compressed, so nothing is inflated.
pub fn kit(bytes: &[u8]) -> Result<Vec<(String, String)>, String> {
    let fault = |error: rawzip::Error| format!("the twin run kit can't be read: {error}");
    let archive = ZipArchive::from_slice(bytes).map_err(fault)?;
    let mut files = Vec::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(fault)? {
        let path = entry.file_path().try_normalize().map_err(fault)?.as_ref().to_owned();
        if entry.is_dir() || path.starts_with("rehearsal/tests/") {
            continue;
        }
        if entry.compression_method() != CompressionMethod::STORE {
            return Err(format!("the twin run kit can't be read: {path} is packed"));
        }
        let data = archive.get_entry(entry.wayfinder()).map_err(fault)?.data().to_vec();
        files
            .push((path, String::from_utf8(data).map_err(|error| format!("the twin run kit can't be read: {error}"))?));
    }
    Ok(files)
}

/// All files of the archive, by path: `command` is the command to run next to it, `report` the name of the port's
/// report.
pub fn files(kit: Vec<(String, String)>, port: TwinFiles, command: &str, report: &str) -> Vec<(String, String)> {
    let mut files = vec![("README.md".to_owned(), readme(command)), (report.to_owned(), port.report)];
    for (path, original, ported) in port.texts {
        // The original has no file that is new.
        if !original.is_empty() || ported.is_empty() {
            files.push((format!("original/{path}"), original));
        }
        files.push((format!("port/{path}"), ported));
    }
    files.extend(kit);
    files
}

fn readme(command: &str) -> String {
    format!(
        "# Twin run\n\n\
         Runs the program in `original` and its port in `port` on this machine's CPU, from the same weights with the same data, and\n\
         compares losses, gradients and weights step by step. In this folder:\n\n\
         ```sh\n{command}\n```\n\n\
         It requires Python 3.8 or newer with PyTorch 2.0 or newer (`python3 -m pip install torch`), or for a Keras program\n\
         TensorFlow 2.16 or newer (`python3 -m pip install tensorflow`), and everything else that the program imports;\n\
         the vendor's modules are replaced by stand-ins in `rehearsal`.\n\n\
         - Add the program's own arguments at the end of the command.\n\
         - Copy data that the program reads by a relative path into this folder: both runs use it. Or add `--no-data` before `--`:\n\
         \x20 samples are made up, of the shapes that the training step takes. `--fake-data` generates the data sets of torchvision\n\
         \x20 and Keras, `--fake-images FOLDER` a folder of images.\n\
         - The result is printed, and written to `twin.html`, a page with both loss curves, and to `twin.json`. Drop\n\
         \x20 `twin.json` on the page that ported the program to see it next to the changes.\n\n\
         A twin run does not test speed, memory, or whether the vendor's compiler accepts the program. For more information,\n\
         see `rehearsal/README.md`.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::archive::write;

    #[test]
    fn kit_port_and_original_lie_side_by_side() {
        let packed = write([("rehearsal/rehearse.py", "run()"), ("rehearsal/tests/a.py", "")]).expect("an archive");
        let port = TwinFiles { report: "{}".into(), texts: vec![("src/a.py".into(), "old".into(), "new".into())] };
        let files =
            files(kit(&packed).expect("a kit"), port, "python3 rehearsal/rehearse.py -- src/a.py", "portolan-x.json");
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            ["README.md", "portolan-x.json", "original/src/a.py", "port/src/a.py", "rehearsal/rehearse.py"]
        );
        assert!(files[0].1.contains("python3 rehearsal/rehearse.py -- src/a.py"), "{}", files[0].1);
        assert_eq!((files[2].1.as_str(), files[3].1.as_str()), ("old", "new"));
    }

    #[test]
    fn what_is_no_kit_is_said() {
        assert!(kit(b"<!doctype html>").expect_err("it is none").starts_with("the twin run kit can't be read"));
    }
}
