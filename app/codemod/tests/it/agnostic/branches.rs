//! The code below a test for CUDA, and its branch for the target.

use super::{CHOICE, CHOSEN, check, ported};
use codemod::Severity;

#[test]
fn code_below_a_test_for_cuda() {
    // What suits both devices gets a test for either.
    check(
        &format!("{CHOICE}if torch.cuda.is_available():\n    net.cuda()\n"),
        &format!("{CHOSEN}if torch.cuda.is_available() or torch.xpu.is_available():\n    net.to(device)\n"),
    );
    // What differs gets a branch, without the settings of CUDA's libraries.
    check(
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)\n    torch.backends.cudnn.benchmark = True\n",
        "if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)\n    torch.backends.cudnn.benchmark = True\n\
         elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n",
    );
    // What is for CUDA alone stays.
    for kept in [
        "dtype = torch.float16 if device.type == 'cuda' else torch.bfloat16\n",
        "if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n",
        "kind = torch.accelerator.current_accelerator().type\nhalf = torch.float16 if kind == 'cuda' else torch.bfloat16\n",
    ] {
        check(kept, kept);
    }
}

/// The target's branch is a copy, without what stops there; the message is at the vendor's.
#[test]
fn what_only_cuda_has_is_not_copied() {
    let test = "if torch.cuda.is_available():\n";
    let own = "elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n";
    for statements in [
        "    print(torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0).major)\n",
        "    print(f'{torch.cuda.memory_allocated()} {torch.cuda.get_device_properties(0).major}')\n",
        "    torch.set_default_tensor_type('torch.cuda.FloatTensor')\n",
        // With what reads it.
        "    major = torch.cuda.get_device_properties(0).major\n    print(f'version {major}')\n",
        // One that there is without it.
        "    net = torch.cuda.make_graphed_callables(net, torch.cuda.get_device_properties(0).major)\n",
    ] {
        let program = |own: &str| format!("net = make()\n{test}{statements}    torch.cuda.manual_seed(1)\n{own}");
        check(&program(""), &program(own));
        let told = &ported("xpu", &format!("import torch\n\n{}", program(""))).files[0].diagnostics;
        assert!(told.iter().any(|d| d.severity == Severity::Warning && d.original.line == 5), "{told:?}");
    }
    // Nothing is left of a branch and of an arm.
    for kept in [
        "if torch.cuda.is_available():\n    print(torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).major)\n",
        "figures = [torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).major] if torch.cuda.is_available() else []\n",
    ] {
        check(kept, kept);
        let told = &ported("xpu", &format!("import torch\n\n{kept}")).files[0].diagnostics;
        assert!(told.iter().any(|d| d.severity == Severity::Warning), "{told:?}");
    }
    // What others read or what has more code in it is copied: the program stops there, where it is reported.
    for (statements, copied, end) in [
        (
            "    major = torch.cuda.get_device_properties(0).major\n",
            "    major = torch.cuda.get_device_properties(0).major\n",
            "print(major)\n",
        ),
        (
            "    if torch.cuda.get_device_properties(0).major > 7:\n        torch.cuda.synchronize()\n",
            "    if torch.cuda.get_device_properties(0).major > 7:\n        torch.xpu.synchronize()\n",
            "",
        ),
    ] {
        let program = |own: &str| format!("{test}{statements}    torch.cuda.manual_seed(1)\n{own}{end}");
        let own = format!("elif torch.xpu.is_available():\n{copied}    torch.xpu.manual_seed(1)\n");
        check(&program(""), &program(&own));
    }
}

