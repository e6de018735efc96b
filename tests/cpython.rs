//! A persistent CPython that checks texts (`look.py`).

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
}

/// A place that uses CUDA.
#[derive(Clone, Debug)]
pub struct Mention {
    /// `name`, `call`, `device`, `import`, `foreign` for other software of NVIDIA's, or `mention` for a string that is not a
    /// device there.
    pub kind: String,
    /// First and last line, from 1.
    pub lines: (usize, usize),
    /// The name, or the context of a string.
    pub text: String,
    /// Devices of accelerators for which the program has code of its own beside it.
    pub beside: Vec<String>,
    /// Further places of the same, of which one has to be reported.
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
        let answer = self.ask(&json!({ "text": text, "comments": comments }));
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

    #[track_caller]
    fn check(text: &str, mentions: &[&str]) {
        let said = CPython::new("python3").look(text, false).unwrap();
        assert_eq!(said.refused, None, "{text}");
        let found = said.mentions.iter().map(|one| format!("{} {} {}", one.lines.0, one.kind, one.text));
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
        // A function's imports are only visible in that function.
        check(
            "def f():\n    from torch.cuda import Stream\n    g = lambda: Stream()\ndef g():\n    Stream()\n",
            &["2 import torch.cuda.Stream", "3 name torch.cuda.Stream"],
        );
    }

    #[test]
    fn a_string_is_a_device_or_a_mention() {
        check("x.to('cuda:1')\nprint('cuda')\n", &["1 device in Call", "2 mention in Call"]);
        check("a.get('cuda', 'cuda')\n", &["1 mention in Call", "1 device in Call"]);
        check("d = {'cuda': 'cuda'}\nx = 'cudaX'\n", &["1 mention in Dict", "1 device in Dict"]);
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
    fn text_for_people_is_no_software() {
        check("'''nvidia-smi'''\nprint('NCCL_DEBUG')\nraise OSError('nvidia-smi')\n", &[]);
        check("from .cupy import x\nx.to(None)\nx.to(True)\n", &[]);
    }

    #[test]
    fn code_below_a_returning_test_for_cuda_is_under_it() {
        let guarded = "def f():\n    if not cuda:\n        return\n    x.cuda()\ndef g():\n    x.cuda()\n";
        check(guarded, &["4 mention under a CUDA test: .cuda()", "6 call .cuda()"]);
    }

    #[test]
    fn code_for_another_operating_system_is_not_reached() {
        let text = "if platform.system() == 'Darwin':\n    x.cuda()\nif platform.system() == 'Linux':\n    x.cuda()\n";
        check(text, &["2 mention under a test for another operating system: .cuda()", "4 call .cuda()"]);
    }

    #[test]
    fn devices_that_a_program_chooses_between() {
        let beside = |text: &str| CPython::new("python3").look(text, false).unwrap().mentions[0].beside.clone();
        assert_eq!(beside("d = 'hpu' if has_hpu else 'xpu' if has_xpu else 'cuda'\n"), ["hpu", "xpu"]);
        assert_eq!(beside("if has_xpu:\n    pass\nelse:\n    x.cuda()\n"), ["xpu"]);
        assert_eq!(beside("if torch.cuda.is_available():\n    pass\nif has_hpu():\n    pass\n"), ["hpu"]);
        assert_eq!(beside("if name in ('cpu', 'cuda'):\n    to_hpu()\n"), ["hpu"]);
        assert_eq!(beside("x.cuda()\nto_hpu()\n"), [""; 0]);
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
