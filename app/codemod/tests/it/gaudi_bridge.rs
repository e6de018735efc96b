//! The bridge to Gaudi and its lazy mode: which file loads the one and sets the other, and where.

use crate::ports::{check_bytes, in_place, port_files};
use codemod::Options;

#[test]
fn the_bridge_is_loaded_where_torch_is_tried() {
    let text = "try:\n    import torch\nexcept ImportError:\n    torch = None\n\nx = x.cuda()\n";
    let lazy = Options { sdk: Some("1.19".to_owned()), ..in_place("hpu") };
    let ported = port_files(&[("a.py", text)], &lazy).files[0].text.clone();
    assert!(
        ported.starts_with("import os\n\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"1\")\ntry:\n    import torch\n"),
        "{ported}"
    );
    assert!(
        ported.contains("    torch = None\n\ntry:\n    import habana_frameworks.torch.core as htcore\n"),
        "{ported}"
    );
}

#[test]
fn the_mode_is_set_where_a_function_alone_imports_torch() {
    check_bytes(
        "hpu",
        "def main():\n    import torch\n\n    x = x.cuda()\n    x.sum().backward()\n",
        "import os\n\ndef main():\n    os.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n    import torch\n\n    \
         x = x.to(\"hpu\")\n    x.sum().backward()\n",
    );
}

/// A project of two or three files, in which `main.py` starts the training in `train.py`.
#[test]
fn the_file_that_starts_a_program_sets_the_mode_before_torch_is_imported() {
    const SET: &str = "os.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n";
    const TRAIN: &str = "import torch\n\n\ndef train(net, loader, opt):\n    for x, y in loader:\n        loss = net(x.cuda(), y)\n        \
        loss.backward()\n        opt.step()\n";
    let check = |main: &str, expected: &str| {
        let files = [("run/main.py", main), ("run/net.py", "import torch\n\nWIDTH = 3\n"), ("run/train.py", TRAIN)];
        let ported = port_files(&files, &in_place("hpu"));
        assert_eq!(ported.files[0].text, expected);
        assert_eq!(ported.files[1].text, files[1].1);
        assert!(ported.files[2].text.contains(SET) && ported.certificate.idempotent);
        let again: Vec<(&str, &str)> = ported.files.iter().map(|f| (f.path.as_str(), f.text.as_str())).collect();
        assert_eq!(port_files(&again, &in_place("hpu")).files[0].text, expected);
    };
    let start = "\n\nif __name__ == \"__main__\":\n    train(make(), read(), None)\n";
    check(
        &format!("import json\nimport torch\nfrom train import train\n{start}"),
        &format!("import os\nimport json\n{SET}import torch\nfrom train import train\n{start}"),
    );
    check(
        &format!("import os\nfrom net import WIDTH\nfrom train import train\n{start}"),
        &format!("import os\n{SET}from net import WIDTH\nfrom train import train\n{start}"),
    );
    check(
        "from .train import train\n\ntrain(make(), read(), None)\n",
        &format!("import os\n{SET}from .train import train\n\ntrain(make(), read(), None)\n"),
    );
    check("import json\nimport seaborn\n\nseaborn.plot(1)\n", "import json\nimport seaborn\n\nseaborn.plot(1)\n");
}

/// A file that a program loads gets the mode from the file that starts it, if that selects a device, and no file
/// imports the bridge; before 1.18 and in lazy mode each file has both.
#[test]
fn a_program_sets_the_mode_once() {
    let main = "import torch\nfrom train import train\n\nif __name__ == \"__main__\":\n    train(make(), torch.device(\"cuda\"))\n";
    let train = "import torch\n\n\ndef train(net, device):\n    for x, y in loader:\n        loss = net(x.cuda(), y)\n        \
        loss.backward()\n        opt.step()\n";
    let headed = |files: &[(&str, &str)], options: &Options| {
        let ported = port_files(files, options);
        assert!(ported.certificate.idempotent);
        let words = ["PT_HPU_LAZY_MODE", "habana_frameworks"];
        ported.files.iter().map(|file| words.map(|word| file.text.contains(word))).collect::<Vec<_>>()
    };
    let both = [("main.py", main), ("train.py", train)];
    assert_eq!(headed(&both, &in_place("hpu")), [[true, false], [false, false]]);
    assert_eq!(headed(&[("train.py", train)], &in_place("hpu")), [[true, false]]);
    let old = Options { sdk: Some("1.17".to_owned()), ..in_place("hpu") };
    assert_eq!(headed(&both, &old), [[true; 2]; 2]);
    let lazy = Options { options: [("lazy".to_owned(), "on".to_owned())].into(), ..in_place("hpu") };
    assert_eq!(headed(&both, &lazy), [[true; 2]; 2]);
}
