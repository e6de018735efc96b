#!/usr/bin/env python
# coding: utf-8

# # Train

# In[1]:


import torch
get_ipython().run_line_magic('matplotlib', 'inline')
get_ipython().system('nvidia-smi')


# In[2]:


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


# In[3]:


get_ipython().run_cell_magic('time', '', 'for x, y in loader:\n    x, y = x.cuda(), y.cuda()\n    loss = criterion(model(x), y)\n    loss.backward()\n    optimizer.step()\n')


# In[ ]:


for x, y in loader:
    optimizer.zero_grad()
    x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
    with torch.cuda.amp.autocast():
        loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
