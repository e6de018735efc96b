//! Programs of any size.

/// A kind of program that can have any size.
pub(super) struct Shape {
    pub(super) name: &'static str,
    /// Its sizes, each twice the one before.
    pub(super) sizes: [usize; 4],
    /// The maximum of seconds for each of them.
    pub(super) most: f64,
    /// Whether it is ported to all targets side by side.
    pub(super) matrix: bool,
    /// Its files, by their names.
    pub(super) files: fn(usize) -> Vec<(String, String)>,
}

const LINES: [usize; 4] = [1_500, 3_000, 6_000, 12_000];
const FILES: [usize; 4] = [125, 250, 500, 1_000];
const CALLS: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
const DEEP: [usize; 4] = [50, 100, 200, 400];

// How deep code can be: CPython compiles little more. What is larger has more of it.
const CHAIN: usize = 8_000;
const SUM: usize = 2_000;
const ARMS: usize = 1_000;
const BLOCKS: usize = 80;
const BRACKETS: usize = 160;

pub(super) const SHAPES: [Shape; 23] = [
    Shape { name: "lines of functions", sizes: LINES, most: 1.0, matrix: false, files: functions },
    Shape { name: "lines of a flat script", sizes: LINES, most: 1.0, matrix: false, files: flat },
    Shape { name: "edited lines", sizes: LINES, most: 2.0, matrix: false, files: edited_lines },
    Shape { name: "moves in a function", sizes: LINES, most: 2.0, matrix: false, files: moves },
    Shape { name: "calls on a line", sizes: CALLS, most: 2.0, matrix: false, files: calls },
    Shape { name: "names of chains", sizes: [8_000, 16_000, 32_000, 64_000], most: 2.0, matrix: false, files: chain },
    Shape { name: "terms of sums", sizes: [2_000, 4_000, 8_000, 16_000], most: 2.0, matrix: false, files: sum },
    Shape { name: "assignments in a loop", sizes: CALLS, most: 2.0, matrix: false, files: assignments },
    Shape { name: "lines of a step", sizes: [250, 500, 1_000, 2_000], most: 2.0, matrix: false, files: step },
    Shape { name: "methods of a class", sizes: CALLS, most: 2.0, matrix: false, files: methods },
    Shape { name: "arms of chains of elif", sizes: CALLS, most: 2.0, matrix: false, files: arms },
    Shape { name: "functions of nested blocks", sizes: DEEP, most: 2.0, matrix: false, files: nested_blocks },
    Shape { name: "lines of nested calls", sizes: DEEP, most: 2.0, matrix: false, files: nested_calls },
    Shape {
        name: "entries of a table",
        sizes: [2_500, 5_000, 10_000, 20_000],
        most: 2.0,
        matrix: false,
        files: entries,
    },
    Shape { name: "files", sizes: FILES, most: 5.0, matrix: false, files: programs },
    Shape { name: "files, matrix", sizes: [15, 30, 60, 120], most: 5.0, matrix: true, files: programs },
    Shape { name: "files that import", sizes: FILES, most: 5.0, matrix: false, files: imports },
    Shape { name: "files with one reader", sizes: FILES, most: 5.0, matrix: false, files: imported_by_one },
    Shape { name: "files that share a function", sizes: FILES, most: 5.0, matrix: false, files: sharing },
    Shape {
        name: "imports of one another",
        sizes: [2_000, 4_000, 8_000, 16_000],
        most: 5.0,
        matrix: false,
        files: circle,
    },
    Shape { name: "small files", sizes: FILES, most: 5.0, matrix: false, files: small_programs },
    Shape { name: "small files, matrix", sizes: [50, 100, 200, 400], most: 5.0, matrix: true, files: small_programs },
    Shape { name: "files of one class", sizes: FILES, most: 5.0, matrix: false, files: derived },
];

const IMPORTS: &str =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n\n";

fn one(text: String) -> Vec<(String, String)> {
    vec![("main.py".to_owned(), text)]
}

/// A function that trains: 18 lines.
fn function(number: usize) -> String {
    format!(
        "
def train_{number}(model, loader, optimizer, epochs):
    model.cuda()
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for data, target in loader:
            data, target = data.cuda(), target.cuda()
            optimizer.zero_grad()
            output = model(data)
            loss = F.cross_entropy(output, target)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(loader))
    return model

"
    )
}

fn functions(lines: usize) -> Vec<(String, String)> {
    one(IMPORTS.to_owned() + &(0..lines / 18).map(function).collect::<String>())
}

fn flat(lines: usize) -> Vec<(String, String)> {
    let step = |n: usize| {
        format!(
            "model_{n} = nn.Linear(4, 2).cuda()
optimizer_{n} = torch.optim.SGD(model_{n}.parameters(), lr=0.1)
for data, target in loader_{n}:
    data, target = data.cuda(), target.cuda()
    optimizer_{n}.zero_grad()
    loss = F.cross_entropy(model_{n}(data), target)
    loss.backward()
    optimizer_{n}.step()
    print(loss.item())
"
        )
    };
    one(IMPORTS.to_owned() + &(0..lines / 9).map(step).collect::<String>())
}

