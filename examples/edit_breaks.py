"""An in-place edit that breaks: exp keeps its own result, and the edit overwrites it before backward reads it."""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)

y = x.exp()
y.add_(1)
loss = y.sum()