/// What is imported or assigned for CUDA alone is used for it alone.
#[test]
fn names_that_only_code_for_cuda_binds() {
    let test = "if torch.cuda.is_available():\n";
    let start = format!("{test}    import fused\n\n    tuned = fused.start()\n");
    let cases = [
        // Code that would suit both devices, or be the same for both.
        (format!("{test}    net = fused.wrap(net)\n"), String::new()),
        (format!("{test}    net = fused.wrap(net.cuda())\n"), String::new()),
        ("net = fused.wrap(net) if torch.cuda.is_available() else net\n".to_owned(), String::new()),
        ("net = fused.wrap(net.cuda()) if torch.cuda.is_available() else net\n".to_owned(), String::new()),
        // A statement among others, and a function of its own.
        (
            format!("{test}    torch.cuda.manual_seed(1)\n    net = fused.wrap(net, tuned)\n"),
            "elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n".to_owned(),
        ),
        (
            format!("def fit(net):\n    {test}        torch.cuda.manual_seed(1)\n        fused.fit(net)\n"),
            "    elif torch.xpu.is_available():\n        torch.xpu.manual_seed(1)\n".to_owned(),
        ),
    ];
    for (code, own) in cases {
        check(&format!("net = make()\n{start}{code}"), &format!("net = make()\n{start}{code}{own}"));
    }
    let told = &ported("xpu", &format!("import torch\n\n{start}{test}    fused.fit(torch.cuda.memory_allocated())\n"));
    let told = &told.files[0].diagnostics;
    assert!(
        told.iter().any(|d| d.original.line == 8 && d.message.contains("`fused` is there for CUDA alone")),
        "{told:?}"
    );
    // NVIDIA's software, however it is imported.
    for import in ["from apex import amp\n", "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n"] {
        let program = |own: &str| {
            format!(
                "{import}{test}    torch.cuda.manual_seed(1)\n    net, opt = amp.initialize(net, opt)\n{own}net, opt = net, opt\n"
            )
        };
        let program = |own: &str| format!("net = opt = make()\n{}", program(own));
        check(&program(""), &program("elif torch.xpu.is_available():\n    torch.xpu.manual_seed(1)\n"));
    }
    let both = format!(
        "import pynvml\nfrom apex import amp\n{test}    torch.cuda.manual_seed(1)\n    pynvml.nvmlInit()\n    amp.init()\n"
    );
    let told = &ported("xpu", &format!("import torch\n\n{both}")).files[0].diagnostics;
    for name in ["`pynvml` is there", "`amp` is there"] {
        assert!(told.iter().any(|d| d.message.contains(name)), "{told:?}");
    }
    // With a value for others, it is for all.
    for other in ["else:\n    fused = None\n", "fused = None\n"] {
        let program = |test: &str| {
            format!("if torch.cuda.is_available():\n    import fused\n{other}if {test}:\n    net = fused or net\n")
        };
        check(&program("torch.cuda.is_available()"), &program("torch.cuda.is_available() or torch.xpu.is_available()"));
    }
}

#[test]
fn a_branch_whose_first_statement_is_not_for_the_target() {
    let text = "import torch\n\n\ndef start(rank):\n    if torch.cuda.is_available():\n        torch.cuda.set_device(rank)\n        net.cuda(rank)\n        fit(net)\n";
    let text = &ported("hpu", text).files[0].text;
    let branch =
        "    elif hasattr(torch, \"hpu\") and torch.hpu.is_available():\n        net.to(\"hpu\")\n        fit(net)\n";
    assert!(text.contains(branch), "{text}");
}

#[test]
fn a_branch_that_declares_a_global_name_is_not_copied() {
    let program = |test: &str, given: &str| {
        format!(
            "def at():\n    if {test}:\n        global last\n        last = last + 1\n        return {given}\n    return 'cpu'\n"
        )
    };
    check(
        &program("torch.cuda.is_available()", "torch.device('cuda', last)"),
        &program(
            "torch.cuda.is_available() or torch.xpu.is_available()",
            "torch.device('xpu' if torch.xpu.is_available() else 'cuda', last)",
        ),
    );
}

