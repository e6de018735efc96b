import torch


def pick(compute):
    if compute == "gpu":
        device = torch.device("cuda:0")
    else:
        device = torch.device("cpu")
    return device


def main(compute):
    device = pick(compute)
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.ones(8, 4), batch_size=4, pin_memory=compute == "gpu")
    for epoch in range(2):
        for x, y in loader:
            if compute == "gpu":
                x = x.cuda()
                y = y.cuda()
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
        print(epoch, loss)
        if compute == "gpu":
            print(torch.cuda.max_memory_allocated())


main(MODE.lower())
