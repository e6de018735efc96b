import enum

import torch
import torch.nn as nn


class Compute(enum.Enum):
    CPU = 0
    GPU = 1


class Net(nn.Module):
    def forward(self, x):
        return x


class Trainer:
    def __init__(self, mode):
        self.mode = mode
        self.model = Net()
        if self.mode == Compute.GPU:
            self.model = self.model.cuda()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.001)

    def device(self):
        if self.mode == Compute.GPU:
            return torch.device("cuda")
        elif self.mode == Compute.CPU:
            return torch.device("cpu")
        return None

    def move(self, batch):
        if self.mode == Compute.GPU:
            batch = batch.cuda(non_blocking=True)
        return batch

    def train(self, loader):
        device = self.device()
        self.model.train()
        for x, y in loader:
            x, y = self.move(x), y.to(device)
            self.optimizer.zero_grad()
            with torch.autocast("cuda", enabled=self.mode == Compute.GPU):
                loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if self.mode == Compute.GPU: torch.cuda.synchronize()
            print("loss", loss.item())


trainer = Trainer(Compute[MODE])
trainer.train(torch.utils.data.DataLoader([1, 2], batch_size=2))
torch.save(trainer.model, "model.pt")
