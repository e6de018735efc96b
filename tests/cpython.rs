//! A persistent CPython that checks texts (`look.py`).

use codemod::PortedFile;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The process; it ends with this value, which closes its standard input.
pub struct CPython {
    program: String,
    open: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

/// CPython's answer about one text.
#[derive(Debug, Default)]
pub struct Said {
    /// Why it does not compile.
    pub refused: Option<String>,
    /// Its comments, sorted; none if they were not requested or can't be read.
    pub comments: Option<Vec<String>>,
    /// Places that use CUDA.
    pub mentions: Vec<Mention>,
    /// Names with words of NVIDIA's that it gives to things of its own, as the text of a mention.
    pub own: Vec<String>,
    /// Of a port: the first statement that no edit touches, and that is another one or in another block all the same.
    pub other_tree: Option<String>,
    /// What of it could not be examined, and why.
    pub failed: Option<String>,
}

/// A place that uses CUDA.
#[derive(Clone, Debug)]
pub struct Mention {
    /// `name`, `call`, `device`, `import`, `foreign` for other software of NVIDIA's, `spelled` for what only its spelling
    /// shows, or `mention` for a string that is not a device there and for code under a test for CUDA.
    pub kind: String,
    /// First and last line, from 1.
    pub lines: (usize, usize),
    /// The name, or the context of a string.
    pub text: String,
    /// Devices of accelerators for which the program has code of its own beside it.
    pub beside: Vec<String>,
    /// Further places of the same, or the tests above it, of which one has to be reported.
    pub others: Vec<(usize, usize)>,
}

/// The program of CPython's process, with the modules that need CUDA.
fn look_py() -> String {
    let modules = include_str!("corpus/modules_for_cuda.txt");
    format!("MODULES_FOR_CUDA = '''{modules}'''\n{}", include_str!("look.py"))
}

impl CPython {
    /// The Python of this name or path, which is started by the first question.
    pub fn new(program: &str) -> Self {
        Self { program: program.to_owned(), open: None }
    }

    /// Sends a text. If the process has died there is no answer, and the next query starts another.
    pub fn look(&mut self, text: &str, comments: bool) -> Result<Said, String> {
        self.said(&json!({ "text": text, "comments": comments, "original": null }))
    }

    /// The same for a port, whose syntax tree is compared with the original's.
    pub fn look_at_port(&mut self, original: &str, ported: &PortedFile) -> Result<Said, String> {
        let edits: Vec<_> = ported.edits.iter().map(|edit| json!([edit.start, edit.end, edit.text])).collect();
        self.said(&json!({ "text": ported.text, "comments": true, "original": original, "edits": edits }))
    }

    fn said(&mut self, question: &Value) -> Result<Said, String> {
        let answer = self.ask(question);
        if answer.is_err() {
            self.open = None;
        }
        let answer = answer?;
        let texts = |value: &Value| {
            Some(value.as_array()?.iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect::<Vec<_>>())
        };
        let mention = |one: &Value| {
            let line = |n: usize| Some(one[n].as_u64()? as usize);
            let text = |n: usize| Some(one[n].as_str()?.to_owned());
            let lines = |pair: &Value| Some((pair[0].as_u64()? as usize, pair[1].as_u64()? as usize));
            let others = one[5].as_array()?.iter().map(lines).collect::<Option<_>>()?;
            Some(Mention {
                kind: text(0)?,
                lines: (line(1)?, line(2)?),
                text: text(3)?,
                beside: texts(&one[4])?,
                others,
            })
        };
        Ok(Said {
            refused: answer["refused"].as_str().map(str::to_owned),
            comments: texts(&answer["comments"]),
            mentions: answer["mentions"].as_array().into_iter().flatten().filter_map(mention).collect(),
            own: texts(&answer["own"]).unwrap_or_default(),
            other_tree: answer["other_tree"].as_str().map(str::to_owned),
            failed: answer["failed"].as_str().map(str::to_owned),
        })
    }

