//! Other software that a program imports, and imports that may fail.

use crate::ports::{
    begins_with, check, check_in_project, check_said, check_said_at, check_silent, in_place, port_files, ported,
};
use codemod::Options;

#[test]
fn an_import_that_may_fail() {
    let tried = "try:\n    from apex import amp\n    has_apex = True\nexcept ImportError:\n    ";
    for target in ["hpu", "xpu", "ipu", "rdu"] {
        let (_, said) = ported(target, &[("a.py", &begins_with(&format!("{tried}has_apex = False\n")))]);
        assert!(!said.contains("Apex"), "{target}: {said}");
        check_said(target, &begins_with(&format!("{tried}raise\n")), "Replace Apex");
    }
}

#[test]
fn a_package_that_another_file_imports() {
    let compat = "try:\n    import torch\nexcept ImportError:\n    torch = None\n";
    let program = "from .compat import torch\n\nindex = torch.cuda.current_device()\n";
    let files = [("own/train.py", program), ("own/compat.py", compat), ("own/__init__.py", "")];
    let (texts, said) = ported("xpu", &files);
    let expected = "from .compat import torch\n\nindex = torch.xpu.current_device()\n";
    assert_eq!((texts[0].as_str(), said.as_str()), (expected, ""));
    // Nobody knows what it is without that file.
    assert_eq!(ported("xpu", &files[..1]).0, [program]);
    let step = "def train(net, loader, optimizer):\n    for x, y in loader:\n        optimizer.zero_grad()\n        loss = torch.nn.functional.mse_loss(net(x), y)\n        loss.backward()\n        optimizer.step()\n";
    let main = "net = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\ntrain(net, torch.utils.data.DataLoader(data, batch_size=4), optimizer)\n";
    let trains = format!("from .compat import torch\n\n\n{step}\n\n{main}");
    let (texts, _) = ported("ipu", &[("own/train.py", &trains), files[1], files[2]]);
    assert!(texts[0].starts_with("from .compat import torch\nimport poptorch\n"), "{}", texts[0]);
}

#[test]
fn compiled_cuda_code_that_is_imported_by_its_name() {
    for import in ["import fused_attn_cuda", "import importlib\n\nops = importlib.import_module(\"fused_attn_cuda\")"] {
        for target in ["hpu", "xpu", "ipu", "rdu"] {
            check_said(target, &format!("{import}\n"), "`fused_attn_cuda` is compiled CUDA code");
        }
    }
    check_silent("hpu", "try:\n    import fused_attn_cuda\nexcept ImportError:\n    fused_attn_cuda = None\n");
}

#[test]
fn software_of_another_accelerator_is_named_however_it_is_imported() {
    let said = |imports: &str| ported("xpu", &[("a.py", &format!("{imports}\nimport torch\n\nnet.cuda()\n"))]).1;
    for imports in [
        "import habana_frameworks.torch.core as htcore",
        "import os, habana_frameworks.torch.core",
        "from habana_frameworks.torch import core",
        "from habana_frameworks.torch.core import *",
    ] {
        assert!(said(imports).contains("1: `habana_frameworks` belongs to another accelerator (HPU)"), "{imports}");
    }
    // Two targets have it; it is reported under the name of the one that the other extends.
    assert!(said("import poptorch as pt").contains("`poptorch` belongs to another accelerator (IPU)"));
    for imports in [
        "from . import habana_frameworks",
        "from .poptorch import net",
        "try:\n    import poptorch\nexcept ImportError:\n    poptorch = None",
    ] {
        assert_eq!(said(imports), "", "{imports}");
    }
}

#[test]
fn apex_is_told_once() {
    let uses = "from apex import amp\n\nnet, opt = amp.initialize(net, opt)\nwith amp.scale_loss(loss, opt) as scaled:\n    \
        scaled.backward()\n";
    for target in ["hpu", "xpu"] {
        let said = ported(target, &[("a.py", uses), ("b.py", uses)]).1;
        assert_eq!(said.matches("Replace Apex").count(), 1, "{said}");
    }
}