#[test]
fn all_parts_of_a_test_are_for_the_target_in_its_branch() {
    check(
        "import torch.distributed as dist\n\nif dist.is_nccl_available() and torch.cuda.is_available():\n    backend = 'nccl'\n",
        "import torch.distributed as dist\n\nif dist.is_nccl_available() and torch.cuda.is_available():\n    backend = 'nccl'\n\
         elif dist.is_xccl_available() and torch.xpu.is_available():\n    backend = 'xccl'\n",
    );
}

#[test]
fn a_test_above_ported_code_is_ported() {
    let either = "torch.cuda.is_available() or torch.xpu.is_available()";
    let count = "(torch.xpu if torch.xpu.is_available() else torch.cuda).device_count()";
    check(
        "n = torch.cuda.device_count() if torch.cuda.is_available() else 0\n",
        &format!("n = {count} if {either} else 0\n"),
    );
    check(
        "if not torch.cuda.is_available():\n    backend = 'gloo'\nelse:\n    backend = 'nccl'\n    torch.cuda.set_device(rank)\n",
        &format!(
            "if not ({either}):\n    backend = 'gloo'\nelse:\n    backend = 'xccl' if torch.xpu.is_available() else 'nccl'\n    \
             (torch.xpu if torch.xpu.is_available() else torch.cuda).set_device(rank)\n"
        ),
    );
}

#[test]
fn what_the_else_does_for_any_device_needs_no_branch() {
    let start = "device = torch.accelerator.current_accelerator()\n";
    for kept in [
        "if device.type == 'cuda':\n    model = torch.nn.DataParallel(model).cuda()\nelse:\n    model.to(device)\n",
        "if slow:\n    print('slow')\nelif wide and device.type == 'cuda':\n    x = x.cuda(gpu, non_blocking=True)\n    y = y.cuda()\n\
         else:\n    x, y = x.to(device), y.to(device)\n",
    ] {
        check(kept, kept);
        check(&format!("{start}{kept}"), &format!("{start}{kept}"));
    }
    // It does more there.
    check(
        "if device.type == 'cuda':\n    x = x.cuda()\n    torch.cuda.synchronize()\nelse:\n    x = x.to(device)\n",
        "if device.type == 'cuda':\n    x = x.cuda()\n    torch.cuda.synchronize()\nelif device.type == 'xpu':\n    \
         x = x.to('xpu')\n    torch.xpu.synchronize()\nelse:\n    x = x.to(device)\n",
    );
}

#[test]
fn branches_that_the_program_has_for_the_target() {
    for kept in [
        "if device.type == 'cuda':\n    torch.cuda.empty_cache()\nif device.type == 'mps':\n    torch.mps.empty_cache()\n\
         if device.type == 'xpu':\n    torch.xpu.empty_cache()\n",
        "HAS_CUDA = torch.cuda.is_available()\nHAS_XPU = torch.xpu.is_available()\nif HAS_CUDA:\n    device = torch.device('cuda')\n\
         elif HAS_XPU:\n    device = torch.device('xpu')\n",
        "from accelerate.utils import is_xpu_available\n\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n\
         elif is_xpu_available():\n    torch.xpu.empty_cache()\n",
        "HAS_XPU = torch.xpu.is_available()\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\nelif HAS_XPU:\n    \
         torch.xpu.empty_cache()\n",
    ] {
        check(kept, kept);
    }
}

/// A test for the target beside one for CUDA is its branch only if it does the same.
#[test]
fn a_test_for_the_target_that_does_something_else_is_no_branch() {
    let text = "import torch\n\n\ndef wait(device):\n    if device.type == \"xpu\":\n        torch.xpu.synchronize()\n    \
                if device.type == \"cuda\":\n        torch.cuda.synchronize()\n    if device.type == \"cuda\":\n        \
                torch.cuda.reset_peak_memory_stats()\n";
    let new = &ported("xpu", text).files[0].text;
    assert!(
        new.contains("torch.xpu.reset_peak_memory_stats()") && new.matches("torch.xpu.synchronize()").count() == 1,
        "{new}"
    );
}

