import torch
import torch.distributed as dist
from torch import nn

model = nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def join(again=False):
    dist.init_process_group("nccl", rank=0, world_size=2)
    if again:
        epoch(None)


def epoch(loader):
    rank = dist.get_rank()
    for features, targets in loader or []:
        step(features.cuda(), targets.cuda(), rank)
    torch.save(model.state_dict(), "model.pt")
    join()


def step(features, targets, rank):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(features), targets)
    loss.backward()
    optimizer.step()
    epoch(None)


join(again=True)
