"""What a learner of autograd must see, with its numbers."""

import pytest
import torch


def test_product_rule():
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    out = a * b
    out.backward()
    assert type(out.grad_fn).__name__ == "MulBackward0"
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)  # local derivatives: the other factor


def test_squared_error_by_the_chain_rule():
    w, b = torch.tensor(2.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    x, y = torch.tensor(3.0), torch.tensor(5.0)
    loss = (w * x + b - y) ** 2
    loss.backward()
    assert loss.item() == 4.0
    assert (w.grad.item(), b.grad.item()) == (12.0, 4.0)  # 2 (wx + b - y) x and 2 (wx + b - y)


def test_first_and_second_derivative_of_a_cube():
    x = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(x**3, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (27.0, 18.0)


def test_output_that_is_no_number_needs_a_cotangent():
    x = torch.tensor(2.0, requires_grad=True, dtype=torch.float64)
    y = torch.stack([x**2, x**3])
    with pytest.raises(RuntimeError, match="scalar outputs"):
        y.backward()
    y.backward(torch.tensor([1.0, 0.1], dtype=torch.float64))
    assert x.grad.item() == pytest.approx(5.2)  # 1 * 4 + 0.1 * 12


def test_second_pass_needs_retain_graph():
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0  # 4 + 4: leaves accumulate
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_leaf_cannot_be_edited_in_place():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
