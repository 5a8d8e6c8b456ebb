"""Two losses on one graph: backward frees what nodes saved, unless retain_graph=True, and the other loss needs it."""

import torch

x = torch.tensor(2.0, requires_grad=True)

shared = x.exp()
first = shared * 3
second = shared * shared

second.backward()  # with retain_graph=True, first.backward() would work
loss = [first, second]
