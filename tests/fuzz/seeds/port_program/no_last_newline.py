import torch
model=e()
for x in r:
    loss=(model(x),)
    loss.backward()
    opt.step()