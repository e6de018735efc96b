use crate::kinds::Kinds;
use crate::marked;

/// The kinds that the marked expression may have.
#[track_caller]
fn check(program: &str, expected: Kinds) {
    let program = format!("import math\nimport torch\nimport numpy as np\n{program}");
    marked::check(&program, expected, |at| at.file().kinds(at.node()));
}

#[test]
fn arithmetic_on_numbers_is_a_number() {
    check("f(-2 * (3 + 0.5))\n  ^^^^^^^^^^^^^^\n", Kinds::NUMBER);
    check("f(min(1.0, len(x) / 5))\n  ^^^^^^^^^^^^^^^^^^^^\n", Kinds::NUMBER);
    check("f(math.cos(2))\n  ^^^^^^^^^^^\n", Kinds::NUMBER);
    check("f(2 * math.pi)\n  ^^^^^^^^^^^\n", Kinds::NUMBER);
    check("f(2 * x)\n  ^^^^^\n", Kinds::UNKNOWN);
    check("f('2')\n  ^^^\n", Kinds::TEXT);
    check("f(x.float())\n  ^^^^^^^^^\n", Kinds::UNKNOWN);
    check("f(len(x) > 2)\n  ^^^^^^^^^^\n", Kinds::PLAIN);
}

#[test]
fn a_name_is_all_that_it_may_come_from() {
    check("for epoch in range(3):\n    weight = min(1.0, epoch / 5)\n    f(weight)\n      ^^^^^^\n", Kinds::NUMBER);
    check("n = 0\nn += 1\nf(n)\n  ^\n", Kinds::NUMBER);
    check("n = 0\nfor x in y:\n    n += x\nf(n)\n  ^\n", Kinds::NUMBER | Kinds::UNKNOWN);
    check("t = 1.0\nfor x in y:\n    t = t * 0.9\nf(t)\n  ^\n", Kinds::NUMBER);
    check("t = 1.0\nfor x in y:\n    t = max(0.1, t * 0.9)\n    f(t)\n      ^\n", Kinds::NUMBER);
    check(
        "t = 1.0\nfor x, y in z:\n    t = max(0.1, t * 0.9)\n    loss = g(m(x) / t, y)\n                    ^\n    loss.backward()\n    optimizer.step()\n",
        Kinds::NUMBER,
    );
    check("t = 1.0\nfor x, y in z:\n    t = max(0.1, t * 0.9)\n    f(t, x / t)\n         ^^^^^\n", Kinds::UNKNOWN);
    check("n = 0\nif t:\n    n = x\nf(n)\n  ^\n", Kinds::NUMBER | Kinds::UNKNOWN);
    check("n = x\nn = 0\nf(n)\n  ^\n", Kinds::NUMBER);
    check("for n, x in enumerate(loader):\n    f(n)\n      ^\n", Kinds::NUMBER);
    check("for n, x in enumerate(loader):\n    f(x)\n      ^\n", Kinds::UNKNOWN);
    check("for n, x in tqdm(enumerate(loader)):\n    f(n)\n      ^\n", Kinds::NUMBER);
    check("for t in [0.1, 0.2]:\n    f(t)\n      ^\n", Kinds::NUMBER);
    check("if (n := len(x)) > 1:\n    f(n)\n      ^\n", Kinds::NUMBER);
    check("n = 1\nwith open(path) as n:\n    f(n)\n      ^\n", Kinds::UNKNOWN);
    let other = "def scale(weight):\n    weight = 'heavy'\n    return weight\n";
    check(&format!("{other}weight = min(1.0, 2 / 5)\nf(weight)\n  ^^^^^^\n"), Kinds::NUMBER);
}

#[test]
fn a_number_through_calls() {
    check("def f(a):\n    g(a)\n      ^\nf(3)\nf(2 * 4)\n", Kinds::NUMBER);
    check("def f(a):\n    g(a)\n      ^\nf(3)\nf(x)\n", Kinds::NUMBER | Kinds::UNKNOWN);
    check("def f(epoch):\n    g(epoch)\n      ^^^^^\n", Kinds::NUMBER);
    check("def f(a):\n    g(a)\n      ^\n", Kinds::UNKNOWN);
    check("def f(a: float):\n    g(a)\n      ^\n", Kinds::NUMBER);
    check("def scale(a):\n    return a / 5\ng(scale(2))\n  ^^^^^^^^\n", Kinds::NUMBER);
    check("def scale(a):\n    return torch.ones(a)\ng(scale(2))\n  ^^^^^^^^\n", Kinds::TENSOR);
    check(
        "args = parser.parse_args()\nf(args.rate * 3)\n  ^^^^^^^^^^^^^\n",
        Kinds::NUMBER | Kinds::PLAIN | Kinds::TEXT,
    );
}

#[test]
fn what_compares_is_a_mask() {
    check("x[labels == 1]\n  ^^^^^^^^^^^\n", Kinds::MASK);
    check("x[(labels > 1) & valid]\n  ^^^^^^^^^^^^^^^^^^^^\n", Kinds::MASK);
    check("x[~keep]\n  ^^^^^\n", Kinds::MASK);
    check("x[keep.bool()]\n  ^^^^^^^^^^^\n", Kinds::MASK);
    check("x[keep.to(torch.bool)]\n  ^^^^^^^^^^^^^^^^^^^\n", Kinds::MASK);
    check("x[torch.isnan(y)]\n  ^^^^^^^^^^^^^^\n", Kinds::MASK | Kinds::TENSOR);
    check("x[(labels == 1).long()]\n  ^^^^^^^^^^^^^^^^^^^^\n", Kinds::UNKNOWN);
    check("x[name == 'a']\n  ^^^^^^^^^^^\n", Kinds::PLAIN);
    check("def f(x, none=None):\n    x[x != none]\n      ^^^^^^^^^\nf(y)\n", Kinds::MASK);
    check("for i in range(3):\n    x[i == 1]\n      ^^^^^^\n", Kinds::PLAIN);
    check("x[y.shape[0] > 2]\n  ^^^^^^^^^^^^^^\n", Kinds::PLAIN);
}

