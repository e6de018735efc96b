import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(loader, epochs):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for image, label in loader:
            optimizer.zero_grad()
            with torch.cuda.amp.autocast():
                output = model(image.to(device))
                loss = nn.functional.cross_entropy(output, label.to(device))
            loss.backward()
            optimizer.step()
        torch.cuda.empty_cache()


if __name__ == "__main__":
    digits = TensorDataset(torch.rand(6400, 28, 28), torch.randint(10, (6400,)))
    train(DataLoader(digits, batch_size=64, shuffle=True), epochs=3)
