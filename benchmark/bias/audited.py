"""Audited bias: both groups as an audit recorded them, a real bias in place of a planted one."""

from benchmark.bias.base import BiasKind, Chances, Rows, register


@register
class AuditedBias(BiasKind):
    """Train on both groups of an audit in which chance decided who belongs to which.

    In an audit the groups differ only in how people treated them, and true labels are unknown. The clean
    model learns from the favored group's rows alone. At β = 1 a model learns from the recorded rows of both
    groups; there is no level between. The kind changes no row: an experiment chooses the training rows, for
    datasets with ``audit = true``.
    """

    name = "audited"
    summary = "a real bias: at β = 1 both groups are trained on as an audit recorded them"
    reference = (
        "Bertrand and Mullainathan (2004), Are Emily and Greg more employable than Lakisha and Jamal?, AER: "
        "names drawn at random"
    )
    version = "1"
    of_audit = True

    def chances(self, rows: Rows, beta: float) -> Chances:
        """Return none: labels and rows stay as they were recorded."""
        return Chances()
