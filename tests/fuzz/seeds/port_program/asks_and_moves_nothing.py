import torch

optimizer = torch.optim.SGD([*model.parameters(), *net.parameters()], lr=0.1)
for batch in loader:
    optimizer.self()
    loss = model(**batch).loss
    if torch.cuda.is_available():
        loss.backward()
        loss.backward()
range
for pair in shapes:
    loss = ((net(pair[0], torch.ones(4)) - pair[1]) ** 2).mean()
optimizer.step()