#[test]
fn what_is_not_known_is_no_answer() {
    let base = "class A:\n    def score(self, y):\n        raise NotImplementedError\n    def f(self, x, y):\n";
    check(&format!("{base}        x[self.score(y) == 1]\n          ^^^^^^^^^^^^^^^^^^\n"), Kinds::MASK);
    let calls: String = (0..450).map(|n| format!("f(x, {n})\n")).collect();
    let many = format!("def f(x, keep):\n    return x[keep]\n             ^^^^\n{calls}");
    check(&many, Kinds::NUMBER | Kinds::UNKNOWN);
    let deep: String = (1..200).map(|n| format!("a{n} = a{} + 1\n", n - 1)).collect();
    check(&format!("a0 = 1\n{deep}f(a199)\n  ^^^^\n"), Kinds::UNKNOWN);
}

#[test]
fn a_mask_by_any_name() {
    check("keep = labels == 1\nkeep = keep.long()\nx[keep]\n  ^^^^\n", Kinds::UNKNOWN);
    check("keep, n = labels == 1, 2\nx[keep]\n  ^^^^\n", Kinds::MASK);
    let arms = "if a:\n    keep = labels == 1\nelse:\n    keep = torch.arange(4)\nx[keep]\n  ^^^^\n";
    check(arms, Kinds::MASK | Kinds::TENSOR);
    check("if (keep := labels == 1) is not None:\n    x[keep]\n      ^^^^\n", Kinds::MASK);
    check(
        "class A:\n    def f(self, y):\n        self.keep = y == 1\n        x[self.keep]\n          ^^^^^^^^^\n",
        Kinds::MASK,
    );
    check("kept = {'keep': y == 1}\nx[kept['keep']]\n  ^^^^^^^^^^^^\n", Kinds::MASK);
    check("keep = labels == 1\ndef f(keep):\n    return x[keep]\n             ^^^^\n", Kinds::UNKNOWN);
    check("def f(x, keep):\n    return x[keep]\n             ^^^^\nf(x, y == 1)\n", Kinds::MASK);
    let module =
        "class Net(nn.Module):\n    def forward(self, x, keep):\n        return x[keep]\n                 ^^^^\n";
    check(&format!("{module}net = Net()\nkeep = labels == 1\nnet(x, keep)\n"), Kinds::MASK);
    let made = "#- cut.py\ndef near(x):\n    return x, x < 2\n#- train.py\nfrom cut import near\n";
    check(&format!("{made}a, keep = near(x)\nx[keep]\n  ^^^^\n"), Kinds::MASK);
    check(&format!("{made}a, keep = near(x)\nx[a]\n  ^\n"), Kinds::UNKNOWN);
}

#[test]
fn numpy_makes_float64_by_default() {
    check("f(np.zeros((3, 4)))\n  ^^^^^^^^^^^^^^^^\n", Kinds::FLOAT64);
    check("f(2 * np.ones(3) + 1)\n  ^^^^^^^^^^^^^^^^^^\n", Kinds::FLOAT64);
    check("f(np.ones(4).reshape(2, 2))\n  ^^^^^^^^^^^^^^^^^^^^^^^^\n", Kinds::FLOAT64);
    check("f(np.zeros(3, dtype=np.float32))\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n", Kinds::UNKNOWN);
    check("f(np.zeros(3).astype('float32'))\n  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n", Kinds::UNKNOWN);
    check("f(np.ones(3) * x)\n  ^^^^^^^^^^^^^^\n", Kinds::UNKNOWN);
    check("f(torch.zeros(3))\n  ^^^^^^^^^^^^^^\n", Kinds::TENSOR);
}

#[test]
fn an_array_of_any_name() {
    check(
        "def f():\n    table = np.zeros(3)\n    g(table)\n      ^^^^^\ndef h(n):\n    table = n + 1\n",
        Kinds::FLOAT64,
    );
    check("table = np.zeros(3)\ntable = table * 2.0\nf(table)\n  ^^^^^\n", Kinds::FLOAT64);
    check("if a:\n    table = np.zeros(3)\nelse:\n    table = np.ones(3)\nf(table)\n  ^^^^^\n", Kinds::FLOAT64);
    check("def make():\n    return np.zeros(3)\nf(make())\n  ^^^^^^\n", Kinds::FLOAT64);
    check("def f(table):\n    g(table)\n      ^^^^^\nf(np.zeros(3))\n", Kinds::FLOAT64);
}

#[test]
fn what_torch_makes_is_a_tensor() {
    check("a = 2 * torch.ones(4)[1:]\nf(a)\n  ^\n", Kinds::TENSOR);
    check("a = torch.ones(4).tolist()\nf(a)\n  ^\n", Kinds::UNKNOWN);
    check("a = torch.ones(4, requires_grad=True)\nf(a)\n  ^\n", Kinds::UNKNOWN);
    check("a = torch.Generator()\nf(a)\n  ^\n", Kinds::UNKNOWN);
    check("f(torch.abs(torch.randn(2)))\n  ^^^^^^^^^^^^^^^^^^^^^^^^^\n", Kinds::TENSOR);
    let mask = Kinds::MASK | Kinds::TENSOR;
    check("f(torch.arange(4) > 2)\n  ^^^^^^^^^^^^^^^^^^^\n", mask);
    check("a = ~torch.zeros(4, dtype=torch.bool)\nf(a)\n  ^\n", mask);
}
