use super::{Conventions, Origins, Place, Seen};
use crate::file::PythonFile;
use crate::tree::Tree;
use sorting::SortedSet;

pub(super) const CONVENTIONS: Conventions =
    Conventions { called: &["__call__", "forward"], wrappers: &[&["wrap"]], chained: &["to"] };

/// Where the argument of `here` comes from, in any order; `#- path` begins a file.
#[track_caller]
fn check(program: &str, expected: &[&str]) {
    let mut texts: Vec<(String, String)> = vec![("train.py".to_owned(), String::new())];
    for line in program.lines() {
        match line.strip_prefix("#- ") {
            Some(path) if texts[0].1.is_empty() => texts[0].0 = path.to_owned(),
            Some(path) => texts.push((path.to_owned(), String::new())),
            None => *texts.last_mut().map(|(_, text)| text).expect("a file") += &format!("{line}\n"),
        }
    }
    let trees: Vec<Tree> = texts.iter().map(|(_, text)| Tree::parse(text)).collect();
    assert!(!trees.iter().any(Tree::has_error), "{program}");
    let files: Vec<PythonFile<'_>> =
        texts.iter().zip(&trees).map(|((path, _), tree)| PythonFile::read(path, tree)).collect();
    let origins = Origins::of(files.iter().collect(), CONVENTIONS);
    let here = files.iter().enumerate().find_map(|(file, python)| Some((file, *python.calls("here").first()?)));
    let (file, call) = here.expect("a place");
    let id = files[file].index.arguments(call).ids().next().expect("an argument");
    let text = |place: Place| files[place.file].index.text_of(place.id).lines().next().unwrap_or_default().to_owned();
    let found = origins.origins(Place { file, id });
    let found: SortedSet<String> = found
        .iter()
        .map(|origin| format!("{}{}", text(origin.place), if origin.is_whole() { "" } else { " …" }))
        .collect();
    let found: Vec<String> = found.into_iter().collect();
    assert_eq!(found, expected, "{program}");
}

#[test]
fn assignments_that_reach_a_place() {
    check("x = a()\nhere(x)\n", &["a()"]);
    check("x = a()\nx = b()\nhere(x)\nx = c()\n", &["b()"]);
    check("x = a()\nif t:\n    x = b()\nhere(x)\n", &["a()", "b()"]);
    check("x = a()\nfor i in r:\n    here(x)\n    x = b()\n", &["a()", "b()"]);
    check("for i in r:\n    x = a()\n    here(x)\n    x = b()\n", &["a()"]);
    check("x = a()\ndef f():\n    here(x)\nx = b()\n", &["a()", "b()"]);
    check("x = a()\ndef g():\n    x = b()\nhere(x)\n", &["a()"]);
    check("def f():\n    global x\n    x = b()\nhere(x)\n", &["b()"]);
    check("x = y = a()\nhere(x)\n", &["a()"]);
    check("x = a()\nx += b()\nhere(x)\n", &["a()", "b()"]);
    check("x.y = a()\nx.y += b()\nhere(x.y)\n", &["a()", "b()"]);
    check("if (x := a()):\n    here(x)\n", &["a()"]);
    check("here(a() if t else b())\n", &["a()", "b()"]);
    check("x = None\nx = x or a()\nhere(x)\n", &["None", "a()"]);
    check("with a() as x:\n    here(x)\n", &["x"]);
    check("here(x)\n", &["x"]);
}

/// How many values each of two walks visits, of which the second has the same question; and whether they were complete.
fn visited_twice(program: &str) -> [(usize, bool); 2] {
    let tree = Tree::parse(program);
    let file = PythonFile::read("train.py", &tree);
    let origins = Origins::of(vec![&file], CONVENTIONS);
    let mut seen = Seen::default();
    let mut walk = |call: usize| {
        let id = file.index.arguments(file.calls("here")[call]).ids().next().expect("an argument");
        let mut count = 0;
        let is_complete =
            origins.walk_unseen(Place { file: 0, id }, &|_| Vec::new(), &mut seen, &mut |_, _| count += 1);
        (count, is_complete)
    };
    [walk(0), walk(1)]
}

#[test]
fn a_walk_answers_for_another_if_it_was_complete() {
    let list = |count: usize| (0..count).map(|n| format!("f{n}(), ")).collect::<String>();
    let program = |count| format!("x = [{}][n]\nhere(x)\nhere(x)\n", list(count));
    let [first, second] = visited_twice(&program(3));
    assert!(first.1 && second.1 && second.0 + 3 < first.0, "{first:?} {second:?}");
    let [first, second] = visited_twice(&program(500));
    assert_eq!((first, first.1), (second, false));
}

