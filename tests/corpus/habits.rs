//! Patterns from real programs, each reduced to something that once failed.

use crate::sound::{assert_sound, to_hpu};
use codemod::Ported;
use python::SourceFile;

fn port_habit(text: &str) -> Ported {
    assert_sound(&[SourceFile { path: "habit.py".into(), text: text.into() }], &to_hpu(None))
}

#[test]
fn names_that_stand_for_one_another() {
    port_habit(
        "class Trainer:
    def __init__(self, config, model):
        self.model = model
        model, config = self.model, self.config
        self.model = model.cuda()
",
    );
    port_habit(
        "import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        self.tok = nn.Embedding(vocab, width)


def get_batch(split):
    x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    x, y = x.to(device), y.to(device)
    return x, y
",
    );
}

#[test]
fn a_block_that_loses_all_it_had() {
    port_habit(
        "import torch

if torch.cuda.is_available():
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.benchmark = True

device = torch.device('cuda')


def clean(used):
    # give it back
    torch.cuda.empty_cache()  # all of it


for epoch in range(3):
    try:
        torch.cuda.empty_cache()
    finally:
        print(epoch)
",
    );
}

#[test]
fn quotes_inside_an_f_string() {
    port_habit(
        "import torch

print(f\"peak {torch.cuda.max_memory_allocated() / 2**20:.0f} MiB\")
print(f'on {\"gpu\" if torch.cuda.is_available() else \"cpu\"}', torch.zeros(1, device=f'cuda:{0}'))
",
    );
}

#[test]
fn a_number_has_no_item() {
    let ported = port_habit(
        "import torch

criterion = torch.nn.MSELoss()


def step(batch):
    loss = criterion(model(batch), batch)
    loss_value = loss.item()
    print(\"loss is {}\".format(loss_value))


test_loss = evaluate(data)
print(\"test loss %.3f\" % test_loss)
print(\"end of training {:5.2f}\".format(test_loss))
",
    );
    assert!(!ported.files[0].changed, "{}", ported.files[0].text);
}

/// Forces are gradients of the energy, in validation too.
#[test]
fn validation_that_needs_gradients() {
    let ported = port_habit(
        "import torch


class Potential(torch.nn.Module):
    def forward(self, positions):
        energy = self.energy(positions.requires_grad_(True))
        forces = -torch.autograd.grad(energy.sum(), positions, create_graph=self.training)[0]
        return energy, forces


def evaluate(model, loader, criterion):
    model.eval()
    total = 0.0
    for positions, truth in loader:
        energy, forces = model(positions)
        loss = criterion(forces, truth)
        total += loss.item()
    return total
",
    );
    assert!(!ported.files[0].text.contains("no_grad"), "{}", ported.files[0].text);
    let ported = port_habit(
        "import torch


def evaluate(model, loader, criterion):
    model.eval()
    for batch in loader:
        output = model(batch.to_dict(), training=False, compute_force=True)
        loss = criterion(output, batch)
    return loss
",
    );
    assert!(!ported.files[0].text.contains("no_grad"), "{}", ported.files[0].text);
}