#[test]
fn the_target_s_branch_asks_for_the_target() {
    let text = "import torch\n\n\ndef pick(name):\n    device = torch.device(name)\n    if device.type == \"cuda\":\n        \
                if not torch.cuda.is_available():\n            raise RuntimeError(\"no GPU\")\n        \
                device = torch.device(device.type, torch.cuda.current_device())\n    elif device.type == \"mps\":\n        \
                device = torch.device(\"mps\")\n    return device\n";
    let new = &ported("xpu", text).files[0].text;
    let branch = new.split("elif device.type == \"xpu\":").nth(1).unwrap_or_default();
    assert!(branch.contains("torch.xpu.is_available()") && !branch.contains("torch.cuda."), "{new}");
}

#[test]
fn the_target_s_branch_asks_for_it_no_more() {
    check(
        "if torch.cuda.is_available():\n    n = torch.cuda.device_count()\n    s = torch.cuda.amp.GradScaler()\n    torch.cuda.reset_peak_memory_stats()\n",
        "if torch.cuda.is_available():\n    n = torch.cuda.device_count()\n    s = torch.cuda.amp.GradScaler()\n    torch.cuda.reset_peak_memory_stats()\n\
         elif torch.xpu.is_available():\n    n = torch.xpu.device_count()\n    s = torch.amp.GradScaler(\"xpu\")\n    torch.xpu.reset_peak_memory_stats()\n",
    );
}

#[test]
fn what_the_code_for_cuda_asks_of_cuda_is_asked_of_the_target() {
    check(
        &format!(
            "{CHOICE}if device.type == 'cuda':\n    n = torch.cuda.device_count() if torch.cuda.is_available() else 0\n    \
                  x = torch.zeros(n).cuda()\n    ready = not torch.cuda.is_available() or n > 0\n    torch.cuda.reset_peak_memory_stats()\n"
        ),
        &format!(
            "{CHOSEN}if device.type == 'cuda':\n    n = torch.cuda.device_count() if torch.cuda.is_available() else 0\n    \
                  x = torch.zeros(n).cuda()\n    ready = not torch.cuda.is_available() or n > 0\n    torch.cuda.reset_peak_memory_stats()\n\
                  elif device.type == 'xpu':\n    n = torch.xpu.device_count() if torch.xpu.is_available() else 0\n    \
                  x = torch.zeros(n).to(device)\n    ready = not torch.xpu.is_available() or n > 0\n    torch.xpu.reset_peak_memory_stats()\n"
        ),
    );
}

#[test]
fn a_function_of_the_program_is_judged_by_its_code_not_its_name() {
    let helper = |body: &str| format!("def to_cuda(x):\n    return {body}\n\n\n");
    let used = "if torch.cuda.is_available():\n    batch = to_cuda(batch)\n";
    let widened = "if torch.cuda.is_available() or torch.xpu.is_available():\n    batch = to_cuda(batch)\n";
    check(&format!("{CHOICE}{}{used}", helper("x.cuda()")), &format!("{CHOSEN}{}{widened}", helper("x.to(device)")));
    let class = |device: &str| {
        format!("class CudaArch:\n    device = {device}\n\n\ndef arch():\n    if torch.cuda.is_available()")
    };
    check(
        &format!("{}:\n        return CudaArch()\n", class("'cuda:0'")),
        &format!(
            "{} or torch.xpu.is_available():\n        return CudaArch()\n",
            class("'xpu:0' if torch.xpu.is_available() else 'cuda:0'")
        ),
    );
    let kernel = "import my_cuda_ops\n\n";
    check(
        &format!("{kernel}{CHOICE}{}{used}", helper("my_cuda_ops.move(x)")),
        &format!("{kernel}{CHOSEN}{}{used}", helper("my_cuda_ops.move(x)")),
    );
    let group =
        "import torch.distributed as dist\n\n\ndef nccl(store):\n    return dist.ProcessGroupNCCL(store, 0, 1)\n\n\n";
    let chosen = "group = nccl(store) if torch.cuda.is_available() else None\n";
    check(&format!("{group}{CHOICE}{chosen}"), &format!("{group}{CHOSEN}{chosen}"));
}

