//! Bytes that a port keeps: line ends, tabs, byte order marks, quotes, form feeds.

use crate::ports::{check, check_bytes, check_unchanged, in_place, port_files, port_script};

#[test]
fn line_endings_tabs_and_byte_order_mark_stay() {
    check_bytes(
        "hpu",
        "\u{feff}if True:\r\n\tx = x.cuda()\r\n\ttorch.cuda.empty_cache()\r\n",
        "\u{feff}if True:\r\n\tx = x.to(\"hpu\")\r\n",
    );
    check_bytes("hpu", "x = x.cuda()", "x = x.to(\"hpu\")");
}

#[test]
fn quotes_follow_the_place() {
    check_bytes("hpu", "x = x.to('cuda:0')\n", "x = x.to('hpu')\n");
    check_bytes("hpu", "print(f\"{x.cuda()}\")\n", "print(f\"{x.to('hpu')}\")\n");
    check_bytes("hpu", "a = 'b'\nx = x.cuda()\n", "a = 'b'\nx = x.to('hpu')\n");
}

#[test]
fn text_beyond_ascii() {
    check_bytes(
        "hpu",
        "größe = 'µ→λ'  # 輸入\nx = bild.cuda()  # 出力\n",
        "größe = 'µ→λ'  # 輸入\nx = bild.to('hpu')  # 出力\n",
    );
}

#[test]
fn five_thousand_brackets() {
    let deep = format!("x = {}1{}\nx.cuda()\n", "(".repeat(5000), ")".repeat(5000));
    let ported = port_files(&[("a.py", &deep)], &in_place("hpu"));
    assert!(ported.files[0].text.ends_with("x.to(\"hpu\")\n"));
}

#[test]
fn one_line_end_of_the_other_kind() {
    let before = "x = x.cuda()\nwith torch.cuda.amp.autocast():\n    x = net(x)\ny = 1\r\n";
    let text = &port_files(&[("a.py", before)], &in_place("hpu")).files[0].text;
    assert_eq!(text.matches("\r\n").count(), 1, "{text:?}");
}

#[test]
fn a_carriage_return_alone_ends_a_line_of_python() {
    let told = "this line ends in a bare carriage return";
    check_unchanged("rdu", "net = net.cuda()\r\r\nopt.step()  # a\r\r\n", 1, told);
    check_unchanged("rdu", "net = net.cuda()  # a\rb\n", 1, told);
    // In a string it is an ordinary character, and its bytes are kept.
    assert_eq!(port_script("rdu", "a = '''b\r\r\nc'''\nd = e.cuda()\n").files[0].text, "a = '''b\r\r\nc'''\nd = e\n");
    // With mixed line endings every line keeps its own.
    let tried = "import torch\n\ntry:\n    import fast\nexcept ImportError:\n    fast = None  # slow\n";
    let step = "net = torch.nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    \
                loss = torch.nn.functional.mse_loss(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n";
    let lines = format!("{tried}\n{step}").replace('\n', "\r\n");
    let text = port_script("ipu", &lines).files.remove(0).text;
    assert!(!text.replace("\r\n", "").contains(['\r', '\n']) && text != lines, "{text:?}");
    assert_eq!(port_script("rdu", "a = b.cuda()\r\nc = d.cuda()\n").files[0].text, "a = b\r\nc = d\n");
}

#[test]
fn indentation_begins_behind_a_form_feed() {
    check("rdu", "\u{c}a = b.cuda()\n\u{c}\nc = d.cuda()\u{c}\n", "\u{c}a = b\n\u{c}\nc = d\u{c}\n");
    check("rdu", "if a:\n    b()\n  \u{c}    c = d.cuda()\n", "if a:\n    b()\n  \u{c}    c = d\n");
}

#[test]
fn a_file_without_a_last_newline_gets_none() {
    for blank in ["\n", "\n\n"] {
        check("rdu", &format!("import torch\nx = 1{blank}torch.cuda.synchronize()"), "import torch\nx = 1");
    }
    let step = "import torch\nmodel=e()\nfor x in r:\n    loss=(model(x),)\n    loss.backward()\n    opt.step()";
    assert!(port_script("ipu", step).files[0].text.ends_with("\n    loss = loss.mean()"));
}
