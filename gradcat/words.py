"""Words that mean one thing each, in records, on cards and in the JSON export."""

from __future__ import annotations

#: Why an input has no formula. Never merged: each word is a different fact, and each is checked.
ABSENT = {
    "zero": "the derivative is 0",
    "non_differentiable": "it cannot move (an index, a mask, a flag)",
    "not_implemented": "torch raises",
    "todo": "nobody has written it",
}

#: The reason that a node carries until its rule is verified.
NOT_RUN = "not run yet"

#: The reason that a node carries until the heavy probes were run.
NOT_YET = "not probed yet: a probe that loads far more than torch may make it, and those run when they are asked for"

#: What `list --status` takes, and what each means.
STATUS = {
    "harvested": "a probe made the node here",
    "reflected": "known from torch's own tables only",
    "verified": "its formulas agree with the op and with finite differences",
    "raises": "torch raises where it says it does",
    "structural": "harvested without values; the formulas are read, not run",
    "unverified": "has formulas that were not run",
    "failed": "a formula disagrees with the op",
    "todo": "an input whose formula nobody has written",
}

#: Names of numbers, and the letter that each prints as: in formulas (`formula.typeset.walk`) and on cards.
GREEK = {
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "eps": "ε",
    "epsilon": "ε",
    "zeta": "ζ",
    "eta": "η",
    "theta": "θ",
    "kappa": "κ",
    "lambd": "λ",
    "lambda_": "λ",
    "mu": "μ",
    "nu": "ν",
    "xi": "ξ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "chi": "χ",
    "psi": "ψ",
    "omega": "ω",
}