#[test]
fn a_test_that_does_without_the_vendor_s_software_stays() {
    let apex = "try:\n    from apex import amp\nexcept ImportError:\n    amp = None\n\n";
    let steps = |scaled: &str| {
        format!(
            "if amp is None or not torch.cuda.is_available():\n    loss.backward()\nelse:\n    {scaled}.backward()\n"
        )
    };
    let kept = steps("amp.scale_loss(loss, opt)");
    check(&format!("{apex}{CHOICE}{kept}"), &format!("{apex}{CHOSEN}{kept}"));
    // What moves or chooses the device is the target's too, whatever else stands beside it, and so is what would end in an error.
    let choice = |asked: &str, device: &str| {
        format!(
            "import pynvml\n\nif not {asked}:\n    device = 'cpu'\nelse:\n    pynvml.nvmlInit()\n    device = {device}\n"
        )
    };
    let either = "(torch.cuda.is_available() or torch.xpu.is_available())";
    check(
        &choice("torch.cuda.is_available()", "'cuda'"),
        &choice(either, "'xpu' if torch.xpu.is_available() else 'cuda'"),
    );
    let raises = |asked: &str| {
        format!("import pynvml\n\nif not {asked}:\n    raise RuntimeError('no GPU')\nelse:\n    pynvml.nvmlInit()\n")
    };
    check(&raises("torch.cuda.is_available()"), &raises(either));
    let widened = steps("(2 * loss)")
        .replace("not torch.cuda.is_available()", "not (torch.cuda.is_available() or torch.xpu.is_available())");
    check(&format!("{CHOICE}{}", steps("(2 * loss)")), &format!("{CHOSEN}{widened}"));
}

#[test]
fn a_branch_below_a_test_for_other_devices_gets_its_own() {
    let chain = |own: &str, asks: &str| {
        format!(
            "{CHOICE}if {asks} and not torch.backends.mps.is_available():\n    print('slow')\nelif gpu is not None and \
             torch.cuda.is_available():\n    torch.cuda.set_device(gpu)\n    net = net.cuda(gpu)\n{own}elif torch.backends.mps.is_available():\n    net = net.to('mps')\n"
        )
        .replace(CHOICE, if own.is_empty() { CHOICE } else { CHOSEN })
    };
    check(
        &chain("", "not torch.cuda.is_available()"),
        &chain(
            "elif gpu is not None and torch.xpu.is_available():\n    torch.xpu.set_device(gpu)\n    net = net.xpu(gpu)\n",
            "not (torch.cuda.is_available() or torch.xpu.is_available())",
        ),
    );
}

#[test]
fn code_beside_a_test_for_the_target_and_more_is_the_target_s_too() {
    let text = "import torch\n\nif gpu is not None and torch.cuda.is_available():\n    torch.cuda.set_device(gpu)\n    net = net.cuda(gpu)\nelse:\n    \
                net = torch.nn.DataParallel(net).cuda()\n";
    let file = &ported("xpu", text).files[0];
    assert!(file.text.contains("elif gpu is not None and torch.xpu.is_available():"), "{}", file.text);
    assert!(file.diagnostics.iter().any(|said| said.recipe == "xpu#data-parallel"), "{:?}", file.diagnostics);
}

#[test]
fn bfloat16_is_for_the_target_where_others_have_a_wide_type() {
    let choice =
        |asked: &str, types: [&str; 2]| format!("half = torch.{} if {asked} else torch.{}\n", types[0], types[1]);
    let (cuda, either) = ("device.type == 'cuda'", "device.type in ('cuda', 'xpu')");
    let wide = ["bfloat16", "float32"];
    check(&format!("{CHOICE}{}", choice(cuda, wide)), &format!("{CHOSEN}{}", choice(either, wide)));
    for narrow in [["float16", "float32"], ["float16", "bfloat16"], ["bfloat16", "float16"]] {
        check(&format!("{CHOICE}{}", choice(cuda, narrow)), &format!("{CHOSEN}{}", choice(cuda, narrow)));
    }
}