#[test]
fn items_and_attributes() {
    check("x, (y, z) = a(), (b(), c())\nhere(y)\n", &["b()"]);
    check("x, y = f()\nhere(y)\n", &["f() …"]);
    check("t = {'k': a(), 'l': b()}\nhere(t['k'])\n", &["a()"]);
    check("t = {'k': a(), 'l': b()}\nfor k in t:\n    here(t[k])\n", &["a()", "b()"]);
    check("t = {}\nt['k'] = a()\nt['l'] = b()\nhere(t['k'])\n", &["a()", "{} …"]);
    check("t = dict(k=a(), l=b())\nhere(t['l'])\n", &["b()"]);
    check("from types import SimpleNamespace\nt = SimpleNamespace(k=a(), l=b())\nhere(t.l)\n", &["b()"]);
    check("for n, x in enumerate([a(), b()]):\n    here(x)\n", &["a()", "b()"]);
    check("for k, x in {'k': a()}.items():\n    here(x)\n", &["a()"]);
    check("t = {k: a(k) for k in r}\nhere(t['k'])\n", &["a(k)"]);
    check("x = [a(), b()]\nhere(x[1])\n", &["b()"]);
    check("x = [a(), b()]\nhere(x[1:])\n", &["x[1:]"]);
    check("x = a()\nhere(x.y)\n", &["a() …"]);
}

#[test]
fn arguments_and_results() {
    check("def f(x, y=1):\n    here(y)\nf(a(), b())\nf(c())\n", &["1", "b()"]);
    check("def f(x):\n    here(x)\nf(x=a())\n", &["a()"]);
    check("def f(x):\n    here(x)\n", &["x"]);
    check("def f():\n    x = a()\n    return x, b()\nhere(f()[1])\n", &["b()"]);
    check("def f():\n    x = a()\n    return x, b()\ny, _ = f()\nhere(y)\n", &["a()"]);
    check("def f(x):\n    return x\nhere(f(a()))\n", &["a()"]);
    check("def f(x):\n    yield x\nhere(f(a()))\n", &["f(a())"]);
    check("def f(n):\n    return f(n - 1) if n else a()\nhere(f(3))\n", &["a()"]);
    check("def f(x):\n    return x\ng = f\nhere(g(a()))\n", &["a()"]);
    check("def run(step):\n    step(a())\ndef f(x):\n    here(x)\nrun(f)\n", &["a()"]);
}

#[test]
fn objects_of_classes() {
    let class = "class C:\n    def __init__(self, x):\n        self.x = x\n    def g(self):\n        return self.x\n";
    check(&format!("{class}c = C(a())\nhere(c.x)\n"), &["a()"]);
    check(&format!("{class}c = C(a())\nhere(c.g())\n"), &["a()"]);
    check(&format!("{class}    def h(self):\n        here(self.x)\nC(b()).h()\n"), &["b()"]);
    check(&format!("{class}class D(C):\n    def h(self):\n        here(self.x)\nD(b())\n"), &["b()"]);
    check(
        "class C:\n    def f(self):\n        self.t['k'] = a()\n    def g(self):\n        here(self.t['k'])\n",
        &["a()"],
    );
    check("class C:\n    x = a()\nhere(C.x)\n", &["a()"]);
    check("@dataclass\nclass C:\n    y: int\n    x: int = a()\nhere(C(1, b()).x)\n", &["a()", "b()"]);
    let derived = "class D(C):\n    def __init__(self, y):\n        super().__init__(y)\n";
    check(&format!("{class}{derived}here(D(a()).x)\n"), &["a()"]);
    check("class C:\n    pass\nhere(C())\n", &["C()"]);
    let called = "class C:\n    def forward(self, x):\n        return x\nc = C()\n";
    check(&format!("{called}here(c(a()))\n"), &["a()"]);
    check(&format!("{called}c = wrap(c.to(d))\nhere(c(a()))\n"), &["a()"]);
    check(
        "class C:\n    def __call__(self, x):\n        here(x)\nclass D:\n    def f(self):\n        self.c(a())\n    def __init__(self):\n        self.c = C()\n",
        &["a()"],
    );
    check("class C:\n    @staticmethod\n    def f(x):\n        here(x)\nC.f(a())\n", &["a()"]);
}

#[test]
fn other_files() {
    check("#- data.py\ndef f():\n    return a()\n#- train.py\nfrom data import f\nhere(f())\n", &["a()"]);
    check("#- data.py\nx = a()\n#- train.py\nimport data\nhere(data.x)\n", &["a()"]);
    check("#- data.py\nx = a()\n#- train.py\nfrom data import *\nhere(x)\n", &["a()"]);
    check("#- lib/engine.py\ndef f(x):\n    here(x)\n#- train.py\nfrom lib.engine import f as g\ng(a())\n", &["a()"]);
    check("#- lib/data.py\nx = a()\n#- lib/train.py\nfrom .data import x\nhere(x)\n", &["a()"]);
    check("from torch import x\nhere(x)\n", &["x"]);
}
