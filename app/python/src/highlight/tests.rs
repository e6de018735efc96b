use super::*;

/// Shows colours: every span as `class(text)`, with the letter of its CSS class.
fn draw(text: &str) -> String {
    let highlight = Highlight::python(text);
    let mut out = String::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let mut at = 0;
        for span in highlight.line(index).chunks_exact(3) {
            let (start, end) = (span[0] as usize, span[1] as usize);
            let css = TokenClass::from_number(span[2]).expect("a known class").css();
            out += &format!("{}{}⟨{}⟩", &line[at..start], &css[1..], &line[start..end]);
            at = end;
        }
        out += &line[at..];
    }
    out
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(draw(text), expected);
}

#[test]
fn definitions_and_calls() {
    check("def f(x: int = 1) -> str:\n", "k⟨def⟩ f⟨f⟩(x: t⟨int⟩ o⟨=⟩ n⟨1⟩) o⟨->⟩ t⟨str⟩:\n");
    check("class A(B):\n    pass\n", "k⟨class⟩ t⟨A⟩(B):\n    k⟨pass⟩\n");
    check("net = Net(a).cuda()", "net o⟨=⟩ t⟨Net⟩(a).f⟨cuda⟩()");
    check("x = torch.nn.MSELoss(WORLD)", "x o⟨=⟩ torch.nn.t⟨MSELoss⟩(v⟨WORLD⟩)");
    check("@a.b(c)\ndef f(): ...\n", "d⟨@⟩a.f⟨b⟩(c)\nk⟨def⟩ f⟨f⟩(): v⟨...⟩\n");
    check("@a.b\ndef f(): ...\n", "d⟨@a⟩.d⟨b⟩\nk⟨def⟩ f⟨f⟩(): v⟨...⟩\n");
}

#[test]
fn words() {
    check("if x is not None and True:\n    return\n", "k⟨if⟩ x k⟨is not⟩ v⟨None⟩ k⟨and⟩ v⟨True⟩:\n    k⟨return⟩\n");
    check("from __future__ import annotations\n", "k⟨from⟩ __future__ k⟨import⟩ annotations\n");
}

#[test]
fn strings_over_lines_and_with_holes() {
    check("s = f'a{x + 1!r:>{w}}b'  # c", "s o⟨=⟩ s⟨f'a⟩{x o⟨+⟩ n⟨1⟩!r:>{w}}s⟨b'⟩  c⟨# c⟩");
    check("\"\"\"a\r\nb\"\"\"\n", "s⟨\"\"\"a⟩\r\ns⟨b\"\"\"⟩\n");
    check("s = 'größe\\n'", "s o⟨=⟩ s⟨'größe\\n'⟩");
}

#[test]
fn what_does_not_parse_is_coloured_by_its_parts() {
    check("print 'a', 1\n", "k⟨print⟩ s⟨'a'⟩, n⟨1⟩\n");
    for text in ["", "\n", "\u{feff}", "def", "def f(:\n  x = '", "\0\0", "((((", "f'{", "é = (\n\n\n", "\r\r\n"] {
        let highlight = Highlight::python(text);
        assert_eq!(highlight.lines.len(), text.split_inclusive('\n').count() + 1, "{text:?}");
        draw(text);
    }
    let deep = "(".repeat(5_000) + &")".repeat(5_000);
    draw(&deep);
}

#[test]
fn html_is_escaped_and_marks_nest() {
    assert_eq!(highlight_html("a < '<&>'\r\n\nb"), ["a <b class=ho>&lt;</b> <b class=hs>'&lt;&amp;&gt;'</b>", "", "b"]);
    let spans = [0, 3, TokenClass::Keyword as u32, 4, 7, TokenClass::String as u32];
    assert_eq!(
        html_line("abc def g\n", &spans, &[(1, 2), (2, 5), (8, 9)], &[]),
        "<b class=hk>a<mark>b</mark><mark>c</mark></b><mark> </mark>\
         <b class=hs><mark>d</mark>ef</b> <mark>g</mark>"
    );
    assert_eq!(
        html_line("abc def g\n", &spans, &[(4, 6)], &[1, 4, 5, 8]),
        "<b class=hk>a<wbr>bc</b> <b class=hs><wbr><mark>d</mark><wbr><mark>e</mark>f</b> <wbr>g"
    );
}

#[test]
fn plain_text_has_lines_and_no_colours() {
    assert_eq!(Highlight::plain("a\nb"), Highlight { spans: vec![], lines: vec![0, 0, 0] });
    assert_eq!(Highlight::plain("a\nb").line(7), &[] as &[u32]);
}