    fn ask(&mut self, question: &Value) -> Result<Value, String> {
        let told = |error: std::io::Error| format!("CPython: {error}");
        if self.open.is_none() {
            let mut command = Command::new(&self.program);
            command.args(["-I", "-c", &look_py()]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", self.program))?;
            let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                return Err("CPython has no standard streams".to_owned());
            };
            self.open = Some((child, input, BufReader::new(output)));
        }
        let Some((_, input, output)) = &mut self.open else { return Err("CPython is gone".to_owned()) };
        writeln!(input, "{question}").and_then(|()| input.flush()).map_err(told)?;
        let mut line = String::new();
        output.read_line(&mut line).map_err(told)?;
        serde_json::from_str(&line).map_err(|_| "CPython ended early".to_owned())
    }
}

impl Drop for CPython {
    fn drop(&mut self) {
        if let Some((mut child, input, _)) = self.open.take() {
            drop(input);
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codemod::{Applicability, Edit};

    #[track_caller]
    fn check(text: &str, mentions: &[&str]) {
        let said = CPython::new("python3").look(text, false).unwrap();
        assert_eq!(said.refused, None, "{text}");
        let found = said.mentions.iter().filter(|one| !said.own.contains(&one.text));
        let found = found.map(|one| format!("{} {} {}", one.lines.0, one.kind, one.text));
        assert_eq!(found.collect::<Vec<_>>(), mentions, "{text}");
    }

    #[test]
    fn mentions_go_by_what_names_stand_for() {
        check(
            "from torch import cuda as c\nc.Stream()\ndef f(c):\n    c.Stream()\n",
            &["1 import torch.cuda", "2 name torch.cuda.Stream"],
        );
        check(
            "x = net.cuda(0)\ny = torch.cuda.is_available()\n",
            &["1 call .cuda()", "2 name torch.cuda.is_available"],
        );
        check("import torch.cuda.amp\ntorch.cuda.amp.GradScaler(enabled=False)\n", &["1 import torch.cuda.amp"]);
        // Whether there is a name, not a use of it.
        check("if hasattr(torch.cuda, 'x') and getattr(torch.cuda.amp, 'y') is not None:\n    pass\n", &[]);
        check("y = getattr(torch.cuda.amp, 'y')\n", &["1 name torch.cuda.amp"]);
        let tried = |first: &str, second: &str, use_: &str| {
            format!("try:\n    from {first} import X\nexcept ImportError:\n    from {second} import X\n{use_}\n")
        };
        let import = |line: usize| format!("{line} import torch.cuda.amp.X");
        let name = |line: usize| format!("{line} name torch.cuda.amp.X");
        let check = |text: &str, mentions: &[String]| check(text, &mentions.iter().map(|m| &**m).collect::<Vec<_>>());
        check(&tried("torch.amp", "torch.cuda.amp", "X()"), &[import(4)]);
        check(&tried("torch.amp", "torch.cuda.amp", "    X()"), &[import(4), name(5)]);
        check(&tried("torch.cpu.amp", "torch.cuda.amp", "X()"), &[import(4), name(5)]);
        let hidden = "def f():\n    from torch.cuda.amp import X\n    X()";
        check(&tried("torch.amp", "torch.cuda.amp", hidden), &[import(4), import(6), name(7)]);
        check("from torch.amp import X\nfrom torch.cuda.amp import X\nX()\n", &[import(2), name(3)]);
    }

    #[test]
    fn a_string_is_a_device_or_a_mention() {
        check("x.to('cuda:1')\nx.get('cuda')\n", &["1 device in Call", "2 mention in Call"]);
        check("a.get('cuda', 'cuda')\n", &["1 mention in Call", "1 device in Call"]);
        check(
            "d = {'cuda': 'cuda'}\nx = 'cudaX'\n",
            &["1 mention in Dict", "1 device in Dict", "2 spelled attribute cudaX"],
        );
    }

    #[test]
    fn software_of_nvidia_by_any_spelling() {
        let check = |text: &str, expected: &str| check(text, &[expected]);
        check("import cupy as cp\nimport cupy.linalg\n", "1 foreign module cupy");
        check("def f():\n    from numba import cuda\n", "2 foreign module numba.cuda");
        check(
            "try:\n    import nvidia.dali.fn as fn\nexcept ImportError:\n    fn = None\n",
            "2 foreign module nvidia.dali",
        );
        check("import os\nos.environ['NCCL_DEBUG'] = 'INFO'\n", "2 foreign variable NCCL_");
        check("import os\nos.system('nvidia-smi')\n", "2 foreign command nvidia-smi");
        check("import torch\nassert torch.version.cuda\n", "2 foreign name torch.version.cuda");
        check("import torch\nx = torch.zeros(1, device=0)\n", "2 foreign device number");
        check("x = x.to(0)\n", "1 foreign device number");
        check("with tf.device('/device:GPU:1'):\n    pass\n", "1 foreign device /device:GPU:1");
    }

    #[test]
    fn what_only_its_spelling_shows() {
        check("f = x.cuda\ny = x.is_cuda\n", &["1 spelled attribute cuda", "2 spelled attribute is_cuda"]);
        check("lib = CDLL('libcudart.so')\n", &["1 spelled attribute libcudart.so"]);
        check("s += f'CUDA:{d} of {n}'\n", &[]);
        check("os.environ[f'{x}_NCCL'] = f'{y} on cuda'\n", &["1 spelled attribute _NCCL"]);
        check("if 'CUDA error' in text:\n    raise OSError('CUDA error')\n", &["1 spelled attribute CUDA error"]);
        check("f(cuda=True)\nload('nvidia/mit')\n", &["1 spelled argument cuda"]);
        let own = |text: &str| CPython::new("python3").look(text, false).unwrap().own;
        let check = |text: &str, names: &[&str]| assert_eq!(own(text), names, "{text}");
        check("add('--no-cuda')\n", &["argument no_cuda", "attribute no_cuda"]);
        check(
            "def f(use_cuda):\n    a.nccl = 1\n",
            &["argument nccl", "argument use_cuda", "attribute nccl", "variable use_cuda"],
        );
        check("C(cuda=1)\nf(cuda_x=1)\n", &["argument cuda", "attribute cuda"]);
    }

    #[test]
    fn text_for_people_is_no_software() {
        check("'''nvidia-smi'''\nprint('NCCL_DEBUG')\nraise OSError('nvidia-smi')\n", &[]);
        check(
            "print('cuda', '%s' % ('cuda' if b else 'cpu'))\nraise ValueError('cuda')\nf(help='cuda', dest='cuda')\n",
            &[],
        );
        check("print(x.to('cuda'))\n", &["1 device in Call"]);
        check("os.path.join('csrc', 'cuda')\n", &[]);
        check("from .cupy import x\nx.to(None)\nx.to(True)\n", &[]);
    }

    #[test]
    fn code_under_a_test_for_cuda_is_told_at_the_test() {
        let text = "def f():\n    if not cuda:\n        return\n    x.cuda()\ndef g():\n    x.cuda()\n";
        check(text, &["4 mention under a CUDA test: .cuda()", "6 call .cuda()"]);
        let text = "use_cuda = args.cuda\nif use_cuda:\n    x.cuda()\nelse:\n    x.cuda()\n";
        check(text, &["3 mention under a CUDA test: .cuda()", "5 call .cuda()", "1 spelled attribute cuda"]);
        let said = CPython::new("python3").look(text, false).unwrap();
        assert_eq!(said.mentions[0].others, [(2, 2), (1, 1)]);
        check("if cuda is None:\n    x.cuda()\n", &["2 call .cuda()"]);
        // A key is told with the file's other keys too.
        let text = "a['cuda'] = 1\nif t['cuda'] is not None:\n    b = t['cuda']\n";
        let said = CPython::new("python3").look(text, false).unwrap();
        let under = said.mentions.iter().find(|one| one.text.starts_with("under a CUDA test")).unwrap();
        assert_eq!(under.others, [(1, 1), (2, 2), (3, 3), (2, 2)]);
    }

    #[test]
    fn code_that_never_runs_without_cuda_is_no_mention() {
        let asks = "torch.cuda.is_available()";
        let first = "1 name torch.cuda.is_available";
        check(&format!("if {asks} and a:\n    x.cuda()\nelse:\n    x.cuda()\n"), &[first, "4 call .cuda()"]);
        check(&format!("y = x.cuda() if not {asks} else x.cuda()\n"), &[first, "1 call .cuda()"]);
        check(&format!("if a or {asks}:\n    x.cuda()\n"), &[first, "2 call .cuda()"]);
        check(&format!("b = a and {asks}\nif b:\n    x.cuda()\n"), &[first]);
        check(&format!("b = {asks}\ndef f(b):\n    if b:\n        x.cuda()\n"), &[first, "4 call .cuda()"]);
        check("if x.is_cuda:\n    x.cuda()\n", &["1 spelled attribute is_cuda"]);
        check("if torch.version.cuda is not None:\n    x.cuda()\n", &["1 foreign name torch.version.cuda"]);
        check(
            "b = a.on == 'cuda'\nif b:\n    y = lib.cuda_x\n",
            &["1 device in Compare", "3 mention attribute cuda_x"],
        );
        check(
            &format!("if {asks}:\n    import torch.cuda.amp\n    from lib import cuda_x\n"),
            &["1 name torch.cuda.is_available"],
        );
        let count = "torch.cuda.device_count";
        let first = "1 name torch.cuda.device_count";
        check(
            &format!("if {count}() > 0:\n    x.cuda()\nif {count}() == 0:\n    x.cuda()\n"),
            &[first, "3 name torch.cuda.device_count", "4 call .cuda()"],
        );
    }

    #[test]
    fn code_for_another_operating_system_is_not_reached() {
        let text = "if platform.system() == 'Darwin':\n    x.cuda()\nif platform.system() == 'Linux':\n    x.cuda()\n";
        check(text, &["4 call .cuda()"]);
    }

    #[test]
    fn devices_that_a_program_chooses_between() {
        let beside = |text: &str| CPython::new("python3").look(text, false).unwrap().mentions[0].beside.clone();
        assert_eq!(beside("d = 'hpu' if has_hpu else 'xpu' if has_xpu else 'cuda'\n"), ["hpu", "xpu"]);
        assert_eq!(beside("if has_xpu:\n    pass\nelse:\n    x.cuda()\n"), ["xpu"]);
        assert_eq!(beside("if torch.cuda.is_available():\n    pass\nif has_hpu():\n    pass\n"), ["hpu"]);
        assert_eq!(beside("if name in ('cpu', 'cuda'):\n    pass\nelse:\n    d = 'hpu'\n"), ["hpu"]);
        assert_eq!(beside("t = {'cuda': 1, 'xpu': 2}\n"), ["xpu"]);
        assert_eq!(beside("if a:\n    x.cuda()\n    to_hpu()\n"), [""; 0]);
    }

    /// Replaces a part of a text that it has once, as an edit of a port.
    #[track_caller]
    fn check_tree(before: &str, (old, new): (&str, &str), fault: Option<&str>) {
        for before in [before.to_owned(), format!("\u{feff}é = 1\n{before}").replace('\n', "\r\n")] {
            let newline = if before.contains("\r\n") { "\r\n" } else { "\n" };
            let (old, text) = (old.replace('\n', newline), new.replace('\n', newline));
            let start = before.find(&old).unwrap();
            check_edit(&before, (start, start + old.len(), text), fault);
        }
    }

    #[track_caller]
    fn check_edit(before: &str, (start, end, text): (usize, usize, String), fault: Option<&str>) {
        let after = format!("{}{text}{}", &before[..start], &before[end..]);
        let (applicability, recipe, comments_removed) = (Applicability::Safe, String::new(), Vec::new());
        let edit = Edit { id: String::new(), recipe, applicability, start, end, text, comments_removed };
        let file = PortedFile {
            path: "a.py".to_owned(),
            changed: true,
            text: after,
            edits: vec![edit],
            diagnostics: Vec::new(),
            notebook: None,
            is_new: false,
        };
        let said = CPython::new("python3").look_at_port(before, &file).unwrap();
        assert_eq!(said.refused, None, "{}", file.text);
        let found = said.other_tree.as_deref().map(|found| found.split_once(": ").unwrap().1);
        assert_eq!(found, fault, "{}", file.text);
    }

    #[test]
    fn a_statement_that_an_edit_indents() {
        let check = |before: &str, fault: Option<&str>| {
            let at = before.find("y()").unwrap();
            check_edit(before, (at, at, "    ".to_owned()), fault);
        };
        let elsewhere = Some("the statement is in another block in the port");
        check("with a:\n    x()\ny()\n", None);
        check("if a:\n    x()\ny()\n", elsewhere);
        check("for a in b:\n    x()\ny()\n", elsewhere);
        check("def f():\n    with a:\n        x()\n    y()\n", None);
        check("def f():\n    with a:\n        x()\ny()\n", elsewhere);
    }

    #[test]
    fn a_tree_outside_the_edits_is_the_same() {
        check_tree("x = 1\ny = 2\nz = 3\n", ("y = 2", "y = 3"), None);
        check_tree("x = 1\ny = 2\nz = 3\n", ("y = 2\n", ""), None);
        check_tree("x = 1\ny = 2\n", ("x = 1", "x = 1 + 1"), None);
        check_tree("x = a\ny = 2\n", (" = a", " = a; z = 3"), None);
        check_tree("if a:\n    x = 1\ny = 2\n", ("x = 1", "x = 2\nelse:\n    pass"), None);
        check_tree("f()\nwith a:\n    x = 1\n", ("with a:\n    ", "if b:\n    "), None);
        check_tree("try:\n    f()\nexcept E:\n    g()\n", ("f()", "h()"), None);
        check_tree("@a\ndef f():\n    g()\n", ("g()", "h()"), None);
        check_tree("b()\ndef f():\n    g()\n", ("b()\n", "b()\n@a\n"), None);
    }

    #[test]
    fn other_code_outside_the_edits_is_found() {
        let (elsewhere, none) =
            ("the statement is in another block in the port", "no statement begins there in the port");
        check_tree("for i in l:\n    a()\n    b()\n", ("a()\n    ", "a()\n"), Some(elsewhere));
        check_tree("def f():\n    a()\ndef g():\n    b()\n", ("a()\ndef g():\n", "a()\n"), Some(elsewhere));
        check_tree("if a:\n    b()\n    c()\nd()\n", ("b()\n", "b()\nelse:\n"), Some(elsewhere));
        check_tree("a()\nb()  # ''')\n", ("a()\n", "a('''\n"), Some(none));
        check_tree("a(1)\nb()\nc(1)\n", ("a(1)\n", "a(1),\\\n"), Some(none));
        check_tree("a()\nb\n(1)\n", ("b\n", "b\\\n"), Some(none));
        check_tree("a()\nb(1)\n", ("a()\n", "a()\nnot \\\n"), Some(none));
        check_tree("b()\nprint(1)\n", ("b()\n", "class C(1): \\\n"), Some(elsewhere));
    }

    #[test]
    fn what_does_not_compile_and_comments() {
        let mut python = CPython::new("python3");
        let said = python.look("f(a=1, 2)\n", true).unwrap();
        assert!(said.refused.is_some_and(|why| why.starts_with("SyntaxError")) && said.comments.is_none());
        let said = python.look("x = '#'  # b \n# a\n", true).unwrap();
        assert_eq!(said.comments.as_deref(), Some(&["# a".to_owned(), "# b".to_owned()][..]));
    }
}
