import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        return x


net = torch.compile(  # why
    Net()
    .cuda(),  # where
    mode="max-autotune",
)
twin = torch.compile(Net()  # why
                     ).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x.cuda()), y.cuda())
    loss.backward()
    opt.step()
