//! Imports that a port adds: above what uses them, and once.

use crate::ports::{check, port_script};

#[test]
fn an_import_stands_above_what_uses_it() {
    check(
        "hpu",
        "try:\n    import wandb\nexcept ImportError:\n    wandb = None\n\nimport torch\nnet = torch.nn.Linear(1, 1).cuda()\n",
        "import os\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\ntry:\n    import wandb\nexcept ImportError:\n    wandb = None\n\nimport torch\nnet = torch.nn.Linear(1, 1).to(\"hpu\")\n",
    );
}

#[test]
fn an_import_is_put_into_a_block_once() {
    let before = "import lightning as L\n\none = L.Trainer(gpus=2)\nother = L.Trainer()\n\n\ndef make():\n    return L.Trainer()\n";
    let text = &port_script("hpu", before).files[0].text;
    let line = "from lightning_habana.pytorch.accelerator import HPUAccelerator\n";
    let lines: Vec<&str> = text.split_inclusive('\n').filter(|l| l.trim_start() == line).collect();
    assert_eq!(lines, [line, &format!("    {line}")], "once a block, and no block reads another's: {text}");
    // Duplicates in the original program are kept.
    let own = "import torch\nimport torch\nnet = torch.nn.Linear(2, 1).cuda()\n";
    assert!(port_script("xpu", own).files[0].text.starts_with("import torch\nimport torch\n"));
}

#[test]
fn an_import_that_has_to_stand_further_up_moves_there() {
    check(
        "hpu",
        "import numpy\nimport torch\nimport os\nnet = torch.nn.Linear(1, 1).cuda()\n",
        "import os\nimport numpy\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\nimport torch\nnet = torch.nn.Linear(1, 1).to(\"hpu\")\n",
    );
}
