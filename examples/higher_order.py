"""Higher order: with create_graph=True the first derivative of x**3 has a graph too, and loss is the second, 6 x."""

import torch

x = torch.tensor(3.0, requires_grad=True)

(first,) = torch.autograd.grad(x**3, x, create_graph=True)  # 3 x**2 = 27
(loss,) = torch.autograd.grad(first, x, create_graph=True)  # 6 x = 18
