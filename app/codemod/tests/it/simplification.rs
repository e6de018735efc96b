//! What is left of code from which a port removes something: empty blocks and functions, equal branches and values,
//! brackets, blank lines.

use crate::ports::{SCRIPT, check, check_bytes, in_place, port_files, ported};

#[test]
fn statements_on_one_line() {
    check_bytes("hpu", "x = 1; torch.cuda.empty_cache(); y = 2\n", "x = 1; y = 2\n");
    check_bytes("hpu", "torch.cuda.empty_cache(); z = 3\n", "z = 3\n");
    check_bytes("hpu", "z = 3; torch.cuda.empty_cache()\n", "z = 3\n");
    check_bytes("hpu", "if a(): torch.cuda.empty_cache()\n", "if a(): pass\n");
}

#[test]
fn a_block_keeps_a_statement_when_several_fixes_empty_it() {
    check_bytes(
        "hpu",
        "if fast():\n    torch.cuda.empty_cache()\n    torch.cuda.set_device(0)\n",
        "if fast():\n    pass\n",
    );
    let moves =
        "def f(self, a, b):\n    if self.fast():\n        a = a.cuda()\n        b = b.cuda()\n    return a, b\n";
    check_bytes("rdu", moves, "def f(self, a, b):\n    if self.fast():\n        pass\n    return a, b\n");
}

#[test]
fn what_a_port_empties_goes_when_it_does_nothing() {
    const CALL: &str = "torch.cuda.empty_cache()\n";
    let check = |before: &str, after: &str| check_bytes("hpu", &before.replace("CALL", CALL.trim()), after);
    check("x = 1\nif a and b.c[0] > 1:\n    CALL\ny = 2\n", "x = 1\ny = 2\n");
    check("for i in names:\n    if a:\n        CALL\ny = 2\n", "y = 2\n");
    check("def free():\n    if a:\n        CALL\n", "def free():\n    pass\n");
    check("def free():\n    if a:\n        CALL\n    if b:\n        CALL\n", "def free():\n    pass\n");
    check("if a:\n    x = 1\nelse:\n    CALL\ny = 2\n", "if a:\n    x = 1\ny = 2\n");
    // Headers that call or bind something, `while` and `with` are kept, and so are comments, other branches and blocks
    // that were empty before.
    check("for i in names:\n    CALL\nprint(i)\n", "for i in names:\n    pass\nprint(i)\n");
    check("for i in read():\n    CALL\n", "for i in read():\n    pass\n");
    check("while a:\n    CALL\n", "while a:\n    pass\n");
    check("if (n := a):\n    CALL\n", "if (n := a):\n    pass\n");
    check("with a:\n    CALL\n", "with a:\n    pass\n");
    check("if a:\n    # room\n    CALL\n", "if a:\n    # room\n    pass\n");
    check("if a:\n    CALL\nelse:\n    x = 1\n", "if a:\n    pass\nelse:\n    x = 1\n");
    check("CALL\nif a:\n    pass\n", "if a:\n    pass\n");
}

#[test]
fn a_function_that_a_port_empties_goes_with_its_calls() {
    let check =
        |before: &str, after: &str| check_bytes("hpu", &before.replace("CALL", "torch.cuda.empty_cache()"), after);
    let free = "def free(n):\n    \"\"\"Room.\"\"\"\n    CALL\n\n\n";
    check(&format!("{free}run()\nif a:\n    free(2)\n    free(x.y)\ngo()\n"), "run()\ngo()\n");
    for use_of_it in ["held = free(2)\n", "free(read())\n", "each(free)\n", "free(2)\nlog('free')\n", ""] {
        let kept = free.replace("    CALL\n", "");
        check(&format!("{free}run()\n{use_of_it}"), &format!("{kept}run()\n{use_of_it}"));
    }
    let other = ("b.py", "from a import free\n\nfree(2)\n");
    let ported = port_files(
        &[("a.py", &(free.replace("CALL", "torch.cuda.empty_cache()") + "free(2)\n")), other],
        &in_place("hpu"),
    );
    assert_eq!(ported.files[1].text, other.1);
    assert!(ported.files[0].text.ends_with("free(2)\n"), "{}", ported.files[0].text);
}

#[test]
fn equal_branches_are_one_however_their_lines_are_broken() {
    let check = |then: &str, after: &str| {
        let text = format!("if on_gpu:\n{then}else:\n    y = move(x, a)\n    z = 1\n");
        check_bytes("hpu", &text, after);
    };
    check(
        "    y = move(x.cuda(),\n             a)\n    z = 1\n",
        "if on_gpu:\n    y = move(x.to(\"hpu\"),\n             a)\n    z = 1\nelse:\n    y = move(x, a)\n    z = 1\n",
    );
    check("    torch.cuda.empty_cache()\n    y = move(x,\n             a)\n    z = 1\n", "y = move(x, a)\nz = 1\n");
    // The last statement is in the block of another one.
    let nested = "if on_gpu:\n    torch.cuda.empty_cache()\n    if a:\n        y = 1\n        z = 1\nelse:\n    if a:\n        y = 1\n    z = 1\n";
    check_bytes("hpu", nested, &nested.replace("    torch.cuda.empty_cache()\n", ""));
}

