"""An output that is no number needs a cotangent: v weighs its elements, and what arrives at x is v pulled back."""

import torch

x = torch.tensor(2.0, requires_grad=True)
v = torch.tensor([1.0, 0.1])

loss = torch.stack([x**2, x**3])  # v · (2 x, 3 x**2) = 4 + 1.2
