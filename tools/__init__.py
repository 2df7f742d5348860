"""Measuring, fault campaigns and simulations, run by hand: ``python -m tools.NAME``. No part of the wheel."""
