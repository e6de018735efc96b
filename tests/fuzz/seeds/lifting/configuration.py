import torch
from dataclasses import dataclass
from enum import Enum


class Compute(Enum):
    CPU = "cpu"
    GPU = "gpu"


@dataclass
class Run:
    distributed: bool = False
    compute_mode: Compute = Compute.GPU
    iterations: int = 3


def step(run, model, batch, optimizer):
    """One step."""
    if run.compute_mode == Compute.GPU:
        batch = {key: batch[key].cuda() for key in ("image", "label")}
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])
    loss.backward()
    optimizer.step()
    return loss


def main():
    run = Run(False, Compute[MODE], 2)
    model = torch.load("model.pt", map_location="cuda" if run.compute_mode == Compute.GPU else "cpu")
    try:
        if run.compute_mode == Compute.GPU:
            torch.backends.cudnn.benchmark = True
            model = model.cuda()
        elif run.compute_mode == Compute.CPU:
            torch.set_num_threads(2)
    except RuntimeError as error:
        print(error)
    optimizer = torch.optim.AdamW(model.parameters())
    for n in range(run.iterations):
        loss = step(run, model, {"image": torch.ones(1), "label": torch.zeros(1)}, optimizer)
        print(n, loss)


if __name__ == "__main__":
    main()
