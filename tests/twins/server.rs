//! The Python with PyTorch, and a process of it from which all programs are forked: an import takes seconds. The same
//! for TensorFlow.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use tests::sound::here;

/// The framework of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Framework {
    #[default]
    PyTorch,
    TensorFlow,
}

/// The variables of every program that have a fixed value.
const FIXED: [(&str, &str); 6] = [
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("OMP_NUM_THREADS", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("TF_ENABLE_ONEDNN_OPTS", "0"),
    ("TF_CPP_MIN_LOG_LEVEL", "3"),
];

/// The whole environment of every program. From the user's it has only the places of programs and files, so no result
/// depends on another variable.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let places = ["PATH", "HOME", "TMPDIR"].into_iter();
    let places = places.filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
    places.chain(FIXED.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

impl Framework {
    /// `PORTOLAN_PYTHON` or `PORTOLAN_TENSORFLOW` if it is set, otherwise the Python created by `cargo xtask setup`.
    pub(crate) fn python(self) -> PathBuf {
        let (variable, folder) = match self {
            Framework::PyTorch => ("PORTOLAN_PYTHON", "newest"),
            Framework::TensorFlow => ("PORTOLAN_TENSORFLOW", "tensorflow"),
        };
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        let made = cache.map(|cache| cache.join("portolan/python").join(folder).join("bin/python"));
        let python = set(variable).or(made).unwrap_or_else(|| panic!("HOME or {variable} is set"));
        assert!(
            python.is_file(),
            "these tests run programs on {self:?}, and {} is not there: run `cargo xtask setup`, or set {variable} to a \
             Python that has {self:?}",
            python.display()
        );
        python
    }

    /// The imports of its server.
    fn modules(self) -> &'static [&'static str] {
        match self {
            Framework::PyTorch => &["torch", "torchvision", "matplotlib.pyplot", "hydra", "tensorboardX"],
            Framework::TensorFlow => &["tensorflow", "keras", "hydra", "tensorboard.summary.v2"],
        }
    }

    /// A Python with the path of the recorder's server, for Python tests.
    pub(crate) fn command(self) -> Command {
        let mut command = Command::new(self.python());
        command.env_clear().envs(environment()).env("STAND_IN_SERVER", socket(self));
        command
    }
}

/// A Python with the path of the recorder's server, for Python tests.
pub(crate) fn command() -> Command {
    Framework::PyTorch.command()
}

/// Runs a program as described in `rehearsal/server.py`; returns whether it succeeded.
pub(crate) fn run(request: &Value) -> bool {
    let mut connection = UnixStream::connect(socket(Framework::PyTorch)).unwrap();
    writeln!(connection, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(connection).read_line(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(&answer).expect("the server answers");
    answer["status"] == 0
}

/// The same in a process without imports.
pub(crate) fn run_alone(request: &Value) -> bool {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = |value: &Value| value.as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    let file = |name: &str| std::fs::File::create(text(&request[name])).unwrap();
    let environment = request["env"].as_object().unwrap().iter().map(|(name, value)| (name, text(value)));
    let status = Command::new(Framework::PyTorch.python())
        .args(all(&request["argv"]))
        .current_dir(text(&request["cwd"]))
        .env_clear()
        .envs(environment)
        .env("PYTHONPATH", std::env::join_paths(all(&request["path"])).unwrap())
        .stdout(file("out"))
        .stderr(file("err"))
        .status();
    status.unwrap().success()
}

/// The address of this test run's server. It ends with the test run, when its standard input is closed.
fn socket(framework: Framework) -> &'static PathBuf {
    static SERVERS: [OnceLock<(PathBuf, Child)>; 2] = [const { OnceLock::new() }; 2];
    let (socket, _) = SERVERS[framework as usize].get_or_init(|| {
        // A socket's path is limited to about a hundred bytes, so it can't be in a folder of the checkout.
        let socket =
            std::env::temp_dir().join(format!("portolan-{}-{}.socket", std::process::id(), framework as usize));
        let _ = std::fs::remove_file(&socket);
        let mut server = Command::new(framework.python())
            .arg(here().join("../rehearsal/server.py").canonicalize().unwrap())
            .arg(&socket)
            .args(framework.modules())
            .env_clear()
            .envs(environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready", "the server did not start");
        (socket, server)
    });
    socket
}

/// A process that compares twin runs, `rehearsal/twins/many.py`.
struct Driver {
    process: Child,
    output: BufReader<ChildStdout>,
}

impl Driver {
    fn start(framework: Framework) -> Self {
        let mut process = framework
            .command()
            .arg(here().join("../rehearsal/twins/many.py").canonicalize().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, output }
    }
}

/// The result of one twin run, as JSON. Each thread of the tests has its own driver, which ends with it.
pub(crate) fn compare(framework: Framework, case: &Value) -> String {
    thread_local! {
        static DRIVERS: RefCell<BTreeMap<Framework, Driver>> = const { RefCell::new(BTreeMap::new()) };
    }
    DRIVERS.with_borrow_mut(|drivers| {
        let Driver { process, output } = drivers.entry(framework).or_insert_with(|| Driver::start(framework));
        let mut line = String::new();
        let mut input = process.stdin.as_ref().unwrap();
        let answered = writeln!(input, "{case}").and_then(|()| output.read_line(&mut line));
        if !answered.is_ok_and(|bytes| bytes > 0) {
            drivers.remove(&framework);
            panic!("the driver ended in this run");
        }
        line
    })
}
