"""constraints-minimum.txt and constraints.txt agree with pyproject.toml."""

from __future__ import annotations

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.minimum import FILE, ROOT, oldest, text


def test_the_oldest_versions_are_those_of_pyproject() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "run python -m tools.minimum"
    assert {"numpy", "pytest", "mkdocs", "torch", "distributed"} <= oldest().keys()


def test_no_tested_version_is_below_its_bound() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    bounds = {canonicalize_name(name): Version(bound) for name, bound in oldest().items()}
    compared = 0
    for requirement in pinned:
        (version,) = (s.version for s in requirement.specifier)
        bound = bounds.get(canonicalize_name(requirement.name))
        if bound is not None:
            assert Version(version) >= bound, requirement.name
            compared += 1
    assert compared >= len(bounds) - 1, "all but torch, which constraints.txt leaves to its extra"