#[test]
fn a_list_keeps_different_values() {
    check_bytes("hpu", "choices = ['cpu', 'cuda', 'hpu']\n", "choices = ['cpu', 'cuda', 'hpu']\n");
    check_bytes("hpu", "places = ('cuda:0', 'cuda:1')\n", "places = ('cuda:0', 'cuda:1')\n");
    check_bytes("hpu", "places = ['cuda', 'cpu']\n", "places = ['hpu', 'cpu']\n");
    check_bytes("hpu", "places = ['cuda', 'cuda']\n", "places = ['hpu', 'hpu']\n");
}

#[test]
fn branches_that_become_equal_are_one() {
    let (head, turns) = SCRIPT.split_once("    optimizer.zero_grad()\n").expect("a step");
    let plain = turns.replace("    ", "        ").replace("\n        optimizer.zero_grad()", "");
    let scaled = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n";
    let head = head.replace("for x, y", "if amp:\n    scaler = torch.cuda.amp.GradScaler()\nfor x, y");
    let program = format!("{head}    optimizer.zero_grad()\n    if amp:\n{scaled}    else:\n{plain}");
    let (after, _) = ported("hpu", &[("a.py", &program)]);
    assert!(!after[0].contains("if amp:") && after[0].contains("\n    loss.backward()\n"), "{}", after[0]);
    // Branches of the program itself are kept, and so is a test with an effect.
    let own = "if late:\n    wait()\nelse:\n    wait()\n";
    assert!(ported("hpu", &[("a.py", &format!("{SCRIPT}{own}"))]).0[0].contains(own));
    let asks = program.replace("    if amp:\n        scaler.sc", "    if amp():\n        scaler.sc");
    assert!(ported("hpu", &[("a.py", &asks)]).0[0].contains("if amp():"));
}

#[test]
fn brackets_that_hold_lines_or_a_walrus_together_stay() {
    check("rdu", "mean = (total\n        / count).cuda()\n", "mean = (total\n        / count)\n");
    check(
        "rdu",
        "def f():\n\treturn (\n\t\ta.b()\n\t\t.c()\n\t).cuda()\n",
        "def f():\n\treturn (\n\t\ta.b()\n\t\t.c()\n\t)\n",
    );
    check("rdu", "last = (best := score()).cuda()\n", "last = (best := score())\n");
    check("rdu", "f((a, b).cuda(), c)\n", "f((a, b), c)\n");
    check("rdu", "f((i for i in r).cuda())\n", "f((i for i in r))\n");
    check("rdu", "y = (a + b).cuda() * 2\n", "y = (a + b) * 2\n");
    // Those of a call that is removed, too.
    let check_call = |before: &str, after: &str| {
        const HEAD: &str = "import poptorch\nimport torch\nfrom torch.nn import Linear\n\nmodel = Linear(1, 1)\n";
        check("ipu", &format!("{HEAD}{before}\nx = 1\n"), &format!("{HEAD}{after}\nx = 1\n"));
    };
    check_call("net = torch.compile(  # why\n    model)", "net = (  # why\n    model)");
    check_call("net = torch.compile(model,  # why\n    mode='x'\n).eval()", "net = (model  # why\n    ).eval()");
    check_call("net = torch.compile(model,  # why\n    mode='x')", "net = model  # why");
    check_call("f(torch.compile(  # why\n    model))", "f(  # why\n    model)");
    // On one line they have no meaning.
    check("rdu", "y = (a + b).cuda()\n", "y = a + b\n");
}

#[test]
fn blocks_that_become_empty_go_at_once() {
    let depth = 14;
    let nested: String = (1..=depth).map(|n| format!("{}if a:\n", " ".repeat(n))).collect();
    let text = format!("def f(y, a):\n{nested}{}y = y.cuda()\n return y\n", " ".repeat(depth + 1));
    check("rdu", &text, "def f(y, a):\n return y\n");
}

#[test]
fn of_two_blank_lines_that_meet_in_a_block_one_goes() {
    check(
        "rdu",
        "def f(x):\n    load()\n\n    x = x.cuda()\n    y = x.cuda()\n\n    return x\n",
        "def f(x):\n    load()\n\n    y = x\n\n    return x\n",
    );
    check(
        "rdu",
        "def f(x):\n    load()\n\n    x = x.cuda()\n\n    return x\n",
        "def f(x):\n    load()\n\n    return x\n",
    );
    // The program's own are kept, and so are those at the top of a file.
    check(
        "rdu",
        "def f(x):\n    load()\n\n\n    x = x.cuda()\n    return x\n",
        "def f(x):\n    load()\n\n\n    return x\n",
    );
    check("rdu", "x = load()\n\nx = x.cuda()\n\nuse(x)\n", "x = load()\n\n\nuse(x)\n");
}

#[test]
fn a_choice_between_equal_values_is_none() {
    check(
        "hpu",
        "def f(x, two):\n    return x.to(\"cuda:1\" if two else \"cuda:0\"), \"cuda:0\" if ask() else \"cuda:1\"\n",
        "def f(x, two):\n    return x.to(\"hpu\"), \"hpu\" if ask() else \"hpu\"\n",
    );
}

#[test]
fn a_test_that_asks_and_does_nothing_goes() {
    check(
        "hpu",
        "import torch\n\n\ndef clean(cards):\n    if torch.cuda.is_available():\n        torch.cuda.empty_cache()\n    else:\n        pass\n    \
         if len(cards) > 0:\n        torch.cuda.set_device(cards[0])\n    return cards\n",
        "import torch\n\n\ndef clean(cards):\n    return cards\n",
    );
}