#[test]
fn an_import_with_a_fallback_is_optional() {
    let text = |otherwise: &str| {
        format!(
            "import torch\n\ntry:\n    from xformers import ops\nexcept ImportError:\n    {otherwise}\ny = ops.f(x)\n"
        )
    };
    for target in ["hpu", "xpu"] {
        for otherwise in ["from own import ops", "ops = None"] {
            check_in_project(target, &[("a.py", &text(otherwise))], "`xformers.ops` needs CUDA", false);
        }
        check_said(target, &text("pass"), "`xformers.ops` needs CUDA");
    }
}

#[test]
fn a_project_imports_what_it_imports_a_name_of() {
    let loader = "from torch_geometric.loader import DataLoader\nfrom torch_geometric.nn import GCNConv\n\nloader = DataLoader(graphs)\n";
    let (_, said) = ported("rdu", &[("a.py", loader)]);
    assert_eq!(said.matches("Graphs differ").count(), 1, "at the loader, not at the import as well: {said}");
    let alone = "from torch_geometric.nn import GCNConv\n\nnet = GCNConv(2, 2)\n";
    assert_eq!(ported("rdu", &[("a.py", alone)]).1.matches("Graphs differ").count(), 1);
}

#[test]
fn names_that_a_vendors_extension_had() {
    let of = |line: &str| format!("import intel_extension_for_pytorch as ipex\nimport torch\n{line}\n");
    for (line, words) in [
        ("ipex.xpu.set_fp32_math_mode(1)", "no `set_fp32_math_mode`"),
        ("torch.xpu.enable_sync_mode()", "no `enable_sync_mode`"),
        ("net = ipex.llm.optimize(net)", "`llm` is the extension's"),
        ("paths = ipex.include_paths()", "no longer have `include_paths`"),
        ("ipex.compatible_mode()", "no longer have `compatible_mode`"),
    ] {
        check_said_at("xpu", &of(line), 3, words);
    }
    check_said_at("xpu", &of("x = 1"), 1, "its import ends a program");
    check_said_at("xpu", "import torch_ipex\n", 1, "`intel_extension_for_pytorch` since its release 1.10");
    let guarded = "try:\n    import intel_extension_for_pytorch as ipex\nexcept ImportError:\n    ipex = None\n";
    check_silent("xpu", guarded);
    check_silent("xpu", "import torch\ntorch.xpu.synchronize()\ntorch.xpu._is_compiled()\n");
    // The releases that an older PyTorch loads.
    let older = |line: &str, words: &str, sdk: &str, is_said: bool| {
        let options = Options { sdk: Some(sdk.to_owned()), ..in_place("xpu") };
        let said = port_files(&[("a.py", &of(line))], &options).files.remove(0).diagnostics;
        assert_eq!(said.iter().any(|said| said.message.contains(words)), is_said, "{said:?}");
    };
    older("net = ipex.llm.optimize(net)", "`llm`", "2.10", false);
    older("ipex.compatible_mode()", "`compatible_mode`", "2.8", true);
    older("ipex.compatible_mode()", "`compatible_mode`", "2.5", false);
    older("ipex.xpu.set_fp32_math_mode(1)", "`set_fp32_math_mode`", "2.3", false);
    check(
        "xpu",
        &of("print(ipex.xpu.memory_cached())\nipex.xpu.empty_cache()"),
        "import torch\nprint(torch.xpu.memory_reserved())\ntorch.xpu.empty_cache()\n",
    );
}

#[test]
fn layers_of_operations_that_a_compiler_lacks() {
    for layer in ["HuberLoss", "AdaptiveMaxPool2d", "MaxUnpool1d"] {
        let text = format!("from torch import nn\n\nlayer = nn.{layer}(2)\n");
        check_said_at("ipu", &text, 3, &format!("PopTorch has no `{layer}`"));
    }
    check_silent(
        "ipu",
        "from torch import nn\n\nlayers = nn.SmoothL1Loss(), nn.AdaptiveAvgPool2d(1), nn.MaxPool2d(2)\n",
    );
}

/// What a program hands to Fabric by a name may mean the CPU.
#[test]
fn an_accelerator_behind_a_name_is_told() {
    let program = "from lightning.fabric import Fabric\n\n\ndef make(accelerator='auto', strategy='auto'):\n    \
                   return Fabric(accelerator=accelerator, strategy=strategy)\n";
    for target in ["hpu", "xpu"] {
        check_said(target, program, "Fabric");
    }
}
