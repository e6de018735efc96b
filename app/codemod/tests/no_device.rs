//! What moves in a program that names no device.

mod ported;

use ported::to;

const PROGRAM: &str = "import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def score(self, x):
        return torch.sigmoid(self.fc(x))


def load():
    model = Net()
    model.load_state_dict(torch.load(\"net.pt\"))
    return model


def parse(text):
    return torch.zeros(1, 4), {\"length\": len(text)}


def analyse(text):
    model = load()
    x, facts = parse(text)
    with torch.no_grad():
        prob = model.score(x)
    return {\"prob\": prob.item(), \"facts\": facts}


def train(samples):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in samples:
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy(model.score(x), y)
        loss.backward()
        optimizer.step()
";

#[test]
fn a_model_whose_method_is_called_moves_with_its_input() {
    let (after, _) = to("hpu", PROGRAM);
    assert!(after.contains("    model = load()\n    model.to(\"hpu\")\n    x, facts = parse(text)\n"), "{after}");
    assert_eq!(after.matches("model.to(\"hpu\")").count(), 2, "{after}");
}

#[test]
fn what_is_only_returned_beside_a_result_does_not_move() {
    let (after, _) = to("hpu", PROGRAM);
    assert!(after.contains("    x = x.to(\"hpu\")\n    with torch.no_grad():"), "{after}");
    assert!(!after.contains("facts = facts.to"), "{after}");
}