fn edited_lines(lines: usize) -> Vec<(String, String)> {
    let line = |n: usize| format!("x{n} = torch.zeros({n}).cuda()\n");
    one("import torch\n".to_owned() + &(0..lines).map(line).collect::<String>())
}

/// A function that chooses a device and then moves one tensor after another.
fn moves(lines: usize) -> Vec<(String, String)> {
    let line = |n: usize| format!("    x{n} = net.layer{n}(data).cuda()\n");
    let head = "import torch\n\n\ndef run(net, data):\n    device = torch.device(\"cuda\" if torch.cuda.is_available() else \"cpu\")\n";
    one(head.to_owned() + &(0..lines).map(line).collect::<String>())
}

fn calls(calls: usize) -> Vec<(String, String)> {
    one(format!("import torch\nx = [{}]\n", "torch.zeros(1).cuda(), ".repeat(calls)))
}

fn chain(names: usize) -> Vec<(String, String)> {
    let line = format!("x = torch{}\n", ".a".repeat(CHAIN));
    one("import torch\n".to_owned() + &line.repeat(names / CHAIN))
}

fn sum(terms: usize) -> Vec<(String, String)> {
    let line = format!("x = torch.zeros(1).cuda(){}\n", " + torch.ones(1).cuda()".repeat(SUM - 1));
    one("import torch\n".to_owned() + &line.repeat(terms / SUM))
}

/// A name that a loop assigns again and again.
fn assignments(lines: usize) -> Vec<(String, String)> {
    let line = |n: usize| format!("    x = x + torch.full((1,), {n}.0).cuda()\n");
    let lines: String = (0..lines).map(line).collect();
    one(format!("import torch\nx = torch.zeros(1).cuda()\nfor epoch in range(10):\n{lines}print(x)\n"))
}

/// A training step whose loss is a sum of many parts.
fn step(lines: usize) -> Vec<(String, String)> {
    let line = |n: usize| format!("        loss = loss + {n} * F.mse_loss(output, target)\n");
    let lines: String = (0..lines).map(line).collect();
    one(format!(
        "{IMPORTS}
def train(model, loader, optimizer):
    for data, target in loader:
        data, target = data.cuda(), target.cuda()
        optimizer.zero_grad()
        output = model(data)
        loss = F.cross_entropy(output, target)
{lines}        loss.backward()
        optimizer.step()
"
    ))
}

/// A model with many layers, each with a method of its own.
fn methods(methods: usize) -> Vec<(String, String)> {
    let layer = |n: usize| format!("        self.layer_{n} = nn.Linear(8, 8).cuda()\n");
    let method = |n: usize| format!("\n    def block_{n}(self, x):\n        return F.relu(self.layer_{n}(x.cuda()))\n");
    let call = |n: usize| format!("        x = self.block_{n}(x)\n");
    let [layers, methods, calls]: [String; 3] =
        [(0..methods).map(layer).collect(), (0..methods).map(method).collect(), (0..methods).map(call).collect()];
    one(format!(
        "{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
{layers}{methods}
    def forward(self, x):
{calls}        return x
"
    ))
}

fn arms(arms: usize) -> Vec<(String, String)> {
    let arm = |n: usize| format!("elif args.model == \"net_{n}\":\n    model = nn.Linear({n}, 2).cuda()\n");
    let choice = |n: usize| {
        let arms: String = (n * ARMS..(n + 1) * ARMS).map(arm).collect();
        format!("if args.model == \"none\":\n    model = nn.Identity().cuda()\n{arms}model(x)\n")
    };
    one(IMPORTS.to_owned() + &(0..arms / ARMS).map(choice).collect::<String>())
}

/// Functions with blocks in blocks.
fn nested_blocks(functions: usize) -> Vec<(String, String)> {
    let function = |n: usize| {
        let indent = |level: usize| " ".repeat(level + 1);
        // Python limits loops in loops to 20.
        let level = |level: usize| match level % 5 {
            0 => format!("{}for i{level} in range(2):\n", indent(level)),
            _ => format!("{}if i{} > {level}:\n", indent(level), level / 5 * 5),
        };
        let levels: String = (0..BLOCKS).map(level).collect();
        format!("def nested_{n}(x):\n{levels}{}x = x.cuda()\n", indent(BLOCKS))
    };
    one(IMPORTS.to_owned() + &(0..functions).map(function).collect::<String>())
}

/// Calls with calls as arguments.
fn nested_calls(lines: usize) -> Vec<(String, String)> {
    let line = |n: usize| format!("x{n} = {}y.cuda(){}\n", "F.relu(".repeat(BRACKETS), ")".repeat(BRACKETS));
    one(IMPORTS.to_owned() + &(0..lines).map(line).collect::<String>())
}

