//! Programs of any size.

/// A kind of program that can have any size.
pub(super) struct Shape {
    pub(super) name: &'static str,
    /// Its sizes, each twice the one before.
    pub(super) sizes: [usize; 4],
    /// Whether it is ported to all targets side by side.
    pub(super) matrix: bool,
    /// Its files, by their names.
    pub(super) files: fn(usize) -> Vec<(String, String)>,
}

const LINES: [usize; 4] = [1_500, 3_000, 6_000, 12_000];
const FILES: [usize; 4] = [125, 250, 500, 1_000];

pub(super) const SHAPES: [Shape; 9] = [
    Shape { name: "lines of functions", sizes: LINES, matrix: false, files: functions },
    Shape { name: "lines of a flat script", sizes: LINES, matrix: false, files: flat },
    Shape { name: "edited lines", sizes: LINES, matrix: false, files: edited_lines },
    Shape { name: "calls on a line", sizes: [1_000, 2_000, 4_000, 8_000], matrix: false, files: calls },
    Shape { name: "names of a chain", sizes: [2_000, 4_000, 8_000, 16_000], matrix: false, files: chain },
    Shape { name: "files", sizes: FILES, matrix: false, files: programs },
    Shape { name: "files that import", sizes: [60, 125, 250, 500], matrix: false, files: imports },
    Shape { name: "small files", sizes: FILES, matrix: false, files: small_programs },
    Shape { name: "small files, matrix", sizes: [25, 50, 100, 200], matrix: true, files: small_programs },
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

fn calls(calls: usize) -> Vec<(String, String)> {
    one(format!("import torch\nx = [{}]\n", "torch.zeros(1).cuda(), ".repeat(calls)))
}

fn chain(names: usize) -> Vec<(String, String)> {
    one(format!("import torch\nx = torch{}\n", ".a".repeat(names)))
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
