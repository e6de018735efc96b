//! Code that needs no message, or no change, beside code that does.

mod said;

use said::{STEP, check_said, ported};

/// A step that begins with other statements.
fn after(statements: &str) -> String {
    STEP.replace("import torch\n", &format!("import torch\n{statements}"))
}

#[test]
fn a_window_is_no_batch() {
    let cut = |source: &str, start: &str| {
        let cut = format!(
            "\n\ndef cut(words, size):\n    for i in {source}:\n        yield words[{start}:{start} + size]\n\n\n"
        );
        ported("ipu", &[("a.py", &after(&cut).replace("in loader", "in cut(data, 8)"))]).1
    };
    let said = cut("range(len(words) - size + 1)", "i");
    assert!(!said.contains("is shorter"), "{said}");
    let said = cut("range(1, len(words) - size)", "i");
    assert!(!said.contains("is shorter"), "{said}");
    for (source, start) in [("range(0, len(words), size)", "i"), ("range(len(words))", "i * size"), ("starts", "i")] {
        let said = cut(source, start);
        assert!(said.contains("the last batch that this yields is shorter"), "{source}: {said}");
    }
}

#[test]
fn an_import_that_may_fail() {
    let tried = "try:\n    from apex import amp\n    has_apex = True\nexcept ImportError:\n    ";
    for target in ["hpu", "xpu", "ipu", "rdu"] {
        let (_, said) = ported(target, &[("a.py", &after(&format!("{tried}has_apex = False\n")))]);
        assert!(!said.contains("Apex"), "{target}: {said}");
        check_said(target, &after(&format!("{tried}raise\n")), "Replace Apex");
    }
}

#[test]
fn a_test_for_a_part_of_a_module() {
    for asks in ["getattr(torch.cuda.amp, \"autocast\") is not None", "hasattr(torch.cuda, \"amp\")"] {
        let (_, said) = ported("hpu", &[("a.py", &after(&format!("native = {asks}\n")))]);
        assert!(!said.contains("remains"), "{said}");
    }
    check_said("hpu", &after("card = getattr(torch.cuda, \"current_stream\")()\n"), "`torch.cuda` remains");
}

#[test]
fn a_test_for_several_gpus_around_what_stays() {
    let guard = |body: &str| after(&format!("if torch.cuda.device_count() > 1:\n    {body}\n"));
    for target in ["hpu", "xpu"] {
        let (texts, said) = ported(target, &[("a.py", &guard("net = torch.nn.DataParallel(net)"))]);
        assert!(texts[0].contains("if torch.cuda.device_count() > 1:"), "{}", texts[0]);
        assert!(said.contains("Replace DataParallel"), "{said}");
        let (texts, _) = ported(target, &[("a.py", &guard("print(\"several\")"))]);
        assert!(texts[0].contains(&format!("torch.{target}.device_count()")), "{}", texts[0]);
    }
}

#[test]
fn an_accelerator_that_is_chosen_before() {
    let program = |more: &str| {
        format!(
            "import torch\nimport lightning.pytorch as pl\n\n\n\
             kind = \"gpu\" if torch.cuda.is_available() else \"cpu\"\n{more}\
             trainer = pl.Trainer(accelerator=kind, devices=1)\n"
        )
    };
    for (target, class) in [("hpu", "HPUAccelerator()"), ("xpu", "XPUAccelerator()")] {
        let (texts, said) = ported(target, &[("a.py", &program(""))]);
        assert!(texts[0].contains(&format!("kind = {class} if ")), "{said}{}", texts[0]);
        // Other code reads the string.
        let (texts, _) = ported(target, &[("a.py", &program("if kind == \"gpu\":\n    print(kind)\n"))]);
        assert!(texts[0].contains("kind = \"gpu\" if "), "{}", texts[0]);
    }
}

#[test]
fn a_number_of_gpus_that_decides_more_than_copies_is_changed() {
    let guarded =
        |guard: &str| ported("hpu", &[("a.py", &after(guard).replace("\nfor x", "\nmodel.to(device)\nfor x"))]).0;
    let copies = "if torch.cuda.device_count() > 1:\n    print('several')\n    model = torch.nn.DataParallel(model)\n";
    let texts = guarded(copies);
    assert!(texts[0].contains("torch.cuda.device_count() > 1"), "{}", texts[0]);
    for more in ["    device = torch.device('cuda')\n", "else:\n    device = torch.device('cpu')\n"] {
        let texts = guarded(&format!("{copies}{more}"));
        assert!(texts[0].contains("torch.hpu.device_count()"), "{}", texts[0]);
    }
}