#[test]
fn what_is_on_the_host_moves_to_the_target() {
    check(
        &format!("{CHOICE}x = x.cuda() if x.device.type == 'cpu' else x\n"),
        &format!("{CHOSEN}x = x.to(device) if x.device.type == 'cpu' else x\n"),
    );
}

#[test]
fn a_flag_beside_tests_for_the_target_means_either_device() {
    let waits = "def wait(device):\n    if device.type == 'cuda':\n        torch.cuda.synchronize()\n    elif device.type == 'xpu':\n        \
                 torch.xpu.synchronize()\n\n\n";
    let streams = |asked: &str, module: &str| {
        format!("{waits}{CHOSEN}has_streams = {asked}\nstream = {module}.Stream() if has_streams else None\n")
    };
    check(
        &streams("device.type == 'cuda'", "torch.cuda"),
        &streams("device.type in ('cuda', 'xpu')", "(torch.xpu if device.type == 'xpu' else torch.cuda)"),
    );
    let flash = "import flash_attn\n\nflash = device.type == 'cuda'\nout = flash_attn.flash_attn_func(q) if flash else attend(q)\n";
    check(&format!("{waits}{CHOSEN}{flash}"), &format!("{waits}{CHOSEN}{flash}"));
    let flags = "has_cuda = torch.cuda.is_available()\nhas_xpu = torch.xpu.is_available()\n";
    check(&format!("{waits}{flags}"), &format!("{waits}{flags}"));
}

#[test]
fn a_function_that_trains_is_called_on_the_target() {
    let program = |test: &str, device: &str| {
        format!(
            "import pynvml\nfrom torch.utils.cpp_extension import load\n\n\nclass Kernel:\n    def fit(self):\n        pynvml.nvmlInit()\n\n\n\
             def fit(net, load):\n    load(net).sum().backward()\n    pynvml.nvmlShutdown()\n\n\n{test}:\n    fit(net.{device}, loader)\nelse:\n    print('no GPU')\n"
        )
    };
    let file =
        &ported("xpu", &format!("import torch\n\n{}", program("if torch.cuda.is_available()", "cuda()"))).files[0];
    assert!(file.text.contains("fit(net.to('xpu'"), "{}", file.text);
}

#[test]
fn a_flag_is_read_in_any_place() {
    let waits = "def wait(device):\n    if device.type == 'cuda':\n        torch.cuda.synchronize()\n    elif device.type == 'xpu':\n        \
                 torch.xpu.synchronize()\n\n\n";
    let module = "(torch.xpu if device.type == 'xpu' else torch.cuda)";
    let name = "'xpu' if device.type == 'xpu' else 'cuda'";
    let program = |asked: &str, name: &str, module: &str| {
        format!(
            "{waits}{CHOSEN}amp = {asked}\nscaler = torch.amp.GradScaler({name}, enabled=amp)\n\n\ndef is_gpu(device):\n    return {asked}\n\n\n\
             if is_gpu(device):\n    {module}.empty_cache()\n"
        )
    };
    check(
        &program("device.type == 'cuda'", "'cuda'", "torch.cuda"),
        &program("device.type in ('cuda', 'xpu')", name, module),
    );
    // One that only decides about the vendor's software is for its device.
    let flash = "import flash_attn\n\n\nclass Attention:\n    def __init__(self):\n        self.flash = torch.cuda.is_available()\n\n    \
                 def forward(self, q):\n        if self.flash:\n            return flash_attn.flash_attn_func(q)\n        return attend(q)\n";
    check(&format!("{CHOICE}{flash}"), &format!("{CHOSEN}{flash}"));
}

