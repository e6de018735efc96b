use super::{Argument, Call};
use crate::{Index, Tree};

fn first_call<T>(text: &str, read: impl Fn(&Index<'_>, Call<'_, '_>) -> T) -> T {
    let tree = Tree::parse(text);
    let index = tree.index();
    let call = index.calls().next().expect("the text has a call");
    read(&index, call)
}

/// The argument of `f` at a position, or by its name.
fn check_argument(text: &str, place: usize, name: &str, expected: Option<&str>) {
    let found = first_call(text, |index, call| call.argument(place, name).map(|id| index.text_of(id).to_owned()));
    assert_eq!(found.as_deref(), expected, "{text}");
}

#[test]
fn arguments_by_place_and_by_name() {
    check_argument("f(a, b)", 1, "second", Some("b"));
    check_argument("f(a, second=b)", 1, "second", Some("b"));
    check_argument("f(second=b)", 0, "first", None);
    // After an unpacked list, positions are unknown.
    check_argument("f(*xs, b)", 1, "second", None);
    check_argument("f(*xs, second=b)", 1, "second", Some("b"));
    check_argument("f(a,  # why\n  b)", 1, "second", Some("b"));
    check_argument("f(x for x in xs)", 0, "first", Some("(x for x in xs)"));
}

#[test]
fn kinds_of_arguments() {
    let kinds = first_call("f(a, *b, k=c, **d)", |_, call| {
        let kind = |a: Argument<'_>| match a {
            Argument::Positional(_) => 'p',
            Argument::Keyword { .. } => 'k',
            Argument::Unpacked(_) => 'u',
            Argument::UnpackedTable(_) => 't',
        };
        call.arguments().iter().map(kind).collect::<String>()
    });
    assert_eq!(kinds, "pukt");
}

#[test]
fn calls_and_receivers() {
    let check = |text: &str, name: Option<&str>, receiver: Option<&str>| {
        let found = first_call(text, |index, call| {
            (call.name().map(str::to_owned), call.receiver().map(|r| index.text_of(r).to_owned()))
        });
        assert_eq!((found.0.as_deref(), found.1.as_deref()), (name, receiver), "{text}");
    };
    check("net.cuda()", Some("cuda"), Some("net"));
    check("autocast()", Some("autocast"), None);
    check("nets[0].half()", Some("half"), Some("nets[0]"));
    check("table['f']()", None, None);
}

#[test]
fn clauses_of_an_if() {
    let tree = Tree::parse("if a:\n    x\nelif b:\n    y\nelse:\n    z\n");
    let index = tree.index();
    let branch = index.if_statements().next().expect("there is an if");
    let read = |id: Option<u32>| id.map_or("", |id| index.text_of(id)).to_owned();
    let clauses: Vec<_> = branch.clauses().map(|c| (read(c.condition), read(c.body))).collect();
    assert_eq!((read(branch.condition()), read(branch.body())), ("a".to_owned(), "x".to_owned()));
    assert_eq!(clauses, [("b".to_owned(), "y".to_owned()), (String::new(), "z".to_owned())]);
    assert!(!branch.stands_alone());
}

#[test]
fn parameters_and_decorators() {
    let tree = Tree::parse(
        "@d\nclass A(B, metaclass=M):\n    @e\n    def f(self, a, b: int, c=1, *args, k: int = 2, **kw): pass\n",
    );
    let index = tree.index();
    let function = index.functions().next().expect("there is a function");
    let names: Vec<&str> = function.parameters().map(|p| p.name).collect();
    assert_eq!(names, ["self", "a", "b", "c", "*args", "k", "**kw"]);
    let defaults: Vec<&str> = function.parameters().filter_map(|p| p.default).map(|d| index.text_of(d)).collect();
    assert_eq!(defaults, ["1", "2"]);
    let class = index.classes().next().expect("there is a class");
    let bases: Vec<&str> = class.bases().positional().map(|b| index.text_of(b)).collect();
    assert_eq!((class.name(), bases.as_slice(), class.decorators().len()), ("A", &["B"][..], 1));
}

#[test]
fn what_a_with_enters() {
    let tree = Tree::parse("with a() as x, b:\n    pass\n");
    let index = tree.index();
    let with = index.with_statements().next().expect("there is a with");
    let contexts: Vec<&str> = with.items().filter_map(|i| i.context()).map(|c| index.text_of(c)).collect();
    assert_eq!(contexts, ["a()", "b"]);
}
