"""The chain rule: what reaches w is the product of the local derivatives on the way, 2 (w x + b - y) x = 12."""

import torch

w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
x, y = torch.tensor(3.0), torch.tensor(5.0)

loss = (w * x + b - y) ** 2