#[test]
fn a_branch_of_a_chain_that_refuses_all_others_is_the_target_s_too() {
    let chain = |asked: &str| {
        format!(
            "if device == 'cpu':\n    dtype = torch.float32\nelif {asked}:\n    dtype = torch.float16\nelse:\n    raise ValueError(device)\n"
        )
    };
    check(&chain("device == 'cuda'"), &chain("device in ('cuda', 'xpu')"));
}

#[test]
fn one_of_several_devices_is_not_every_device() {
    let program = |moved: &str, module: &str| {
        format!(
            "{CHOSEN}if device.type == 'xpu' and torch.xpu.device_count() > 1:\n    print('many')\nelse:\n    net = {moved}\n    {module}.synchronize()\n"
        )
    };
    check(
        &program("net.cuda()", "torch.cuda"),
        &program("net.to(device)", "(torch.xpu if device.type == 'xpu' else torch.cuda)"),
    );
}

#[test]
fn a_test_that_keeps_from_asking_what_only_cuda_answers_stays() {
    let kept = "new = torch.cuda.is_available() and torch.cuda.nccl.version() >= (2, 10)\n";
    check(&format!("{CHOICE}{kept}"), &format!("{CHOSEN}{kept}"));
    // Where the answer chooses the device, the target is asked for besides.
    let asked = "torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 7";
    check(
        &format!("fast = {asked}\ndevice = 'cuda' if fast else 'cpu'\n"),
        &format!(
            "fast = {asked} or torch.xpu.is_available()\ndevice = ('xpu' if torch.xpu.is_available() else 'cuda') if fast else 'cpu'\n"
        ),
    );
    // The program's own conditions stay, and what moves something is the target's too.
    let option = |asked: &str, to: &str| format!("fast = not args.cpu and {asked}\nx = {to} if fast else x\n");
    check(
        &option(asked, "x.cuda()"),
        &option(
            &format!("({asked} or torch.xpu.is_available())"),
            "x.to(\"xpu\" if torch.xpu.is_available() else \"cuda\")",
        ),
    );
    let apart = "torch.cuda.is_available() and not args.cpu and torch.version.cuda is not None";
    let apart = format!("{CHOICE}fast = {apart}\nkernel = 'cuda_fused' if fast else 'plain'\n");
    check(&apart, &apart.replace(CHOICE, CHOSEN));
    let inner = "deep = (torch.cuda.is_available() and args.deep) and torch.cuda.get_device_capability()[0] > 7\nx = x.cuda() if deep else x\n";
    let moved = inner.replace("x.cuda()", "x.to(device)");
    check(&format!("{CHOICE}{inner}"), &format!("{CHOSEN}{moved}"));
    // In code for both it is false on the target.
    let both = |test: &str, moved: &str| format!("if device.type {test}:\n    x = {moved}\n    fast = {asked}\n");
    check(
        &format!("{CHOICE}{}", both("== 'cuda'", "x.cuda()")),
        &format!("{CHOSEN}{}", both("in ('cuda', 'xpu')", "x.to(device)")),
    );
    check(
        &format!("{CHOICE}wide = torch.cuda.is_available() and size > 9\n"),
        &format!("{CHOSEN}wide = (torch.cuda.is_available() or torch.xpu.is_available()) and size > 9\n"),
    );
}

#[test]
fn a_name_for_a_device_is_not_the_chosen_one() {
    let names = |cuda: &str| format!("XPU = 'xpu'\nGPU = {cuda}\n");
    check(&names("'cuda'"), &names("'xpu' if torch.xpu.is_available() else 'cuda'"));
    let made = "XPU = torch.device('xpu')\n";
    check(
        &format!("{made}x = x.cuda()\n"),
        &format!("{made}x = x.to('xpu' if torch.xpu.is_available() else 'cuda')\n"),
    );
}