fn entries(entries: usize) -> Vec<(String, String)> {
    let entry = |n: usize| format!("    \"name_{n}\": (\"cuda:{n}\", {n}, [{n}.5, \"text {n}\"]),\n");
    let entries: String = (0..entries).map(entry).collect();
    one(format!("import torch\nTABLE = {{\n{entries}}}\nx = torch.zeros(1).to(TABLE[\"name_0\"][0])\n"))
}

/// Programs, each with a class, a function that trains, and a main block.
fn programs(files: usize) -> Vec<(String, String)> {
    let program = |n: usize| {
        let text = format!(
            "{IMPORTS}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, {})

    def forward(self, x):
        return self.fc(x)

{}
def main():
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_{n}(model, loader, optimizer, 3)
    torch.save(model.state_dict(), \"net_{n}.pt\")


if __name__ == \"__main__\":
    main()
",
            n % 7 + 2,
            function(n)
        );
        (format!("main_{n}.py"), text)
    };
    (0..files).map(program).collect()
}

/// Modules, each of which imports the one before.
fn imports(files: usize) -> Vec<(String, String)> {
    let module = |n: usize| {
        let (import, calls) = match n.checked_sub(1) {
            None => (String::new(), String::new()),
            Some(other) => (
                format!("from module_{other} import train_{other}\n"),
                format!(
                    "
def chain_{n}(model, loader, optimizer):
    train_{other}(model, loader, optimizer, 2)
    train_{n}(model, loader, optimizer, 2)
"
                ),
            ),
        };
        (format!("module_{n}.py"), format!("{IMPORTS}{import}{}{calls}", function(n)))
    };
    (0..files).map(module).collect()
}

/// Scripts of ten lines.
fn small_programs(files: usize) -> Vec<(String, String)> {
    let script = |n: usize| {
        let text = format!(
            "import torch
import torch.nn as nn

model = nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.{n})
for step in range(3):
    x = torch.zeros(4, 2).cuda()
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"
        );
        (format!("script_{n}.py"), text)
    };
    (0..files).map(script).collect()
}

/// Modules, and a program that imports and calls all of them.
fn imported_by_one(files: usize) -> Vec<(String, String)> {
    let module = |n: usize| (format!("module_{n}.py"), IMPORTS.to_owned() + &function(n));
    let import = |n: usize| format!("from module_{n} import train_{n}\n");
    let call = |n: usize| format!("train_{n}(model, loader, optimizer, 2)\n");
    let [imports, calls]: [String; 2] = [(0..files).map(import).collect(), (0..files).map(call).collect()];
    let main = format!(
        "{IMPORTS}{imports}
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=4)
{calls}"
    );
    (0..files).map(module).chain([("main.py".to_owned(), main)]).collect()
}

/// Programs that call a function of a module that they share.
fn sharing(files: usize) -> Vec<(String, String)> {
    let program = |n: usize| {
        let text = format!(
            "{IMPORTS}from common import to_device, train_0

model = to_device(nn.Linear({n}, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=4)
train_0(model, loader, optimizer, 2)
print(to_device(torch.zeros({n})))
"
        );
        (format!("main_{n}.py"), text)
    };
    let common = format!("{IMPORTS}\ndef to_device(x):\n    return x.cuda()\n\n{}", function(0));
    (0..files).map(program).chain([("common.py".to_owned(), common)]).collect()
}

/// Modules, each of which imports all others: as many modules as make that many imports.
fn circle(imports: usize) -> Vec<(String, String)> {
    let files = imports.isqrt();
    let module = |n: usize| {
        let import = |other: usize| format!("from package import module_{other}\n");
        let call = |other: usize| format!("    x = module_{other}.step_{other}(x)\n");
        let others = || (0..files).filter(|other| *other != n);
        let [imports, calls]: [String; 2] = [others().map(import).collect(), others().map(call).collect()];
        let text = format!("import torch\n{imports}\ndef step_{n}(x):\n    x = x.cuda()\n{calls}    return x\n");
        (format!("package/module_{n}.py"), text)
    };
    (0..files).map(module).chain([("package/__init__.py".to_owned(), String::new())]).collect()
}

/// Programs with classes that are derived from one.
fn derived(files: usize) -> Vec<(String, String)> {
    let program = |n: usize| {
        let text = format!(
            "{IMPORTS}from common import Base

class Trainer_{n}(Base):
    def step(self, data, target):
        loss = F.cross_entropy(self.model(data.cuda()), target.cuda())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


if __name__ == \"__main__\":
    Trainer_{n}(nn.Linear({n}, 2)).fit(DataLoader(data, batch_size=4))
"
        );
        (format!("main_{n}.py"), text)
    };
    let common = format!(
        "{IMPORTS}
class Base:
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self, loader):
        for data, target in loader:
            self.step(data, target)
"
    );
    (0..files).map(program).chain([("common.py".to_owned(), common)]).collect()
}
