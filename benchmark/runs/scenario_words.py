"""What the figures of a scenario say in words."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.runs.descriptions import RunDescription
from benchmark.runs.frames import Scenario


def scenario_subtitle(scenario: Scenario, description: RunDescription, explanation: str) -> str:
    """Say what was measured on what, how often, and what a figure shows of it."""
    provenance = scenario.dataset.provenance
    return (
        f"{provenance[0].upper()}{provenance[1:]}; {description.repetitions_text}; "
        f"classifier {scenario.classifier}. {explanation}"
    ).strip()


def scenario_notes(scenario: Scenario) -> list[str]:
    """Say what bias is planted, and what readers must know of the dataset."""
    dataset = scenario.dataset
    return [dataset.bias_description, *([f"Warning: {dataset.warning}"] if dataset.warning else [])]


def listed(betas: Sequence[float]) -> str:
    """Return levels of bias as they stand in a sentence."""
    return ", ".join(f"{beta:g}" for beta in betas)
