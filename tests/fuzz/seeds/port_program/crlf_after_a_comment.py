try:
    import torch

    class Net(torch.nn.Module):
        def forward(self, x):
            return x

except ImportError:
    torch = None
    Net = None  # type: ignore


X = 1  # of one


def train(model, loader):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # the rate of the paper
    for x, y in loader:  # batches
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())  # mean
        loss.backward()
        optimizer.step()  # update
        # the end of a turn
    # the end of an epoch
